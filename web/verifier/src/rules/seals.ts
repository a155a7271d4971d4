// SealTrip.

import { hex } from "../hash.ts";
import type { payload as p } from "../messages.ts";
import { same } from "../wire.ts";
import * as at from "./address.ts";
import { type Case, Notes, signedByDevice, tripOf } from "./case.ts";
import { chainOf, moment, sealSilences, type Told } from "./chains.ts";
import { endAll } from "./excursions.ts";
import { arrived } from "./arrival.ts";
import { TELLING } from "./form.ts";
import { compareClocks, judgeTime, rebooted } from "./readings.ts";
import { passed } from "./times.ts";
import { leftOut } from "./telling.ts";
import { judgeTrip } from "./tripend.ts";

export function sealTrip(c: Case, a: p.SealTrip): void {
  const key = signedByDevice(c);
  const trip = tripOf(c, a.trip_id);
  const notes = new Notes({ trip_id: a.trip_id, device_id: a.device_id, transaction_id: c.id });
  const start = trip.start as p.StartTrip;
  const done = (): void => notes.keep(c, a.trip_id);
  if (key.revoked) notes.add("key-revoked", `key ${c.header.signer_public_key} was revoked`);
  if (trip.close) notes.add("after-close", `${trip.close.party_id} had closed the trip`);
  if (key.owner_id !== a.device_id) {
    notes.add("signer-mismatch", `signed by ${key.owner_id}; seals nothing`);
    return done();
  }
  if (![start.device_id, ...start.other_device_ids].includes(a.device_id)) {
    notes.add("device-not-on-trip", "the trip does not name this device; seals nothing");
    return done();
  }
  const found = chainOf(c, trip, a.device_id);
  if (found.seal) {
    notes.add("seal-repeated", "the first seal stands");
    return done();
  }
  const chain = { ...found, silences: found.silences.map((each) => ({ ...each })) };
  if (a.reading_count !== chain.count || !same(a.head_sha256, chain.head_sha256)) {
    notes.add("seal-mismatch",
      `seals ${a.reading_count} readings up to ${hex(a.head_sha256).slice(0, 16)}, committed are ${chain.count} up to ${hex(chain.head_sha256).slice(0, 16)}`);
  }
  const t: Told = { c, trip, chain, notes, sequence: chain.next_sequence, clock: a.clock as p.Clock, revoked: key.revoked };
  endAll(t);
  chain.seal = a;
  chain.seal_transaction_id = c.id;
  if (c.version) sealed(t, a);
  if (c.version >= TELLING) leftOut(t, a);
  c.store.write("Chain", at.chain(a.trip_id, a.device_id), chain);
  if (c.version) judgeTrip(t);
  done();
}

function sealed(t: Told, a: p.SealTrip): void {
  const { c, trip, chain } = t;
  const clock = a.clock as p.Clock;
  const before = moment(trip, chain);
  const elapsed = before ? passed(before, clock, c.version) : 0n;
  arrived(t);
  if (before) compareClocks(t, before, clock);
  rebooted(t, before, clock);
  const live = chain.live || !(chain.count || trip.start?.derived_from.length);
  judgeTime(t, clock.utc_ms, !live);
  sealSilences(t, elapsed);
  if (c.block_s) chain.timed += 1n;
}
