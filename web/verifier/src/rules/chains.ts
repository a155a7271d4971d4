// A device's chain of readings on a trip, and how long it was silent.

import { payload as p, type state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, create, type Notes } from "./case.ts";
import { mark } from "./marks.ts";
import type { Clock } from "./times.ts";
import { atMost } from "./times.ts";
import { QUANTITIES } from "./trips.ts";

export const MOST_TOLD = 64;

export function chainOf(c: Case, trip: s.Trip, device: string): s.Chain {
  const found = c.store.read<s.Chain>("Chain", at.chain((trip.start as p.StartTrip).trip_id, device));
  return found ?? create<s.Chain>("state.Chain", { device_id: device });
}

const SILENCE_S = 900;
/** The longest time between two measurements that a limit allows. */
export const longestOf = (limit: p.Limit): number => limit.longest_silence_s || SILENCE_S;

/** The longest silence that is allowed of each limited quantity: the smallest of the deliveries. */
export function allowedOf(trip: s.Trip): Map<number, number> {
  const found = new Map<number, number>();
  for (const each of trip.deliveries.flatMap((one) => one.limits)) {
    found.set(each.quantity, Math.min(longestOf(each), found.get(each.quantity) ?? longestOf(each)));
  }
  return found;
}

export function measuredOf(reading: p.RunReading, quantity: number): number | undefined {
  switch (quantity) {
    case p.Limit_Quantity.TEMPERATURE_MCEL:
      return reading.temperature_mcel;
    case p.Limit_Quantity.HUMIDITY_MPCT:
      return reading.humidity_mpct;
    default:
      return reading.pressure_pa;
  }
}

const isStarting = (trip: s.Trip, device: string): boolean => trip.start?.device_id === device;

function last(chain: s.Chain): Clock {
  return { utc_ms: chain.last_utc_ms, monotonic_ms: chain.last_monotonic_ms, boot_id: chain.last_boot_id };
}

/** A chain's last moment: its last reading, or the trip's start for the device that started it. */
export function moment(trip: s.Trip, chain: s.Chain): Clock | undefined {
  if (chain.count) return last(chain);
  const start = trip.start as p.StartTrip;
  if (!isStarting(trip, chain.device_id)) return undefined;
  return start.clock ?? { utc_ms: start.started_at_ms, monotonic_ms: 0n, boot_id: new Uint8Array(0) };
}

export interface Told {
  c: Case;
  trip: s.Trip;
  chain: s.Chain;
  notes: Notes;
  /** Number and clock of the reading, or of the seal. */
  sequence: bigint;
  clock: Clock;
  revoked: boolean;
}

/** Counts on the silence of each limited quantity by one reading. */
export function countSilence(t: Told, reading: p.RunReading, elapsed: bigint): void {
  const allowed = allowedOf(t.trip);
  if (isStarting(t.trip, t.chain.device_id) && !t.chain.count) for (const quantity of allowed.keys()) holdTo(t.chain, quantity);
  for (const each of t.chain.silences) each.silent_ms += elapsed;
  for (const quantity of allowed.keys()) {
    if (measuredOf(reading, quantity) === undefined) continue;
    const silence = holdTo(t.chain, quantity);
    endSilence(t, silence);
    if (!silence.measured) silence.first_ms = t.clock.utc_ms;
    silence.measured = true;
    silence.silent_ms = 0n;
    silence.last_ms = t.clock.utc_ms;
    silence.last_sequence = t.sequence;
  }
  for (const each of t.chain.silences) each.silent_ms = atMost(each.silent_ms);
}

/** Holds a device to a quantity. */
function holdTo(chain: s.Chain, quantity: number): s.Silence {
  let found = chain.silences.find((each) => each.quantity === quantity);
  if (!found) {
    found = create<s.Silence>("state.Silence", { quantity });
    chain.silences.push(found);
  }
  return found;
}

/** The seal ends the silences of the quantities to which a device is held. */
export function sealSilences(t: Told, elapsed: bigint): void {
  const held = t.chain.silences.length;
  for (const quantity of allowedOf(t.trip).keys()) {
    const from = isStarting(t.trip, t.chain.device_id) && !t.chain.count;
    const silence = from ? holdTo(t.chain, quantity) : t.chain.silences.find((each) => each.quantity === quantity);
    if (!silence) continue;
    silence.silent_ms = atMost(silence.silent_ms + elapsed);
    if (silence.measured) endSilence(t, silence);
    else if (silence.silent_ms > silence.longest_ms) silence.longest_ms = silence.silent_ms;
  }
  sortSilences(t.trip, t.chain, held);
}

/** What a transaction adds stands behind what was there, in the order of the trip's limits. */
export function sortSilences(trip: s.Trip, chain: s.Chain, kept: number): void {
  const order = [...allowedOf(trip).keys()];
  const added = chain.silences.splice(kept).sort((a, b) => order.indexOf(a.quantity) - order.indexOf(b.quantity));
  chain.silences.push(...added);
}

/** A measurement or the seal ends a silence. */
export function endSilence(t: Told, silence: s.Silence): void {
  if (silence.silent_ms > silence.longest_ms) silence.longest_ms = atMost(silence.silent_ms);
  const allowed = BigInt(allowedOf(t.trip).get(silence.quantity) ?? 0);
  if (silence.silent_ms <= allowed * 1000n) return;
  silence.gaps += 1;
  const name = QUANTITIES[silence.quantity];
  if (silence.gaps <= MOST_TOLD) {
    const since = silence.measured ? `reading ${silence.last_sequence}` : "the trip's start";
    t.notes.add("recording-gap", `${name} was not measured for ${silence.silent_ms} ms after ${since}, ${allowed} s are allowed`,
      { sequence: t.sequence });
  } else if (silence.gaps === MOST_TOLD + 1) {
    t.notes.add("recording-gap", `${MOST_TOLD} gaps of ${name} are told; from here on they are counted only`, { sequence: t.sequence });
  }
  markSilence(t, silence.quantity, silence.silent_ms);
}

/** Counts a silence on each delivery that allows less. */
export function markSilence(t: Told, quantity: number, silentMs: bigint): void {
  t.trip.deliveries.forEach((each, place) => {
    const limit = each.limits.find((one) => one.quantity === quantity);
    if (limit && silentMs > BigInt(longestOf(limit)) * 1000n) mark(t, place, (d) => { d.silences += 1; });
  });
}
