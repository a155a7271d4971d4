import { problemOf, Problem, unreachable } from "./problem";
import type { Page } from "./types";

export const PAGE_MAX = 1000;

let onUnknownCaller: () => void = () => undefined;

/** Say what is to happen when the gateway does not know the caller any more. */
export function whenUnknown(act: () => void): void {
  onUnknownCaller = act;
}

/** Ask the gateway, as the session's cookie says; throw a Problem unless the answer is a success. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable(error);
  }
  if (response.ok) return response;
  if (response.status === 401) onUnknownCaller();
  throw await problemOf(response);
}

export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await request(path, init);
  return (await response.json()) as T;
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  return ask<T>(path, { method: "POST", ...init });
}

/** A list up to a limit; `more` says that the gateway has further items. */
export interface Some<T> {
  items: T[];
  more: boolean;
}

/** Ask for a list in pages of so many items, until it ends, `most` items are there, or the last one is `enough`. */
export async function list<T>(path: string, most: number, signal?: AbortSignal, enough: (item: T) => boolean = () => false, each = PAGE_MAX): Promise<Some<T>> {
  const items: T[] = [];
  let cursor: string | null = "0";
  while (cursor !== null && items.length < most) {
    const join: string = path.includes("?") ? "&" : "?";
    const limit = Math.min(each, most - items.length);
    const init = signal ? { signal } : {};
    const page: Page<T> = await ask(`${path}${join}limit=${limit}&cursor=${part(cursor)}`, init);
    items.push(...page.items);
    cursor = page.next_cursor;
    const last = items.at(-1);
    if (last !== undefined && enough(last)) return { items, more: false };
  }
  return { items, more: cursor !== null };
}

/** Return null where the gateway knows nothing or the caller may not ask; throw all else. */
export async function unless<T>(asked: Promise<T>, ...statuses: number[]): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && statuses.includes(error.status)) return null;
    throw error;
  }
}

export const part = encodeURIComponent;
