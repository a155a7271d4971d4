import { ask, request, unless, whenUnknown } from "./api";
import { Problem } from "./problem";
import type { Reader, Ways } from "./types";

// The session itself is in a cookie that no script can read. This remark says only that there was one, so that a
// stranger's first page asks nothing that will be refused; or that one may come of a visit to the issuer.
const REMARK = "wayseal-signed-in";
const AT_ISSUER = "at-issuer";

// gateway/people/oidc/refusals.py has the same reasons; tests/unit/test_pages_served.py compares the two.
const REFUSALS = new Map(Object.entries({
  "issuer-away": "The issuer does not answer as it should. Try again later, or sign in with a password or a token.",
  "issuer-declined": "The issuer did not let you in, or you came back without signing in there.",
  "begin-again": "That sign-in was begun in another browser or under another address of this gateway, or it took more than ten minutes. Begin again.",
  "issuer-false": "What the issuer said of you does not hold. Tell the operator: the gateway's log says what is wrong.",
  "unknown-person": "The issuer knows you, but nobody has let you in here. Ask the operator of this gateway for access; your try is on record.",
  "gateway-settings": "The gateway's own settings for the issuer are not in order. Tell the operator: the gateway's log says what is wrong.",
  "gateway-trouble": "The gateway cannot write down who signs in, so it lets nobody in. Tell the operator: the gateway's log says what is wrong.",
  "too-many": "There were too many tries at once. Wait a moment, then try again.",
}));

let refused = REFUSALS.get(new URLSearchParams(location.search).get("refused") ?? "") ?? "";
if (refused) {
  // An earlier session may go on: any link can lead here.
  if (localStorage.getItem(REMARK) === AT_ISSUER) localStorage.removeItem(REMARK);
  history.replaceState(null, "", location.pathname); // said once, not again when the page is loaded again
}

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
    if (who) localStorage.setItem(REMARK, "yes");
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
  refused = "";
  localStorage.setItem(REMARK, "yes");
}

/** What people call the issuer whose word lets them in; null: this gateway has no issuer. */
export async function issuerHere(): Promise<string | null> {
  return (await ask<Ways>("/v1/session/ways")).issuer;
}

/** Go to the issuer; it sends the browser back to the page that was asked for. */
export function signInAtIssuer(): void {
  localStorage.setItem(REMARK, AT_ISSUER);
  const to = location.pathname + location.search;
  location.assign(`/v1/session/issuer?to=${encodeURIComponent(to)}`);
}

/** Why the issuer's word did not let the person in who has just come back; empty: nobody has. */
export const refusal = (): string => refused;

export async function signOut(): Promise<void> {
  await request("/v1/session", { method: "DELETE" });
  forget();
}
