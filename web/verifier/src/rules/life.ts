// The states of a delivery (docs/contract.md, "States of a delivery"), and who has the goods.

import { payload as p, state as s } from "../messages.ts";
import { carriersOf, create } from "./case.ts";

const { OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, ACCEPTED, DISPUTED, CLOSED, CANCELLED, SETTLED } =
  s.Delivery_Status;
const { PAYMENT_NONE, DUE } = p.Payment;

const WORDS: Record<number, string> = {
  [OFFERED]: "offered", [OPEN]: "open", [IN_TRANSIT]: "in-transit", [PART_DELIVERED]: "part-delivered",
  [DELIVERED]: "delivered", [ACCEPTED]: "accepted", [DISPUTED]: "disputed", [CLOSED]: "closed",
  [CANCELLED]: "cancelled", [SETTLED]: "settled",
};
export const statusOf = (delivery: s.Delivery): string => WORDS[delivery.status] ?? "unknown";
export const isEnded = (delivery: s.Delivery): boolean => [CLOSED, CANCELLED, SETTLED].some((each) => each === delivery.status);

/** The state and payment that follow from the facts, while the table says so. */
export function followFacts(d: s.Delivery): void {
  const terms = d.terms as p.OpenDelivery;
  let [status, payment]: [number, number] = [OPEN, PAYMENT_NONE];
  if (d.signed_by.length < 2) status = OFFERED;
  else if (d.received_quantity >= terms.quantity) [status, payment] = [DELIVERED, DUE];
  else if (d.received_quantity > 0n) status = PART_DELIVERED;
  else if (d.carried) status = IN_TRANSIT;
  change(d, status, payment);
}

/** Changes the state; ends that only one party has signed become void. */
export function change(d: s.Delivery, status: number, payment: number): void {
  if (status !== d.status) voidEnds(d);
  d.status = status;
  d.payment = payment;
}

export function voidEnds(d: s.Delivery): void {
  if (d.closing_signed_by.length < 2) {
    d.closing = undefined;
    d.closing_signed_by = [];
  }
  if (d.cancelling_signed_by.length < 2) {
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
  const whole = d.holdings.filter((each) => each.quantity >= terms.quantity).map((each) => each.party_id);
  return order.find((each) => whole.includes(each)) ?? "";
}

/** A copy that may be changed without changing what was read. */
export function copyOf(d: s.Delivery): s.Delivery {
  return {
    ...d, signed_by: [...d.signed_by], closing_signed_by: [...d.closing_signed_by],
    cancelling_signed_by: [...d.cancelling_signed_by], announced: [...d.announced], early: [...d.early],
    findings: [...d.findings], holdings: d.holdings.map((each) => ({ ...each })),
  };
}
