// Counting breaches, tampering and silence on deliveries, under the conditions of docs/contract.md.

import type { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { carriersOf } from "./case.ts";
import type { Told } from "./chains.ts";
import { copyOf } from "./life.ts";

/** Changes a delivery of the trip, if this device may mark it; else says so once. */
export function mark(t: Told, place: number, how: (d: s.Delivery) => void): void {
  const { c, trip, chain, notes } = t;
  if (t.revoked) return;
  const id = trip.deliveries[place]?.delivery_id as string;
  const address = at.delivery(id);
  const refuse = (rule: string, detail: string): void => {
    if (chain.unmarked.includes(place)) return;
    chain.unmarked = [...chain.unmarked, place];
    notes.add(rule, detail, { sequence: t.sequence });
  };
  if (!c.declared.has(address)) return refuse("delivery-not-declared", `the reading cannot mark delivery ${id}`);
  const found = c.store.read<s.Delivery>("Delivery", address);
  if (!found) return;
  const terms = found.terms as p.OpenDelivery;
  const owner = c.store.read<s.Device>("Device", at.device(chain.device_id))?.party_id ?? "";
  const carriers = carriersOf(terms);
  if (!carriers.includes(owner)) {
    return refuse("carrier-mismatch", `a device of ${owner} does not mark delivery ${id}, which ${carriers.join(", ")} carries`);
  }
  const d = copyOf(found);
  how(d);
  c.store.write("Delivery", address, d);
}
