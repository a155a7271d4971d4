// What is judged when the last device of a trip has sealed, and handovers around it ("Silence").

import type { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { carriersOf, type Case, type Notes } from "./case.ts";
import { allowedOf, type Told } from "./chains.ts";
import { mark } from "./marks.ts";
import { neverMeasured, QUANTITIES } from "./trips.ts";

/** Keeps when the carriers first got a delivery on this trip, and last gave it away. Returns which of both changed. */
export function handOverTimes(trip: s.Trip, a: p.HandOver, terms: p.OpenDelivery): ("received" | "given")[] {
  const limits = trip.deliveries.find((each) => each.delivery_id === a.delivery_id);
  if (!limits) return [];
  const ends = [terms.seller_id, terms.buyer_id];
  const carriers = carriersOf(terms);
  const received = a.to_party_id === trip.carrier_id || (ends.includes(a.from_party_id) && carriers.includes(a.to_party_id));
  const given = a.from_party_id === trip.carrier_id || (carriers.includes(a.from_party_id) && ends.includes(a.to_party_id));
  const changed: ("received" | "given")[] = [];
  if (received && (!limits.received_at_ms || a.at_ms < limits.received_at_ms)) {
    limits.received_at_ms = a.at_ms;
    changed.push("received");
  }
  if (given && a.at_ms > limits.given_at_ms) {
    limits.given_at_ms = a.at_ms;
    changed.push("given");
  }
  return changed;
}

/** The chains of a trip whose devices have all sealed it; undefined before. */
function sealedChains(c: Case, trip: s.Trip): s.Chain[] | undefined {
  const start = trip.start as p.StartTrip;
  const chains = [start.device_id, ...start.other_device_ids].map((device) =>
    c.store.read<s.Chain>("Chain", at.chain(start.trip_id, device)));
  return chains.every((each): each is s.Chain => !!each?.seal) ? chains : undefined;
}

/** A handover that both sides signed after the last seal judges its own side. */
export function judgeHandOver(c: Case, found: s.Trip, a: p.HandOver, terms: p.OpenDelivery, notes: Notes, d: s.Delivery): void {
  const trip = { ...found, deliveries: found.deliveries.map((each) => ({ ...each })) };
  const changed = handOverTimes(trip, a, terms);
  if (changed.length) c.store.write("Trip", at.trip((trip.start as p.StartTrip).trip_id), trip);
  const chains = changed.length ? sealedChains(c, trip) : undefined;
  const limits = trip.deliveries.find((each) => each.delivery_id === a.delivery_id);
  if (!chains || !limits) return;
  for (const side of changed) aroundHandOver(chains, limits, side, notes, () => { d.silences += 1; });
}

/** The last seal: quantities that nobody measured, or too late, and silence around handovers. */
export function judgeTrip(t: Told): void {
  const { c } = t;
  const start = t.trip.start as p.StartTrip;
  const chains = sealedChains(c, t.trip);
  if (!chains) return;
  const trip = { ...t.trip, missing: [...t.trip.missing] };
  for (const quantity of neverMeasured(c, trip, t.notes)) {
    markAll(t, quantity, () => true);
  }
  c.store.write("Trip", at.trip(start.trip_id), trip);
  tooLate(t, chains);
  trip.deliveries.forEach((limits, place) => {
    for (const side of ["received", "given"] as const) {
      aroundHandOver(chains, limits, side, t.notes, () => mark(t, place, (d) => { d.silences += 1; }));
    }
  });
}

function markAll(t: Told, quantity: number, counts: (limit: p.Limit) => boolean): void {
  t.trip.deliveries.forEach((each, place) => {
    if (each.limits.some((limit) => limit.quantity === quantity && counts(limit))) mark(t, place, (d) => { d.silences += 1; });
  });
}

const measured = (chain: s.Chain, quantity: number): s.Silence | undefined =>
  chain.silences.find((each) => each.quantity === quantity && each.measured);

/** A quantity that the starting device never measured came too late on all others. */
function tooLate(t: Told, chains: readonly s.Chain[]): void {
  const start = t.trip.start as p.StartTrip;
  for (const [quantity, allowed] of allowedOf(t.trip)) {
    if (measured(chains[0] as s.Chain, quantity)) continue;
    const firsts = chains.flatMap((each) => measured(each, quantity)?.first_ms ?? []);
    if (!firsts.length) continue;
    const late = firsts.reduce((a, b) => (a < b ? a : b)) - start.started_at_ms;
    if (late <= BigInt(allowed) * 1000n) continue;
    t.notes.add("recording-gap", `no device measured ${QUANTITIES[quantity]} for ${late} ms after the trip's start, ${allowed} s are allowed`);
    markAll(t, quantity, (limit) => late > BigInt(limit.longest_silence_s) * 1000n);
  }
}

/** The last measurement of a chain, or its seal, if the gap before that was found. */
function lastKnown(chain: s.Chain, limit: p.Limit): bigint | undefined {
  const found = measured(chain, limit.quantity);
  if (!found) return undefined;
  return found.silent_ms > BigInt(limit.longest_silence_s) * 1000n ? chain.seal?.clock?.utc_ms : found.last_ms;
}

/** By UTC, the time between a handover and the first measurement after it, or the last one before it. */
function aroundHandOver(chains: readonly s.Chain[], limits: s.TripLimits, side: "received" | "given", notes: Notes, count: () => void): void {
  const live = chains.filter((each) => each.live);
  const when = side === "received" ? limits.received_at_ms : limits.given_at_ms;
  if (!when) return;
  for (const limit of limits.limits) {
    const times = live.flatMap((each) => (side === "received" ? measured(each, limit.quantity)?.first_ms : lastKnown(each, limit)) ?? []);
    if (!times.length) continue;
    const silent = side === "received" ? times.reduce((a, b) => (a < b ? a : b)) - when : when - times.reduce((a, b) => (a > b ? a : b));
    if (silent <= BigInt(limit.longest_silence_s) * 1000n) continue;
    const name = QUANTITIES[limit.quantity];
    const around = side === "received" ? `after the carrier got ${limits.delivery_id}` : `before the carrier gave ${limits.delivery_id} away`;
    notes.add("recording-gap", `${name} was not measured for ${silent} ms ${around}, ${limit.longest_silence_s} s are allowed`);
    count();
  }
}
