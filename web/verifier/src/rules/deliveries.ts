// OpenDelivery, AcceptDelivery, DisputeDelivery, CloseDelivery, CancelDelivery, AnnounceSettlement, SettleDelivery.

import { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, carriersOf, coSign, create, deliveryOf, Notes, partyWithRole, signedByParty, signingParty } from "./case.ts";
import { lotName, withheld } from "./goods.ts";
import { beginHoldings, copyOf, followFacts, refresh, statusOf, voidEnds, wholeOf } from "./life.ts";
import { must, Refusal } from "./refusal.ts";

const { OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, ACCEPTED, DISPUTED, CLOSED, CANCELLED, SETTLED } =
  s.Delivery_Status;
const { PAYMENT_NONE, RELEASED, WITHHELD } = p.Payment;
const DAY_MS = 86_400_000n;
/** Lots or units that one finding names, and authorities whose notices are kept. */
const [MOST_NAMED, MOST_NOTICES] = [8, 4];

export const quoted = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  return mark + text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
};

/** The one of seller and buyer that signs. */
function trader(c: Case, terms: p.OpenDelivery): string {
  const party = signingParty(c);
  must([terms.seller_id, terms.buyer_id].includes(party), "not-the-party", `signed by ${party}, which is neither seller nor buyer`);
  return party;
}

function allowed(d: s.Delivery, ...statuses: number[]): void {
  must(statuses.includes(d.status), "wrong-state", `delivery ${(d.terms as p.OpenDelivery).delivery_id} is ${statusOf(d)}`);
}

/** A delivery as it stands; a copy that may be changed. */
function standing(c: Case, id: string): s.Delivery {
  const d = copyOf(deliveryOf(c, id));
  return c.version ? refresh(d) : d;
}

/** Goes over to a state by a party's word. */
function end(c: Case, d: s.Delivery, status: number, payment: number, by: "closing" | "cancelling" | "" = ""): void {
  if (c.version) voidEnds(d, by);
  d.status = status;
  d.payment = payment;
}

const keep = (c: Case, id: string, d: s.Delivery): void => c.store.write("Delivery", at.delivery(id), d);

export function openDelivery(c: Case, a: p.OpenDelivery): void {
  const signer = trader(c, a);
  partyWithRole(c, a.seller_id, p.Role.SELLER);
  for (const each of carriersOf(a)) partyWithRole(c, each, p.Role.CARRIER);
  partyWithRole(c, a.buyer_id, p.Role.BUYER);
  if (a.authority_id) partyWithRole(c, a.authority_id, p.Role.AUTHORITY);
  const d = copyOf(c.store.read<s.Delivery>("Delivery", at.delivery(a.delivery_id)) ?? create<s.Delivery>("state.Delivery"));
  if (c.version && d.signed_by.length < 2 && d.status) allowed(d, OFFERED);
  const signed = coSign("OpenDelivery", `delivery ${a.delivery_id}`, { terms: d.terms, signed_by: d.signed_by }, a, signer);
  must(!c.version || !(d.holdings.length || d.custodian_id) || !signed.replaced, "terms-differ", `goods of ${a.delivery_id} changed hands under other terms`);
  [d.terms, d.signed_by] = [signed.terms, signed.signed_by];
  if (c.version) {
    if (signed.both) agreed(c, d);
    followFacts(d);
  } else {
    d.status = signed.both ? OPEN : OFFERED;
    if (signed.both) d.custodian_id ||= a.seller_id; // a handover may have moved the goods before both had signed
  }
  keep(c, a.delivery_id, d);
}

