// OpenDelivery, AcceptDelivery, DisputeDelivery, CloseDelivery, CancelDelivery, AnnounceSettlement, SettleDelivery.

import { codec } from "../codec.ts";
import { payload as p, state as s } from "../messages.ts";
import { same } from "../wire.ts";
import * as at from "./address.ts";
import { type Case, carriersOf, create, deliveryOf, Notes, partyWithRole, signedByParty } from "./case.ts";
import { lotName, withheld } from "./goods.ts";
import { change, copyOf, custodian, followFacts, holding, statusOf } from "./life.ts";
import { must, Refusal } from "./refusal.ts";

const { OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, ACCEPTED, DISPUTED, CLOSED, CANCELLED, SETTLED } =
  s.Delivery_Status;
const { PAYMENT_NONE, RELEASED, WITHHELD } = p.Payment;
const DAY_MS = 86_400_000n;
const TRADE = p.KeyDuties_Duty.TRADE;

export const quoted = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  return mark + text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`) + mark;
};

const equal = (type: string, a: object, b: object): boolean =>
  same(codec.encode(`payload.${type}`, a), codec.encode(`payload.${type}`, b));

/** The one of seller and buyer that signs. */
function trader(c: Case, terms: p.OpenDelivery): string {
  const key = c.store.read<s.Key>("Key", at.key(c.header.signer_public_key));
  const party = key?.owner === 1 && key.owner_id === terms.buyer_id ? terms.buyer_id : terms.seller_id;
  signedByParty(c, party, TRADE);
  return party;
}

function allowed(d: s.Delivery, ...statuses: number[]): void {
  must(statuses.includes(d.status), "wrong-state", `delivery ${(d.terms as p.OpenDelivery).delivery_id} is ${statusOf(d)}`);
}

const keep = (c: Case, id: string, d: s.Delivery): void => c.store.write("Delivery", at.delivery(id), d);
const moved = (d: s.Delivery): boolean => d.holdings.length > 0 || d.sent_quantity + d.received_quantity + d.returned_quantity > 0n;

export function openDelivery(c: Case, a: p.OpenDelivery): void {
  const before = c.store.read<s.Delivery>("Delivery", at.delivery(a.delivery_id));
  const signer = trader(c, a);
  partyWithRole(c, a.seller_id, p.Role.SELLER);
  partyWithRole(c, a.carrier_id, p.Role.CARRIER);
  partyWithRole(c, a.buyer_id, p.Role.BUYER);
  for (const each of a.other_carrier_ids) partyWithRole(c, each, p.Role.CARRIER);
  if (a.authority_id) {
    partyWithRole(c, a.authority_id, p.Role.AUTHORITY);
    must(![a.seller_id, a.buyer_id, ...carriersOf(a)].includes(a.authority_id), "form", "the authority is a party of the delivery");
  }
  if (!before) {
    keep(c, a.delivery_id, create<s.Delivery>("state.Delivery", { terms: a, signed_by: [signer], status: OFFERED }));
    return;
  }
  const d = copyOf(before);
  allowed(d, OFFERED);
  const terms = d.terms as p.OpenDelivery;
  const equalTerms = equal("OpenDelivery", terms, a);
  if (d.signed_by.includes(signer)) {
    must(!equalTerms, "already-signed", `${signer} has signed the terms of ${a.delivery_id}`);
    must(terms.seller_id === a.seller_id || terms.buyer_id === a.buyer_id, "terms-differ", "another party signed other terms");
    must(!c.version || !moved(d), "terms-differ", `goods of ${a.delivery_id} have changed hands`);
    d.terms = a;
  } else {
    must(equalTerms, "terms-differ", `the other party signed other terms of ${a.delivery_id}`);
    d.signed_by.push(signer);
    agreed(c, d);
  }
  keep(c, a.delivery_id, d);
}

/** Both sides have signed. */
function agreed(c: Case, d: s.Delivery): void {
  const terms = d.terms as p.OpenDelivery;
  if (!c.version) {
    change(d, OPEN, PAYMENT_NONE);
    d.custodian_id = terms.seller_id;
    return;
  }
  d.agreed_at_s = c.block_s;
  d.announced = [];
  if (!d.holdings.length) holding(d, terms.seller_id).quantity = terms.quantity;
  d.custodian_id = custodian(d);
  const notes = new Notes({ delivery_id: terms.delivery_id, transaction_id: c.id });
  terms.lots.forEach((lot, place) => findLot(c, lot, terms.items[place], notes));
  for (const each of terms.units) if (!c.store.packed.has(each)) notes.add("unit-unknown", `nobody is on record as the packer of unit ${each}`);
  for (const each of terms.required_certificates) {
    const found = c.store.read<s.Certificates>("Certificates", at.certificates(each.holder_id, each.kind));
    const standing = (found?.by_authority ?? []).filter((one) => !one.revoked);
    if (!standing.length) notes.add("certificate-missing", `${each.holder_id} holds no certificate ${quoted(each.kind)}`);
    d.certificates = [...d.certificates, ...standing];
  }
  d.findings.push(...notes.found);
  followFacts(d);
}

function findLot(c: Case, lot: p.Lot, item: p.DeliveredLot | undefined, notes: Notes): void {
  const found = c.store.read<s.Lot>("Lot", at.lot(lot.gtin, lot.lot));
  if (found?.status && found.status.status !== p.SetLotStatus_Status.CLEARED) {
    notes.add("lot-withheld", `${lotName(lot)} is ${withheld(found.status)}`);
  }
  if (!found?.party_id) notes.add("lot-unknown", `nobody is on record as the maker of ${lotName(lot)}`);
  if (!item || !found?.party_id) return;
  if (found.unit !== item.unit) notes.add("unit-mismatch", `${lotName(lot)} counts in ${found.unit}, not in ${item.unit}`);
  else if (item.quantity > found.made) {
    notes.add("lot-overdrawn", `${item.quantity} ${item.unit} of ${lotName(lot)} sold, ${found.made} made`);
  }
}

export function acceptDelivery(c: Case, a: p.AcceptDelivery): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  const terms = d.terms as p.OpenDelivery;
  signedByParty(c, terms.buyer_id, TRADE);
  if (c.version) allowed(d, PART_DELIVERED, DELIVERED, DISPUTED);
  else allowed(d, DELIVERED, DISPUTED);
  must(d.status !== DISPUTED || d.disputed_by === terms.buyer_id, "wrong-state", `delivery ${a.delivery_id} is disputed by ${d.disputed_by}`);
  change(d, ACCEPTED, RELEASED);
  if (c.version) {
    d.accepted_quantity = a.received_quantity;
    const due = d.sent_quantity - d.returned_quantity;
    if (a.received_quantity && (a.received_quantity !== due || a.received_quantity !== terms.quantity)) {
      const notes = new Notes({ delivery_id: a.delivery_id, transaction_id: c.id });
      notes.add("quantity-differs", `${a.received_quantity} ${terms.unit} received, ${due} sent, ${terms.quantity} ordered`);
      d.findings.push(...notes.found);
    }
  }
  keep(c, a.delivery_id, d);
}

export function disputeDelivery(c: Case, a: p.DisputeDelivery): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  const signer = trader(c, d.terms as p.OpenDelivery);
  if (c.version) allowed(d, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED);
  else allowed(d, IN_TRANSIT, DELIVERED);
  change(d, DISPUTED, WITHHELD);
  d.dispute = a;
  d.disputed_by = signer;
  keep(c, a.delivery_id, d);
}

export function closeDelivery(c: Case, a: p.CloseDelivery): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  const signer = trader(c, d.terms as p.OpenDelivery);
  allowed(d, ACCEPTED, DISPUTED);
  must(d.status !== ACCEPTED || a.payment === RELEASED, "payment-differs", `delivery ${a.delivery_id} was accepted`);
  const first = d.closing_signed_by[0];
  if (first === undefined || first === signer) {
    must(!d.closing || !equal("CloseDelivery", d.closing, a), "already-signed", `${signer} has signed this end`);
    d.closing = a;
    d.closing_signed_by = [signer];
  } else {
    must(d.closing && equal("CloseDelivery", d.closing, a), "terms-differ", "the other party signed another end");
    d.closing_signed_by.push(signer);
    change(d, CLOSED, a.payment);
  }
  keep(c, a.delivery_id, d);
}

export function cancelDelivery(c: Case, a: p.CancelDelivery): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  const signer = trader(c, d.terms as p.OpenDelivery);
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED);
  const alone = d.signed_by.length === 1 && d.signed_by[0] === signer && !moved(d);
  const first = d.cancelling_signed_by[0];
  if (alone || (first !== undefined && first !== signer)) {
    must(alone || (d.cancelling && equal("CancelDelivery", d.cancelling, a)), "terms-differ", "the other party signed another end");
    d.cancelling = a;
    d.cancelling_signed_by = alone ? [signer] : [...d.cancelling_signed_by, signer];
    const [cancelling, signed] = [d.cancelling, d.cancelling_signed_by];
    change(d, CANCELLED, PAYMENT_NONE);
    [d.cancelling, d.cancelling_signed_by] = [cancelling, signed];
  } else {
    must(!d.cancelling || !equal("CancelDelivery", d.cancelling, a), "already-signed", `${signer} has signed this end`);
    d.cancelling = a;
    d.cancelling_signed_by = [signer];
  }
  keep(c, a.delivery_id, d);
}

/** Checks that an authority may speak of a delivery. */
function authority(c: Case, d: s.Delivery, authorityId: string): void {
  const terms = d.terms as p.OpenDelivery;
  signedByParty(c, authorityId, p.KeyDuties_Duty.EVIDENCE);
  partyWithRole(c, authorityId, p.Role.AUTHORITY);
  const parties = [terms.seller_id, terms.buyer_id, ...carriersOf(terms)];
  must(!parties.includes(authorityId), "not-the-party", `${authorityId} is a party of the delivery`);
  const named = d.signed_by.length === 2 ? terms.authority_id : "";
  must(!named || named === authorityId, "not-the-party", `${named} is to settle the delivery`);
}

export function announceSettlement(c: Case, a: p.AnnounceSettlement): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  authority(c, d, a.authority_id);
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED, ACCEPTED);
  must(!c.block_s || a.at_ms + DAY_MS >= c.block_s * 1000n, "antedated", `the notice's time lies more than a day before its block`);
  d.announced = [...d.announced.filter((each) => each.authority_id !== a.authority_id), a].slice(-4);
  keep(c, a.delivery_id, d);
}

export function settleDelivery(c: Case, a: p.SettleDelivery): void {
  const d = copyOf(deliveryOf(c, a.delivery_id));
  const terms = d.terms as p.OpenDelivery;
  authority(c, d, a.authority_id);
  allowed(d, OFFERED, OPEN, IN_TRANSIT, PART_DELIVERED, DELIVERED, DISPUTED, ACCEPTED);
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
  change(d, SETTLED, a.payment);
  keep(c, a.delivery_id, d);
}
