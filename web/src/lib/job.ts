import { ask, part, request } from "./api";
import { NO_ANSWER, Problem } from "./problem";
import type { Job } from "./types";

// Most answers come within these seconds, and then there is no job to watch.
const WAIT_S = 2;
const LOOK_EVERY_MS = 1000;
const TOO_MANY = 429;

/**
 * Ask for long work, tell how far it is while it lasts, and return its result.
 *
 * It is cancelled when the signal aborts or the page goes, and forgotten once its result is here. While as many jobs as
 * may be are under way, it is asked for again.
 */
export async function work<T>(path: string, tell: (job: Job) => void, signal: AbortSignal): Promise<T> {
  const answer = await begun(path, { method: "POST", headers: { Prefer: `respond-async, wait=${WAIT_S}` } }, signal);
  if (answer.status !== 202) return (await answer.json()) as T;
  return followed((await answer.json()) as Job, tell, signal, false, (_, result) => ask<T>(result, { signal }));
}

/** Let the gateway make a file, likewise; return the job, whose result is kept for a day. */
export async function made(method: "GET" | "POST", path: string, tell: (job: Job) => void, signal: AbortSignal): Promise<Job & { result: string }> {
  const answer = await begun(path, { method, headers: { Prefer: "respond-async" } }, signal);
  return followed((await answer.json()) as Job, tell, signal, true, async (job, result) => ({ ...job, result }));
}

async function followed<T>(begun: Job, tell: (job: Job) => void, signal: AbortSignal, keep: boolean, take: (job: Job, result: string) => Promise<T>): Promise<T> {
  let job = begun;
  const place = `/v1/jobs/${part(job.job_id)}`;
  const forget = () => void request(place, { method: "DELETE", keepalive: true }).catch(() => undefined);
  let isTaken = false;
  addEventListener("pagehide", forget);
  try {
    signal.throwIfAborted();
    while (job.state === "waiting" || job.state === "running") {
      tell(job);
      await pause(LOOK_EVERY_MS, signal);
      job = await ask<Job>(place, { signal });
    }
    if (job.result === null) throw new Problem(NO_ANSWER, "No result", job.error ?? `the job was ${job.state}`);
    const found = await take(job, job.result);
    isTaken = true;
    return found;
  } finally {
    removeEventListener("pagehide", forget);
    if (!(keep && isTaken)) forget();
  }
}

// Without the signal: a request that is cut short would leave a job whose name nobody has.
async function begun(path: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  for (;;) {
    try {
      return await request(path, init);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== TOO_MANY) throw error;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

/** Say in one line what a job does now. */
export function doing(job: Job): string {
  const told = job.progress;
  if (!told) return "waits its turn";
  const of = told.steps > 1 ? ` (${told.step} of ${told.steps})` : "";
  const doing = told.doing || "begins";
  return told.subject ? `${told.subject}${of}: ${doing}` : doing;
}

/** Return which part of a job is done, 0 to 1: of all steps, and within the one under way. */
export function share(job: Job): number {
  const told = job.progress;
  if (!told) return 0;
  const within = told.total ? told.done / told.total : 0;
  return (told.step - 1 + within) / told.steps;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    }, { once: true });
  });
}
