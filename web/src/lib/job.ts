import { ask, part, request } from "./api";
import { Problem } from "./problem";
import type { Job } from "./types";

// Most answers come within these seconds, and then there is no job to watch.
const WAIT_S = 2;
const LOOK_EVERY_MS = 1000;

/**
 * Ask for long work, tell how far it is while it lasts, and return its result.
 *
 * It is cancelled when the signal aborts, and forgotten once its result is here.
 */
export async function work<T>(path: string, tell: (job: Job) => void, signal: AbortSignal): Promise<T> {
  const headers = { Prefer: `respond-async, wait=${WAIT_S}` };
  const answer = await request(path, { method: "POST", headers, signal });
  if (answer.status !== 202) return (await answer.json()) as T;
  let job = (await answer.json()) as Job;
  const place = `/v1/jobs/${part(job.job_id)}`;
  try {
    while (job.state === "waiting" || job.state === "running") {
      tell(job);
      await pause(LOOK_EVERY_MS, signal);
      job = await ask<Job>(place, { signal });
    }
    if (job.result === null) throw new Problem(0, "No result", job.error ?? `the job was ${job.state}`);
    return await ask<T>(job.result, { signal });
  } finally {
    void request(place, { method: "DELETE", keepalive: true }).catch(() => undefined);
  }
}

/** Say in one line what a job does now. */
export function doing(job: Job): string {
  const told = job.progress;
  if (!told) return "waits for other jobs";
  const of = told.steps > 1 ? ` (${told.step} of ${told.steps})` : "";
  return `${told.subject}${of}: ${told.doing || "begins"}`;
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
