// The states of a delivery (docs/contract.md, "States of a delivery"), and who has the goods.

import { payload as p, state as s } from "../messages.ts";
import { carriersOf, create } from "./case.ts";

const { STATUS_UNSET, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, ACCEPTED, DISPUTED, CLOSED, CANCELLED, SETTLED } =
  s.Delivery_Status;
const { PAYMENT_NONE, DUE } = p.Payment;

const WORDS: Record<number, string> = {
  [OFFERED]: "offered", [OPEN]: "open", [IN_TRANSIT]: "in-transit", [PART_DELIVERED]: "part-delivered",
  [DELIVERED]: "delivered", [ACCEPTED]: "accepted", [DISPUTED]: "disputed", [CLOSED]: "closed",
  [CANCELLED]: "cancelled", [SETTLED]: "settled",
};
export const statusOf = (delivery: s.Delivery): string => WORDS[delivery.status] ?? "unknown";
export const isEnded = (delivery: s.Delivery): boolean => [CLOSED, CANCELLED, SETTLED].some((each) => each === delivery.status);

/** States that follow from facts: trips and handovers move a delivery on from them. */
const FLOWING: readonly number[] = [OPEN, IN_TRANSIT, PART_DELIVERED];
export const isFlowing = (d: s.Delivery): boolean => FLOWING.includes(d.status);
const MOST_QUANTITY = 10n ** 15n;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
/** The quantity of the whole delivery; version 1.0 had no highest one. */
export const wholeOf = (terms: p.OpenDelivery): bigint => least(terms.quantity, MOST_QUANTITY);

/** How much of a delivery a handover moves; all of it when it does not say. */
export const moved = (a: p.HandOver, terms: p.OpenDelivery): bigint => least(a.quantity || wholeOf(terms), MOST_QUANTITY);

/** The state and payment that follow from the facts. */
export function followFacts(d: s.Delivery): void {
  [d.status, d.payment] = [OPEN, PAYMENT_NONE];
  if (d.signed_by.length < 2) d.status = OFFERED;
  else if (d.received_quantity >= wholeOf(d.terms as p.OpenDelivery)) [d.status, d.payment] = [DELIVERED, DUE];
  else if (d.received_quantity > 0n) d.status = PART_DELIVERED;
  else if (d.carried) d.status = IN_TRANSIT;
}

/** Gives the goods to the seller, unless handovers have moved them; an entry of 1.0 names only who has them. */
export function beginHoldings(d: s.Delivery): void {
  if (d.holdings.length) return;
  const terms = d.terms as p.OpenDelivery;
  const had = d.custodian_id || terms.seller_id;
  holding(d, had).quantity = wholeOf(terms);
  d.custodian_id = had;
  if (had === terms.buyer_id || ([DELIVERED, ACCEPTED, CLOSED] as number[]).includes(d.status)) d.received_quantity = wholeOf(terms);
  if (had !== terms.seller_id || d.received_quantity) d.sent_quantity = wholeOf(terms);
  d.carried ||= !([STATUS_UNSET, OFFERED, OPEN] as number[]).includes(d.status);
}

/** Brings an entry of 1.0 to where its facts are: 1.0 left some where they were, although the buyer had the goods. */
export function refresh(d: s.Delivery): s.Delivery {
  if (!d.holdings.length && isFlowing(d)) {
    beginHoldings(d);
    followFacts(d);
  }
  return d;
}

/** Forgets ends that only one party has signed, but the one of a kind that is spoken of now. */
export function voidEnds(d: s.Delivery, but: "closing" | "cancelling" | "" = ""): void {
  if (but !== "closing" && d.closing_signed_by.length === 1) {
    d.closing = undefined;
    d.closing_signed_by = [];
  }
  if (but !== "cancelling" && d.cancelling_signed_by.length === 1) {
    d.cancelling = undefined;
    d.cancelling_signed_by = [];
  }
}

export function holding(d: s.Delivery, partyId: string): s.Holding {
  let found = d.holdings.find((each) => each.party_id === partyId);
  if (!found) {
    found = create<s.Holding>("state.Holding", { party_id: partyId });
    d.holdings.push(found);
  }
  return found;
}

/** The party that has the whole delivery, the one nearest to the buyer; empty while it is divided. */
export function custodian(d: s.Delivery): string {
  const terms = d.terms as p.OpenDelivery;
  const order = [terms.buyer_id, ...carriersOf(terms).reverse(), terms.seller_id];
  const whole = d.holdings.filter((each) => each.quantity >= wholeOf(terms)).map((each) => each.party_id);
  return order.find((each) => whole.includes(each)) ?? "";
}

/** A copy that may be changed without changing what was read. */
export function copyOf(d: s.Delivery): s.Delivery {
  return {
    ...d, signed_by: [...d.signed_by], closing_signed_by: [...d.closing_signed_by],
    cancelling_signed_by: [...d.cancelling_signed_by], announced: [...d.announced], early: [...d.early],
    findings: [...d.findings], certificates: [...d.certificates], holdings: d.holdings.map((each) => ({ ...each })),
  };
}
