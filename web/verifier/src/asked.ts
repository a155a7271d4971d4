// What the reader asks the file to be about.

import type { evidence, payload as p, state as s } from "./messages.ts";
import type { Ledger } from "./ledger.ts";
import type { Problem } from "./problem.ts";
import type { Replay } from "./replay.ts";
import * as at from "./rules/address.ts";
import { carriersOf } from "./rules/case.ts";

export interface Asked {
  trips?: string[];
  deliveries?: string[];
  /** Each as GTIN:LOT. */
  lots?: string[];
  atLeastBlock?: number;
}

export function asked(question: Asked, replay: Replay, ledger: Ledger, header: evidence.Header): Problem[] {
  const found: Problem[] = [];
  const add = (about: string, text: string): void => void found.push({ check: 17, about, text });
  for (const each of question.trips ?? []) if (!header.trip_ids.includes(each)) add(each, `the file is not about trip ${each}`);
  const carried = header.trip_ids.flatMap((id) => carriedOn(id, replay));
  for (const each of question.deliveries ?? []) {
    if (!carried.some((one) => one.terms?.delivery_id === each)) add(each, `the file is not about delivery ${each}`);
  }
  const agreed = carried.filter((each) => each.signed_by.length === 2).flatMap((each) => each.terms?.lots ?? []);
  for (const each of question.lots ?? []) {
    if (!agreed.some((one) => `${one.gtin}:${one.lot}` === each)) add(each, `the file is not about lot ${each}`);
  }
  const last = ledger.blocks - 1;
  if (question.atLeastBlock !== undefined && !(last >= question.atLeastBlock)) {
    add(String(last), `the file ends with block ${last}, you asked for block ${question.atLeastBlock}`);
  }
  return found;
}

/** Deliveries of a trip that a device of one of their carriers started, under a key that was not revoked. */
function carriedOn(id: string, replay: Replay): s.Delivery[] {
  const trip = replay.store.entries.get(at.trip(id))?.value as s.Trip | undefined;
  if (!trip) return [];
  const start = trip.start as p.StartTrip;
  const revoked = replay.startedRevoked.has(id);
  const owner = (replay.store.entries.get(at.device(start.device_id))?.value as s.Device | undefined)?.party_id ?? "";
  return start.delivery_ids.flatMap((each) => {
    const delivery = replay.store.entries.get(at.delivery(each))?.value as s.Delivery | undefined;
    return delivery?.terms && !revoked && carriersOf(delivery.terms).includes(owner) ? [delivery] : [];
  });
}
