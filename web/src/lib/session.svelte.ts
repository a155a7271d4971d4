import { ask, request, unless, whenUnknown } from "./api";
import { Problem } from "./problem";
import type { Reader } from "./types";

// The session itself is in a cookie that no script can read. This remark says only that there was one, so that a
// stranger's first page asks nothing that will be refused.
const REMARK = "wayseal-signed-in";

let who = $state.raw<Reader | null>();
let problem = $state.raw<Problem>();

/** Whose pages these are; undefined: not asked yet; null: nobody's. */
export const signedIn = (): Reader | null | undefined => who;
export const sessionProblem = (): Problem | undefined => problem;

whenUnknown(forget);

function forget(): void {
  localStorage.removeItem(REMARK);
  who = null;
}

export async function findSession(): Promise<void> {
  problem = undefined;
  if (!localStorage.getItem(REMARK)) return forget();
  try {
    who = await unless(ask<Reader>("/v1/session"), 401);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    problem = error;
  }
}

export async function signInByToken(token: string): Promise<void> {
  await begin({ headers: { Authorization: `Bearer ${token}` } });
}

export async function signInByPassword(name: string, password: string): Promise<void> {
  await begin({ headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name, password }) });
}

async function begin(init: RequestInit): Promise<void> {
  who = await ask<Reader>("/v1/session", { method: "POST", ...init });
  localStorage.setItem(REMARK, "yes");
}

export async function signOut(): Promise<void> {
  await request("/v1/session", { method: "DELETE" });
  forget();
}
