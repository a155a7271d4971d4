// RecordReading and RecordRun.

import { codec } from "../codec.ts";
import { concat, hex, sha256 } from "../hash.ts";
import type { payload as p, state as s } from "../messages.ts";
import { same } from "../wire.ts";
import * as at from "./address.ts";
import { type Case, create, Notes, signedByDevice, tripOf } from "./case.ts";
import { chainOf, countSilence, moment, MOST_TOLD, sortSilences, type Told } from "./chains.ts";
import { follow } from "./excursions.ts";
import { mark } from "./marks.ts";
import { TELLING } from "./form.ts";
import { tell } from "./telling.ts";
import { type Clock, implausible, passed, size } from "./times.ts";

const JUMP_MS = 60_000n;
/** A position less exact counts as none. */
const KILOMETRE_CM = 100_000;

export function recordReading(c: Case, a: p.RecordReading): void {
  const reading = create<p.RunReading>("payload.RunReading", a as Partial<p.RunReading>);
  record(c, a.trip_id, a.device_id, a.sequence, a.previous_sha256, [reading]);
}

export function recordRun(c: Case, a: p.RecordRun): void {
  record(c, a.trip_id, a.device_id, a.first_sequence, a.previous_sha256, a.readings);
}

function record(c: Case, tripId: string, device: string, first: bigint, before: Uint8Array, readings: p.RunReading[]): void {
  const key = signedByDevice(c);
  const trip = tripOf(c, tripId);
  const chain = { ...chainOf(c, trip, device) };
  chain.silences = chain.silences.map((each) => ({ ...each }));
  const held = chain.silences.length;
  chain.excursions = chain.excursions.map((each) => ({ ...each }));
  chain.breaches = [...chain.breaches];
  const fields = { trip_id: tripId, device_id: device, transaction_id: c.id };
  const notes = new Notes(fields);
  let previous = before;
  let changed = false;
  readings.forEach((reading, place) => {
    const sequence = first + BigInt(place);
    const t: Told = { c, trip, chain, notes, sequence, clock: reading.clock as p.Clock, revoked: key.revoked };
    if (key.revoked) notes.add("key-revoked", `key ${c.header.signer_public_key} was revoked`, { sequence });
    const link = codec.encode("payload.RecordReading", create<p.RecordReading>("payload.RecordReading", {
      trip_id: tripId, device_id: device, sequence, previous_sha256: previous,
    }));
    const bytes = codec.encode("payload.RunReading", reading);
    if (outside(t, key, previous)) {
      previous = sha256(concat(link, bytes));
      return;
    }
    changed = true;
    previous = sha256(concat(link, bytes));
    extend(t, reading, previous);
  });
  sortSilences(trip, chain, held);
  if (changed) c.store.write("Chain", at.chain(tripId, device), chain);
  notes.keep(c, tripId);
}

/** Says why a reading is in no chain, or how it fits onto the chain. */
function outside(t: Told, key: s.Key, previous: Uint8Array): boolean {
  const { chain, notes, sequence } = t;
  const start = t.trip.start as p.StartTrip;
  const say = (rule: string, detail: string): boolean => {
    notes.add(rule, detail, { sequence });
    return true;
  };
  if (key.owner_id !== chain.device_id) return say("signer-mismatch", `signed by ${key.owner_id}; not in the chain`);
  if (![start.device_id, ...start.other_device_ids].includes(chain.device_id)) {
    return say("device-not-on-trip", "the trip does not name this device; in no chain");
  }
  if (chain.seal) return say("after-seal", "not in the chain, which is sealed");
  if (sequence < chain.next_sequence) return say("sequence-repeated", `not in the chain, which expects ${chain.next_sequence}`);
  if (sequence > chain.next_sequence) notes.add("sequence-gap", `${chain.next_sequence} was expected next`, { sequence });
  else if (!same(previous, chain.head_sha256)) {
    notes.add("chain-broken",
      `names ${hex(previous).slice(0, 16)} before it, the chain ends in ${hex(chain.head_sha256).slice(0, 16)}`, { sequence });
  }
  return false;
}