/** Both sides have signed. */
function agreed(c: Case, d: s.Delivery): void {
  const terms = d.terms as p.OpenDelivery;
  beginHoldings(d);
  voidEnds(d);
  d.announced = [];
  d.agreed_at_s = c.block_s;
  const notes = new Notes({ delivery_id: terms.delivery_id, transaction_id: c.id });
  const odd = new Map<string, string[]>();
  const add = (rule: string, text: string): void => void odd.set(rule, [...(odd.get(rule) ?? []), text]);
  for (const lot of terms.lots) findLot(c, lot, terms.items.find((each) => each.lot?.gtin === lot.gtin && each.lot.lot === lot.lot), add);
  for (const each of terms.units) if (!c.store.packed.has(each)) add("unit-unknown", `nobody is on record as the packer of unit ${each}`);
  for (const [rule, texts] of odd) {
    const more = texts.length - MOST_NAMED;
    const named = texts.slice(0, MOST_NAMED).join("; ");
    notes.add(rule, more > 0 ? `${named}; and ${more} more` : named);
  }
  for (const each of terms.required_certificates) {
    const found = c.store.read<s.Certificates>("Certificates", at.certificates(each.holder_id, each.kind));
    const held = (found?.by_authority ?? []).filter((one) => !one.revoked);
    if (!held.length) notes.add("certificate-missing", `${each.holder_id} holds no certificate ${quoted(each.kind)}`);
    d.certificates.push(...held);
  }
  d.findings.push(...notes.found);
}

function findLot(c: Case, lot: p.Lot, item: p.DeliveredLot | undefined, add: (rule: string, text: string) => void): void {
  const found = c.store.read<s.Lot>("Lot", at.lot(lot.gtin, lot.lot));
  if (found?.status && found.status.status !== p.SetLotStatus_Status.CLEARED) add("lot-withheld", `${lotName(lot)} is ${withheld(found.status)}`);
  if (!found?.party_id) add("lot-unknown", `nobody is on record as the maker of ${lotName(lot)}`);
  if (!item || !found?.party_id) return;
  if (found.unit !== item.unit) add("unit-mismatch", `${lotName(lot)} counts in ${found.unit}, not in ${item.unit}`);
  else if (item.quantity > found.made) add("lot-overdrawn", `${item.quantity} ${item.unit} of ${lotName(lot)} sold, ${found.made} made`);
}

export function acceptDelivery(c: Case, a: p.AcceptDelivery): void {
  const d = standing(c, a.delivery_id);
  const terms = d.terms as p.OpenDelivery;
  if (!c.version) signedByParty(c, terms.buyer_id);
  if (c.version) allowed(d, PART_DELIVERED, DELIVERED, DISPUTED);
  else allowed(d, DELIVERED, DISPUTED);
  if (c.version) signedByParty(c, terms.buyer_id);
  must(d.status !== DISPUTED || d.disputed_by === terms.buyer_id, "wrong-state", `delivery ${a.delivery_id} is disputed by ${d.disputed_by}`);
  if (!c.version) [d.closing, d.closing_signed_by] = [undefined, []];
  if (c.version) {
    d.accepted_quantity = a.received_quantity;
    const [received, ordered] = [a.received_quantity, wholeOf(terms)];
    const sent = d.sent_quantity > d.returned_quantity ? d.sent_quantity - d.returned_quantity : 0n;
    if (received && (received !== ordered || (d.sent_quantity && received !== sent))) {
      const notes = new Notes({ delivery_id: a.delivery_id, transaction_id: c.id });
      notes.add("quantity-differs", `${received} ${terms.unit} received, ${sent} sent, ${ordered} ordered`);
      d.findings.push(...notes.found);
    }
  }
  end(c, d, ACCEPTED, RELEASED);
  keep(c, a.delivery_id, d);
}

export function disputeDelivery(c: Case, a: p.DisputeDelivery): void {
  const d = standing(c, a.delivery_id);
  const signer = trader(c, d.terms as p.OpenDelivery);
  if (c.version) allowed(d, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED);
  else allowed(d, IN_TRANSIT, DELIVERED);
  d.dispute = a;
  d.disputed_by = signer;
  end(c, d, DISPUTED, WITHHELD);
  keep(c, a.delivery_id, d);
}

