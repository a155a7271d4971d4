// RecordReading and RecordRun.

import { codec } from "../codec.ts";
import { concat, hex, sha256 } from "../hash.ts";
import type { payload as p, state as s } from "../messages.ts";
import { same } from "../wire.ts";
import * as at from "./address.ts";
import { type Case, create, Notes, signedByDevice, tripOf } from "./case.ts";
import { chainOf, countSilence, last, MOST_TOLD, step, type Told } from "./chains.ts";
import { follow } from "./excursions.ts";
import { mark } from "./marks.ts";
import { TELLING } from "./form.ts";
import { tell } from "./telling.ts";
import { implausible, size } from "./times.ts";

const JUMP_MS = 60_000n;

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
  if (sequence < chain.next_sequence) return say("sequence-repeated", `not in the chain, which expects ${chain.next_sequence}`);
  if (chain.seal) return say("after-seal", "not in the chain, which is sealed");
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
  const elapsed = step(trip, chain, clock, c.version);
  clocks(t, clock);
  calibration(t, clock);
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
    if (reading.position) chain.last_position = reading.position;
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

/** Compares a clock with the reading before, or with the start. */
export function clocks(t: Told, clock: p.Clock, seal = false): void {
  const { c, chain, notes, sequence } = t;
  const add = (rule: string, detail: string): void => notes.add(rule, detail, { sequence });
  const start = t.trip.start as p.StartTrip;
  const first = !chain.count;
  if (first && !(c.version && start.device_id === chain.device_id)) {
    if (c.version && !seal) chain.apart_ms = clock.utc_ms - clock.monotonic_ms;
    return;
  }
  const before = first ? start.clock : last(chain);
  const beforeUtc = first ? start.started_at_ms : chain.last_utc_ms;
  if (clock.utc_ms < beforeUtc) add("clock-back", `UTC went back by ${beforeUtc - clock.utc_ms} ms`);
  const sameBoot = before && same(before.boot_id, clock.boot_id);
  if (c.version && first) chain.apart_ms = sameBoot && start.clock ? start.clock.utc_ms - start.clock.monotonic_ms : clock.utc_ms - clock.monotonic_ms;
  if (!before) return;
  if (!sameBoot) {
    if (c.version) {
      add("rebooted", `the device was started ${clock.monotonic_ms} ms before`);
      chain.reboots += 1;
      chain.apart_ms = clock.utc_ms - clock.monotonic_ms;
    }
    return;
  }
  if (clock.monotonic_ms < before.monotonic_ms) add("clock-back", `the counter went back by ${before.monotonic_ms - clock.monotonic_ms} ms`);
  const [utc, counter] = [clock.utc_ms - before.utc_ms, clock.monotonic_ms - before.monotonic_ms];
  const apart = clock.utc_ms - clock.monotonic_ms;
  if (utc < 0n || counter < 0n) {
    if (c.version) chain.apart_ms = apart;
  } else if (size(utc - counter) > JUMP_MS) {
    add("clock-jump", `UTC moved by ${utc} ms while ${counter} ms passed`);
    if (c.version) chain.apart_ms = apart;
  } else if (c.version && size(apart - (chain.apart_ms ?? apart)) > JUMP_MS) {
    add("clock-jump", `UTC moved ${apart - (chain.apart_ms ?? apart)} ms further than the counter, step by step`);
    chain.apart_ms = apart;
  }
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
