// HandOver, and what it does to a delivery and to a trip.

import { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, carriersOf, coSign, create, deliveryOf, Notes, signingParty } from "./case.ts";
import { beginHoldings, custodian, copyOf, followFacts, holding, isFlowing, moved, refresh, voidEnds } from "./life.ts";
import { must } from "./refusal.ts";
import { atLeast } from "./times.ts";
import { judgeHandOver } from "./tripend.ts";

const { OPEN, IN_TRANSIT, DELIVERED } = s.Delivery_Status;
const MOST_HELD = 9n * 10n ** 15n;
const EARLY = 8;

export function handOver(c: Case, a: p.HandOver): void {
  const signer = signingParty(c);
  const trip = c.store.read<s.Trip>("Trip", at.trip(a.trip_id));
  must(trip || c.version, "unknown-trip", `trip ${a.trip_id} was never started`);
  must(!trip || trip.start?.delivery_ids.includes(a.delivery_id), "not-on-trip", `the trip does not carry ${a.delivery_id}`);
  const d = copyOf(deliveryOf(c, a.delivery_id));
  if (c.version) refresh(d);
  const terms = d.terms as p.OpenDelivery;
  must(c.store.has(at.site(a.site_id)), "unknown-site", `site ${a.site_id} is not registered`);
  const hands = [terms.seller_id, terms.buyer_id, ...carriersOf(terms)];
  must(a.from_party_id !== a.to_party_id && hands.includes(a.from_party_id) && hands.includes(a.to_party_id),
    "not-the-party", "not between two of the delivery's parties");
  must([a.from_party_id, a.to_party_id].includes(signer), "not-the-party", `signed by ${signer}, which is neither giver nor taker`);
  if (c.version) direction(a, terms);
  const address = at.handOver(a.trip_id, a.delivery_id, a.site_id, a.from_party_id, a.to_party_id);
  const before = c.store.read<s.HandOverState>("HandOverState", address);
  const signed = coSign("HandOver", `the handover of ${a.delivery_id}`, { terms: before?.terms, signed_by: before?.signed_by ?? [] }, a, signer);
  c.store.write("HandOverState", address, create<s.HandOverState>("state.HandOverState", { terms: signed.terms, signed_by: signed.signed_by }));
  if (!signed.both) return;
  const notes = new Notes({ trip_id: a.trip_id, delivery_id: c.version ? a.delivery_id : "", transaction_id: c.id });
  if (!trip) {
    must(d.early.length < EARLY, "unknown-trip", `${EARLY} handovers of ${a.delivery_id} wait for their trips`);
    d.early.push(a);
  } else {
    siteOnTrip(trip.start as p.StartTrip, a, notes);
    if (c.version) judgeHandOver(c, trip, a, terms, notes, d);
  }
  if (c.version) move(d, a, notes);
  else moveWhole(d, a, notes);
  c.store.write("Delivery", at.delivery(a.delivery_id), d);
  notes.keep(c, a.trip_id);
}

function direction(a: p.HandOver, terms: p.OpenDelivery): void {
  const back = a.from_party_id === terms.buyer_id || a.to_party_id === terms.seller_id;
  const forth = a.from_party_id === terms.seller_id || a.to_party_id === terms.buyer_id;
  must(!(back && !a.returned) && !(forth && a.returned), "wrong-direction", "the handover goes the other way");
}

export function siteOnTrip(start: p.StartTrip, a: p.HandOver, notes: Notes): void {
  if (![start.origin_site_id, start.destination_site_id, ...start.via_site_ids].includes(a.site_id)) {
    notes.add("site-not-on-trip", `the trip does not name site ${a.site_id}`);
  }
}

function moveWhole(d: s.Delivery, a: p.HandOver, notes: Notes): void {
  if (d.custodian_id !== a.from_party_id) {
    notes.add("custody-gap", `${a.delivery_id} was with ${d.custodian_id || "nobody"}, not with ${a.from_party_id}`);
  }
  d.custodian_id = a.to_party_id;
  if (a.to_party_id === d.terms?.buyer_id && (d.status === OPEN || d.status === IN_TRANSIT)) {
    d.status = DELIVERED;
    d.payment = p.Payment.DUE;
  }
}

const added = (sum: bigint, more: bigint): bigint => (sum + more > MOST_HELD ? MOST_HELD : sum + more);

function move(d: s.Delivery, a: p.HandOver, notes: Notes): void {
  const terms = d.terms as p.OpenDelivery;
  beginHoldings(d);
  const quantity = moved(a, terms);
  const giver = holding(d, a.from_party_id);
  const taker = holding(d, a.to_party_id);
  if (giver.quantity < quantity) {
    notes.add("custody-gap", `${a.from_party_id} hands over ${quantity} ${terms.unit} of ${a.delivery_id} and has ${atLeast(giver.quantity, 0n)} on record`);
  }
  compareSeals(a.from_party_id, giver.received_seals, a.seal_numbers, a, notes);
  // Handovers come in any order: the taker may have handed over already what it receives here.
  if (taker.quantity < 0n) compareSeals(a.to_party_id, a.seal_numbers, taker.given_seals, a, notes);
  giver.quantity = atLeast(giver.quantity - quantity, -MOST_HELD);
  taker.quantity = added(taker.quantity, quantity);
  giver.given_seals = [...a.seal_numbers];
  taker.received_seals = [...a.seal_numbers];
  if (a.to_party_id === terms.seller_id) d.returned_quantity = added(d.returned_quantity, quantity);
  else if (a.from_party_id === terms.seller_id) d.sent_quantity = added(d.sent_quantity, quantity);
  if (a.to_party_id === terms.buyer_id) d.received_quantity = added(d.received_quantity, quantity);
  d.custodian_id = custodian(d);
  voidEnds(d);
  if (isFlowing(d)) followFacts(d);
}

function compareSeals(party: string, received: readonly string[], given: readonly string[], a: p.HandOver, notes: Notes): void {
  if (!received.length || sameSet(received, given)) return;
  const list = (numbers: readonly string[]): string => [...numbers].sort().join(", ");
  notes.add("seal-number-differs", `${party} received ${a.delivery_id} under seals ${list(received)} and hands it over under ${list(given) || "none"}`);
}

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each) => b.includes(each));