function extend(t: Told, reading: p.RunReading, digest: Uint8Array): void {
  const { c, trip, chain, sequence } = t;
  const clock = reading.clock as p.Clock;
  const before = moment(trip, chain);
  const elapsed = before ? passed(before, clock, c.version) : 0n;
  if (before && (chain.count || c.version)) compareClocks(t, before, clock);
  calibration(t, clock);
  if (c.version) rebooted(t, before, clock);
  if (c.version) judgeTime(t, (reading.clock as p.Clock).utc_ms, reading.derived);
  if (c.version) countSilence(t, reading, elapsed);
  follow(t, reading, chain.count ? elapsed : 0n);
  signs(t, reading);
  if (c.version >= TELLING) tell(t, reading);
  c.joined({ trip: (trip.start as p.StartTrip).trip_id, device: chain.device_id, sequence, reading });
  chain.count += 1n;
  chain.head_sha256 = digest;
  chain.last_utc_ms = clock.utc_ms;
  chain.last_boot_id = clock.boot_id;
  chain.last_monotonic_ms = clock.monotonic_ms;
  chain.tamper_flags = reading.tamper_flags;
  chain.next_sequence = sequence + 1n;
  if (c.version) {
    chain.live ||= !reading.derived;
    if (reading.position && reading.position.accuracy_cm <= KILOMETRE_CM) chain.last_position = reading.position;
    if (c.block_s) chain.timed += 1n;
  }
}

/** Signs that the reading before did not show count; since 1.2 their end is told too. */
function signs(t: Told, reading: p.RunReading): void {
  const { c, trip, chain, sequence } = t;
  const flags = reading.tamper_flags & ~chain.tamper_flags;
  const ended = c.version >= TELLING ? chain.tamper_flags & ~reading.tamper_flags : 0;
  if (!flags && !ended) return;
  c.tamper({
    trip: (trip.start as p.StartTrip).trip_id, device: chain.device_id, sequence, utc_ms: (reading.clock as p.Clock).utc_ms,
    flags, ended, film: c.version >= TELLING ? reading.film : [],
  });
  if (flags) trip.deliveries.forEach((_, place) => mark(t, place, (d) => { d.tampers += 1; }));
}

/** Compares a clock with the moment before: whether it went back, or UTC and the counter moved apart. */
export function compareClocks(t: Told, before: Clock, now: Clock): void {
  const { c, chain, notes, sequence } = t;
  const add = (rule: string, detail: string): void => notes.add(rule, detail, { sequence });
  const [utc, counter] = [now.utc_ms - before.utc_ms, now.monotonic_ms - before.monotonic_ms];
  const sameBoot = same(before.boot_id, now.boot_id);
  let steady = sameBoot && utc >= 0n && counter >= 0n;
  if (utc < 0n) add("clock-back", `UTC went back by ${-utc} ms`);
  if (sameBoot && counter < 0n) add("clock-back", `the counter went back by ${-counter} ms`);
  else if (steady && size(utc - counter) > JUMP_MS) {
    add("clock-jump", `UTC moved by ${utc} ms while ${counter} ms passed`);
    steady = false;
  }
  if (!c.version) return;
  const apart = now.utc_ms - now.monotonic_ms;
  if (steady) {
    chain.apart_ms ??= before.utc_ms - before.monotonic_ms;
    if (size(apart - chain.apart_ms) <= JUMP_MS) return;
    add("clock-jump", `UTC moved ${apart - chain.apart_ms} ms further than the counter, step by step`);
  }
  chain.apart_ms = apart;
}

/** Finds that a device was started again. */
export function rebooted(t: Told, before: Clock | undefined, now: Clock): void {
  const { chain, notes, sequence } = t;
  if (!before?.boot_id.length || same(before.boot_id, now.boot_id)) return;
  chain.reboots += 1;
  if (chain.reboots <= MOST_TOLD) notes.add("rebooted", `the device was started ${now.monotonic_ms} ms before`, { sequence });
}

function calibration(t: Told, clock: p.Clock): void {
  const { c, chain, notes, sequence } = t;
  if (!chain.count) {
    chain.calibrated_until_ms = c.store.read<s.Device>("Device", at.device(chain.device_id))?.calibrated_until_ms ?? 0n;
  }
  if (chain.calibrated_until_ms && clock.utc_ms > chain.calibrated_until_ms && !chain.calibration_expired) {
    chain.calibration_expired = true;
    notes.add("out-of-calibration", `calibrated until ${chain.calibrated_until_ms} ms UTC`, { sequence });
  }
}

/** Finds the first of consecutive times that cannot be; a derived reading claims none of its own. */
export function judgeTime(t: Told, utcMs: bigint, derived: boolean): void {
  const { c, chain, notes, sequence, trip } = t;
  const late = derived ? "" : implausible(utcMs, c.block_s, trip);
  if (late && !chain.implausible) {
    chain.implausible_times += 1;
    if (chain.implausible_times <= MOST_TOLD) notes.add("time-implausible", late, { sequence });
  }
  chain.implausible = late !== "";
}