export function closeDelivery(c: Case, a: p.CloseDelivery): void {
  const d = standing(c, a.delivery_id);
  const signer = trader(c, d.terms as p.OpenDelivery);
  allowed(d, ACCEPTED, DISPUTED);
  must(d.status !== ACCEPTED || a.payment === RELEASED, "payment-differs", `delivery ${a.delivery_id} was accepted`);
  const signed = coSign("CloseDelivery", `the end of ${a.delivery_id}`, { terms: d.closing, signed_by: d.closing_signed_by }, a, signer);
  [d.closing, d.closing_signed_by] = [signed.terms, signed.signed_by];
  if (signed.both) end(c, d, CLOSED, a.payment, "closing");
  keep(c, a.delivery_id, d);
}

export function cancelDelivery(c: Case, a: p.CancelDelivery): void {
  const d = standing(c, a.delivery_id);
  const signer = trader(c, d.terms as p.OpenDelivery);
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED);
  const alone = d.status === OFFERED && !d.holdings.length && !d.custodian_id && d.signed_by.includes(signer);
  const signed = alone
    ? { terms: a, signed_by: [signer], both: true }
    : coSign("CancelDelivery", `the cancellation of ${a.delivery_id}`, { terms: d.cancelling, signed_by: d.cancelling_signed_by }, a, signer);
  [d.cancelling, d.cancelling_signed_by] = [signed.terms, signed.signed_by];
  if (signed.both) end(c, d, CANCELLED, PAYMENT_NONE, "cancelling");
  keep(c, a.delivery_id, d);
}

/** Checks that an authority may speak of a delivery. */
function authority(c: Case, d: s.Delivery, authorityId: string): void {
  const terms = d.terms as p.OpenDelivery;
  signedByParty(c, authorityId);
  partyWithRole(c, authorityId, p.Role.AUTHORITY);
  const parties = [terms.seller_id, terms.buyer_id, ...carriersOf(terms)];
  must(!parties.includes(authorityId), "not-the-party", `${authorityId} is a party of the delivery`);
  const named = d.signed_by.length === 2 ? terms.authority_id : "";
  must(!named || named === authorityId, "not-the-party", `${named} is to settle the delivery`);
}

export function announceSettlement(c: Case, a: p.AnnounceSettlement): void {
  const d = standing(c, a.delivery_id);
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED, ACCEPTED);
  authority(c, d, a.authority_id);
  must(a.at_ms + DAY_MS >= c.block_s * 1000n, "antedated", `the notice's time lies more than a day before its block`);
  d.announced = [...d.announced.filter((each) => each.authority_id !== a.authority_id).slice(-(MOST_NOTICES - 1)), a];
  keep(c, a.delivery_id, d);
}

export function settleDelivery(c: Case, a: p.SettleDelivery): void {
  const d = standing(c, a.delivery_id);
  const terms = d.terms as p.OpenDelivery;
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED, ACCEPTED);
  authority(c, d, a.authority_id);
  must(d.status !== ACCEPTED || a.payment === RELEASED, "payment-differs", `delivery ${a.delivery_id} was accepted`);
  must(d.status !== OFFERED || a.payment === WITHHELD, "payment-differs", `delivery ${a.delivery_id} is an offer`);
  const notice = d.announced.find((each) => each.authority_id === a.authority_id);
  const deadline = d.signed_by.length === 2 ? terms.deadline_ms : 0n;
  const noticed = notice && notice.at_ms + (deadline ? 365n : 30n) * DAY_MS;
  if (!deadline && !noticed) throw new Refusal("not-announced", `${a.authority_id} has not given notice`);
  const times = [deadline, noticed].filter((each): each is bigint => !!each);
  const from = times.reduce((first, each) => (each < first ? each : first));
  must(a.at_ms >= from && (!c.block_s || c.block_s * 1000n >= from), "too-early", `the time to settle is ${from} ms`);
  d.settlement = a;
  end(c, d, SETTLED, a.payment);
  keep(c, a.delivery_id, d);
}
