// Limits that are exceeded, and breaches (docs/contract.md, "RecordReading").

import { payload as p, type state as s } from "../messages.ts";
import * as at from "./address.ts";
import { create } from "./case.ts";
import { measuredOf, type Told } from "./chains.ts";
import { mark } from "./marks.ts";
import { atMost } from "./times.ts";

const MOST_BREACHES = 256;
/** What a finding calls each quantity: the field of a reading. */
const FIELDS: Record<number, string> = { 1: "temperature_mcel", 2: "humidity_mpct", 3: "pressure_pa" };

/** Follows each limit of the trip through one reading. */
export function follow(t: Told, reading: p.RunReading, elapsed: bigint): void {
  for (const each of watchedOf(t.trip)) followLimit(t, reading, elapsed, each);
}

/** The limits of a trip's deliveries, in the trip's order. */
function watchedOf(trip: s.Trip): Watched[] {
  const all = trip.deliveries.flatMap((each, place) => each.limits.map((limit) => ({ place, delivery: each.delivery_id, limit })));
  return all.map((each, index) => ({ ...each, index, total: all.length }));
}

interface Watched {
  place: number;
  delivery: string;
  limit: p.Limit;
  index: number;
  total: number;
}

function followLimit(t: Told, reading: p.RunReading, elapsed: bigint, w: Watched): void {
  const { chain } = t;
  const value = measuredOf(reading, w.limit.quantity);
  const found = chain.excursions.find((each) => each.delivery_id === w.delivery && each.quantity === w.limit.quantity);
  if (found) found.lasted_ms = atMost(found.lasted_ms + elapsed);
  if (value === undefined) return;
  const over = w.limit.maximum !== undefined && value > w.limit.maximum;
  const under = w.limit.minimum !== undefined && value < w.limit.minimum;
  if (!over && !under) {
    if (found) end(t, found, w);
    return;
  }
  const excursion = found ?? begin(t, value, w);
  excursion.until_ms = t.clock.utc_ms;
  excursion.until_sequence = t.sequence;
  if (distance(value, w.limit) > distance(excursion.extreme, w.limit)) excursion.extreme = value;
  const tolerated = BigInt(w.limit.tolerated_s) * 1000n;
  if (!excursion.breached && (tolerated === 0n || excursion.lasted_ms > tolerated)) breach(t, excursion, reading.position, w);
}

function begin(t: Told, value: number, w: Watched): s.Excursion {
  const made = create<s.Excursion>("state.Excursion", {
    delivery_id: w.delivery, quantity: w.limit.quantity, since_ms: t.clock.utc_ms, since_sequence: t.sequence, extreme: value,
  });
  t.chain.excursions.push(made);
  return made;
}

/** How far a value lies outside a limit. */
function distance(value: number, limit: p.Limit): number {
  return Math.max(limit.maximum === undefined ? 0 : value - limit.maximum, limit.minimum === undefined ? 0 : limit.minimum - value);
}

function breach(t: Told, x: s.Excursion, position: p.Position | undefined, w: Watched): void {
  const { c, chain } = t;
  x.breached = true;
  if (!chain.breaches.length) chain.breaches = Array.from({ length: w.total }, () => 0);
  const count = (chain.breaches[w.index] ?? 0) + 1;
  chain.breaches[w.index] = count;
  const most = listedOf(w.total);
  if (count <= most) c.store.write("Breach", placeOf(t, x), create<s.Breach>("state.Breach", { ...told(t, x, w.limit), position }));
  else if (count === most + 1) {
    t.notes.add("breaches-many",
      `${most} breaches of ${w.delivery}'s ${FIELDS[x.quantity]} are told; from here on they are counted only`, { sequence: t.sequence });
  }
  mark(t, w.place, (d) => { d.breaches += 1; });
}

/** How many breaches of each limit a chain lists. */
const listedOf = (limits: number): number => Math.floor(MOST_BREACHES / limits);

const placeOf = (t: Told, x: s.Excursion): string =>
  at.breach((t.trip.start as p.StartTrip).trip_id, t.chain.device_id, x.delivery_id, x.quantity, x.since_sequence);

function told(t: Told, x: s.Excursion, limit: p.Limit): Partial<s.Breach> {
  return {
    trip_id: (t.trip.start as p.StartTrip).trip_id, device_id: t.chain.device_id, delivery_id: x.delivery_id, limit,
    since_ms: x.since_ms, since_sequence: x.since_sequence, until_ms: x.until_ms, until_sequence: x.until_sequence, extreme: x.extreme,
  };
}

function end(t: Told, x: s.Excursion, w: Watched): void {
  t.chain.excursions = t.chain.excursions.filter((each) => each !== x);
  if (!x.breached || (t.chain.breaches[w.index] ?? 0) > listedOf(w.total)) return;
  const before = t.c.store.read<s.Breach>("Breach", placeOf(t, x));
  if (before) t.c.store.write("Breach", placeOf(t, x), { ...before, ...told(t, x, w.limit), ended: true });
}

/** The seal ends breaches that still last. */
export function endAll(t: Told): void {
  const watched = watchedOf(t.trip);
  for (const each of [...t.chain.excursions]) {
    const limit = watched.find((one) => one.delivery === each.delivery_id && one.limit.quantity === each.quantity);
    if (limit) end(t, each, limit);
  }
}
