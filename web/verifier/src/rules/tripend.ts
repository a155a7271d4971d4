// What is judged when the last device of a trip has sealed, and handovers around it ("Silence").

import type { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { carriersOf, type Case, type Notes } from "./case.ts";
import { allowedOf, longestOf, type Told } from "./chains.ts";
import { mark } from "./marks.ts";
import { neverMeasured, QUANTITIES } from "./trips.ts";

/** Whether a handover brings goods onto a trip, and whether it takes them off. */
function sidesOf(carrier: string, a: p.HandOver, terms: p.OpenDelivery): ("received" | "given")[] {
  const carriers = carriersOf(terms);
  const [from, to] = [carriers.includes(a.from_party_id), carriers.includes(a.to_party_id)];
  const sides: ("received" | "given")[] = [];
  if ((to && !from) || a.to_party_id === carrier) sides.push("received");
  if ((from && !to) || a.from_party_id === carrier) sides.push("given");
  return sides;
}

/** Keeps when a trip first got a delivery, and last gave it away. */
export function handOverTimes(limits: s.TripLimits, carrier: string, a: p.HandOver, terms: p.OpenDelivery): void {
  for (const side of sidesOf(carrier, a, terms)) {
    if (side === "given") limits.given_at_ms = a.at_ms > limits.given_at_ms ? a.at_ms : limits.given_at_ms;
    else if (!limits.received_at_ms || a.at_ms < limits.received_at_ms) limits.received_at_ms = a.at_ms;
  }
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
  const chains = sealedChains(c, trip);
  for (const limits of trip.deliveries.filter((each) => each.delivery_id === a.delivery_id)) {
    handOverTimes(limits, trip.carrier_id, a, terms);
    for (const side of chains ? sidesOf(trip.carrier_id, a, terms) : []) {
      aroundHandOver(chains as s.Chain[], limits, side, notes, () => { d.silences += 1; });
    }
  }
  c.store.write("Trip", at.trip((trip.start as p.StartTrip).trip_id), trip);
}

/** The last seal: quantities that nobody measured, or too late, and silence around handovers. */
export function judgeTrip(t: Told): void {
  const { c } = t;
  const trip = { ...t.trip, missing: [...t.trip.missing] };
  const chains = sealedChains(c, trip);
  if (chains) {
    const missing = neverMeasured(c, trip, t.notes);
    for (const quantity of allowedOf(trip).keys()) {
      if (missing.includes(quantity)) markAll(t, quantity, () => true);
      else tooLate(t, chains, quantity);
    }
    trip.deliveries.forEach((limits, place) => {
      for (const side of ["received", "given"] as const) {
        aroundHandOver(chains, limits, side, t.notes, () => mark(t, place, (d) => { d.silences += 1; }));
      }
    });
  }
  c.store.write("Trip", at.trip((trip.start as p.StartTrip).trip_id), trip);
}

function markAll(t: Told, quantity: number, counts: (limit: p.Limit) => boolean): void {
  t.trip.deliveries.forEach((each, place) => {
    if (each.limits.some((limit) => limit.quantity === quantity && counts(limit))) mark(t, place, (d) => { d.silences += 1; });
  });
}

const measured = (chain: s.Chain, quantity: number): s.Silence | undefined =>
  chain.silences.find((each) => each.quantity === quantity && each.measured);

/** A quantity that the starting device never measured came too late on all others. */
function tooLate(t: Told, chains: readonly s.Chain[], quantity: number): void {
  if (measured(chains[0] as s.Chain, quantity)) return;
  const firsts = chains.flatMap((each) => measured(each, quantity)?.first_ms ?? []);
  const late = firsts.reduce((a, b) => (a < b ? a : b)) - (t.trip.start as p.StartTrip).started_at_ms;
  const allowed = allowedOf(t.trip).get(quantity) ?? 0;
  if (late <= BigInt(allowed) * 1000n) return;
  t.notes.add("recording-gap", `no device measured ${QUANTITIES[quantity]} for ${late} ms after the trip's start, ${allowed} s are allowed`);
  markAll(t, quantity, (limit) => late > BigInt(longestOf(limit)) * 1000n);
}

/** The last measurement of a chain, or its seal, if the gap before that was found. */
function lastKnown(chain: s.Chain, limit: p.Limit): bigint | undefined {
  const found = measured(chain, limit.quantity);
  if (!found) return undefined;
  return found.silent_ms > BigInt(longestOf(limit)) * 1000n ? chain.seal?.clock?.utc_ms : found.last_ms;
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
    if (silent <= BigInt(longestOf(limit)) * 1000n) continue;
    const name = QUANTITIES[limit.quantity];
    const around = side === "received" ? `after the carrier got ${limits.delivery_id}` : `before the carrier gave ${limits.delivery_id} away`;
    notes.add("recording-gap", `${name} was not measured for ${silent} ms ${around}, ${longestOf(limit)} s are allowed`);
    count();
  }
}
