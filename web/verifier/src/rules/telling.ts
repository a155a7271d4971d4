// What version 1.2 keeps of what a device tells with its readings: remarks, and whole recordings.

import { hex } from "../hash.ts";
import type { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { create } from "./case.ts";
import type { Told } from "./chains.ts";

/** Takes what a reading that joins the chain tells. */
export function tell(t: Told, reading: p.RunReading): void {
  const { c, chain, sequence } = t;
  const trip = (t.trip.start as p.StartTrip).trip_id;
  const device = chain.device_id;
  chain.telling += 1n;
  for (const remark of reading.remarks) {
    chain.remarks += 1n;
    c.remark({ trip_id: trip, device_id: device, sequence, clock: reading.clock, remark, film: reading.film });
  }
  for (const recording of reading.filmed) {
    const place = at.filmed(trip, device, hex(recording.sha256));
    if (c.store.read<s.Filmed>("Filmed", place)) continue;
    chain.filmed += 1;
    c.store.write("Filmed", place, create<s.Filmed>("state.Filmed", { device_id: device, recording, sequence }));
  }
}

/** Finds recordings that readings named as whole, and that the seal does not. */
export function leftOut(t: Told, seal: p.SealTrip): void {
  const { c, chain, notes } = t;
  if (!chain.filmed) return;
  const named = seal.recordings.filter((each) => {
    const found = c.store.read<s.Filmed>("Filmed", at.filmed(seal.trip_id, seal.device_id, hex(each.sha256)));
    return found?.recording?.size === each.size;
  }).length;
  if (named < chain.filmed) {
    notes.add("recording-left-out", `readings named ${chain.filmed} recordings as whole, the seal has ${named} of them`);
  }
}
