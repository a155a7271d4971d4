// Time by clocks and by blocks (docs/contract.md, "Silence" and "Times of blocks").

import type { payload as p, state as s } from "../messages.ts";
import { same } from "../wire.ts";

export type Clock = Pick<p.Clock, "utc_ms" | "monotonic_ms" | "boot_id">;
const TOLERATED_MS = 300_000n;

/** The time from one moment of a device to a later one, in milliseconds. */
export function passed(from: Clock, to: Clock, version: number): bigint {
  if (!same(from.boot_id, to.boot_id)) return atLeast(to.utc_ms - from.utc_ms, version && from.boot_id.length ? atMost(to.monotonic_ms) : 0n);
  const counted = to.monotonic_ms - from.monotonic_ms;
  return counted >= 0n ? counted : atLeast(to.utc_ms - from.utc_ms, 0n);
}

export const LAST_MS = 253_402_300_799_999n; // the end of the year 9999
export const atMost = (ms: bigint): bigint => (ms > LAST_MS ? LAST_MS : ms);
export const atLeast = (value: bigint, least: bigint): bigint => (value < least ? least : value);
export const size = (value: bigint): bigint => (value < 0n ? -value : value);

/** Why a time cannot be, by the blocks around it; empty if it can. */
export function implausible(utcMs: bigint, blockS: bigint, trip: s.Trip): string {
  const block = blockS * 1000n;
  if (blockS && utcMs > block + TOLERATED_MS) return `UTC is ${utcMs - block} ms after the time of the latest block`;
  const agreed = trip.deliveries.reduce((last, each) => (each.agreed_at_s > last ? each.agreed_at_s : last), 0n) * 1000n;
  if (agreed && utcMs + TOLERATED_MS < agreed) return `UTC is ${agreed - utcMs} ms before both sides had signed the delivery`;
  return "";
}
