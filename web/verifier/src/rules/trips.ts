// StartTrip, CloseTrip, PlaceHold, ReleaseHold, RecordVideo.

import { hex } from "../hash.ts";
import { payload as p, state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, carriersOf, create, Notes, signedByDevice, signedByParty, tripOf } from "./case.ts";
import { longestOf } from "./chains.ts";
import { quoted } from "./deliveries.ts";
import { siteOnTrip } from "./handovers.ts";
import { copyOf, followFacts, isEnded, isFlowing, moved, refresh, statusOf, wholeOf } from "./life.ts";
import { must } from "./refusal.ts";
import { handOverTimes } from "./tripend.ts";
import { implausible } from "./times.ts";

const { OFFERED, OPEN, IN_TRANSIT, CLOSED, CANCELLED, SETTLED } = s.Delivery_Status;

export function startTrip(c: Case, a: p.StartTrip): void {
  const key = signedByDevice(c);
  must(key.owner_id === a.device_id, "unknown-device", `key ${c.header.signer_public_key} is not of device ${a.device_id}`);
  must(!c.store.has(at.trip(a.trip_id)), "trip-exists", `trip ${a.trip_id} was started before`);
  const notes = new Notes({ trip_id: a.trip_id, device_id: a.device_id, transaction_id: c.id });
  if (key.revoked) notes.add("key-revoked", `key ${c.header.signer_public_key} was revoked`);
  for (const each of new Set([a.origin_site_id, ...a.via_site_ids, a.destination_site_id])) {
    if (!c.store.has(at.site(each))) notes.add("site-unknown", `site ${quoted(each)} is not registered`);
  }
  const device = c.store.read<s.Device>("Device", at.device(a.device_id)) as s.Device;
  const trip = create<s.Trip>("state.Trip", { start: a, party_ids: [device.party_id] });
  if (c.version) {
    const destination = c.store.read<s.Site>("Site", at.site(a.destination_site_id))?.site;
    if (destination?.radius_m) {
      const { site_id, position, radius_m } = destination;
      trip.destination = create<p.RegisterSite>("payload.RegisterSite", { site_id, position, radius_m });
    }
    trip.carrier_id = device.party_id;
  }
  for (const each of a.delivery_ids) carry(c, trip, each, device.party_id, key.revoked, notes);
  trip.party_ids = [...new Set(trip.party_ids)].sort();
  if (c.version && !a.derived_from.length) {
    trip.begun_at_s = c.block_s;
    const late = implausible(a.clock?.utc_ms ?? a.started_at_ms, c.block_s, trip);
    if (late) notes.add("time-implausible", late);
  }
  c.store.write("Trip", at.trip(a.trip_id), trip);
  notes.keep(c, a.trip_id);
}

/** Takes a delivery onto a trip, with its limits as they are now. */
function carry(c: Case, trip: s.Trip, id: string, party: string, revoked: boolean, notes: Notes): void {
  const found = c.store.read<s.Delivery>("Delivery", at.delivery(id));
  if (!found) return notes.add("delivery-unknown", `delivery ${id} does not exist`);
  const d = copyOf(found);
  const [start, terms] = [trip.start as p.StartTrip, d.terms as p.OpenDelivery];
  const carriers = carriersOf(terms);
  trip.party_ids.push(terms.seller_id, ...carriers, terms.buyer_id);
  const carried = create<s.TripLimits>("state.TripLimits", { delivery_id: terms.delivery_id, limits: terms.limits });
  if (c.version) {
    carried.agreed_at_s = d.agreed_at_s;
    carried.limits = terms.limits.map((each) => ({ ...each, longest_silence_s: longestOf(each) }));
  }
  const joined = d.early.filter((each) => each.trip_id === start.trip_id);
  d.early = d.early.filter((each) => each.trip_id !== start.trip_id);
  for (const each of joined) siteOnTrip(start, each, notes);
  for (const each of joined) handOverTimes(carried, trip.carrier_id, each, terms);
  const over = c.version > 0 && endedBefore(d, start.started_at_ms);
  if (!over) trip.deliveries.push(carried); // the trip could not have changed what its parties ended before
  const counts = !revoked && !over;
  const keep = (): void => c.store.write("Delivery", at.delivery(id), d);
  if (!carriers.includes(party)) {
    notes.add("carrier-mismatch", `${id} is to be carried by ${carriers.join(", ")}, not by ${party}`);
    if (joined.length) keep();
    return; // its limits are watched, but a stranger must not change its state
  }
  if (over || !(c.version ? underWay(d, joined) : d.status === OPEN)) notes.add("delivery-not-open", `delivery ${id} is ${statusOf(d)}`);
  else if (!revoked && !c.version) {
    d.status = IN_TRANSIT;
    keep();
  }
  certificates(d, start.started_at_ms, notes);
  if (!c.version || !(joined.length || counts)) return;
  d.carried ||= counts;
  if (counts) d.trips += 1n;
  if (isFlowing(d)) followFacts(d);
  keep();
}

/** Whether a delivery was not delivered before this trip; what was handed over on it does not count. */
function underWay(d: s.Delivery, joined: readonly p.HandOver[]): boolean {
  refresh(d);
  if (d.status === OFFERED || !joined.length) return isFlowing(d);
  const terms = d.terms as p.OpenDelivery;
  const here = joined.filter((each) => each.to_party_id === terms.buyer_id).reduce((sum, each) => sum + moved(each, terms), 0n);
  return d.received_quantity - here < wholeOf(terms);
}

/** Whether the word that ended a delivery is older than the start. */
function endedBefore(d: s.Delivery, startedAtMs: bigint): boolean {
  const word = { [CLOSED]: d.closing, [CANCELLED]: d.cancelling, [SETTLED]: d.settlement }[d.status];
  return isEnded(d) && startedAtMs > (word?.at_ms ?? 0n);
}

function certificates(d: s.Delivery, startedAtMs: bigint, notes: Notes): void {
  for (const each of d.terms?.required_certificates ?? []) {
    const held = d.certificates.filter((one) => one.holder_id === each.holder_id && one.kind === each.kind);
    if (held.length && !held.some((one) => one.valid_from_ms <= startedAtMs && startedAtMs <= one.valid_until_ms)) {
      notes.add("certificate-expired", `the certificate ${quoted(each.kind)} of ${each.holder_id} is not valid then`);
    }
  }
}

export function closeTrip(c: Case, a: p.CloseTrip): void {
  signedByParty(c, a.party_id);
  const trip = tripOf(c, a.trip_id);
  must(trip.party_ids.includes(a.party_id), "not-the-party", `trip ${a.trip_id} does not concern ${a.party_id}`);
  must(!trip.close, "trip-closed", `trip ${a.trip_id} was closed before`);
  const notes = new Notes({ trip_id: a.trip_id, transaction_id: c.id });
  const start = trip.start as p.StartTrip;
  const closed = { ...trip, close: a, missing: [...trip.missing] };
  for (const device of [start.device_id, ...start.other_device_ids]) {
    const chain = c.store.read<s.Chain>("Chain", at.chain(a.trip_id, device));
    if (!chain?.seal) {
      notes.add("seal-missing", `${device} has not sealed the trip`, { device_id: device });
      continue;
    }
    const recorded = new Set(chain.recorded_videos.map(hex));
    const missing = chain.seal.recordings.map((each) => hex(each.sha256)).filter((each) => !recorded.has(each));
    if (missing.length) {
      const names = [...missing.slice(0, 8), ...(missing.length > 8 ? ["…"] : [])].join(", ");
      notes.add("recording-missing",
        `${missing.length} of ${chain.seal.recordings.length} sealed recordings were not recorded: ${names}`, { device_id: device });
    }
  }
  if (c.version) neverMeasured(c, closed, notes);
  c.store.write("Trip", at.trip(a.trip_id), closed);
  notes.keep(c, a.trip_id);
}

/** Adds the limited quantities that no device of the trip measured to those that are found missing. */
export function neverMeasured(c: Case, trip: s.Trip, notes: Notes): number[] {
  const start = trip.start as p.StartTrip;
  const chains = [start.device_id, ...start.other_device_ids].map((device) =>
    c.store.read<s.Chain>("Chain", at.chain(start.trip_id, device)));
  const limited = [...new Set(trip.deliveries.flatMap((each) => each.limits.map((limit) => limit.quantity)))];
  const missing = limited.filter((quantity) =>
    !chains.some((chain) => chain?.silences.some((each) => each.quantity === quantity && each.measured)));
  for (const quantity of missing) {
    if (trip.missing.includes(quantity)) continue;
    trip.missing.push(quantity);
    notes.add("quantity-missing", `${QUANTITIES[quantity]} is limited, and no device of the trip measured it`);
  }
  return missing;
}

export const QUANTITIES: Record<number, string> = { 1: "temperature", 2: "humidity", 3: "pressure" };

export function placeHold(c: Case, a: p.PlaceHold): void {
  signedByParty(c, a.party_id);
  const trip = tripOf(c, a.trip_id);
  const concerned = trip.party_ids.includes(a.party_id)
    || c.store.read<s.Party>("Party", at.party(a.party_id))?.roles.includes(p.Role.AUTHORITY);
  must(concerned, "not-the-party", `trip ${a.trip_id} does not concern ${a.party_id}`);
  const address = at.hold(a.trip_id, a.hold_id);
  must(!c.store.has(address), "hold-exists", `hold ${a.hold_id} was placed before`);
  c.store.write("Hold", address, create<s.Hold>("state.Hold", { placed: a }));
}

export function releaseHold(c: Case, a: p.ReleaseHold): void {
  signedByParty(c, a.party_id);
  tripOf(c, a.trip_id);
  const address = at.hold(a.trip_id, a.hold_id);
  const hold = c.store.read<s.Hold>("Hold", address);
  must(hold?.placed, "unknown-hold", `hold ${a.hold_id} was never placed`);
  must(hold.placed.party_id === a.party_id, "not-the-party", `${hold.placed.party_id} placed the hold`);
  must(!hold.released, "hold-released", `hold ${a.hold_id} was released before`);
  c.store.write("Hold", address, { ...hold, released: a });
}

export function recordVideo(c: Case, a: p.RecordVideo): void {
  const key = signedByDevice(c);
  const trip = tripOf(c, a.trip_id);
  must(key.owner_id === a.device_id, "unknown-device", `key ${c.header.signer_public_key} is not of device ${a.device_id}`);
  const chain = c.store.read<s.Chain>("Chain", at.chain(a.trip_id, a.device_id));
  must(chain?.seal, "not-sealed", `device ${a.device_id} has not sealed the trip`);
  must(a.seal_transaction_id === chain.seal_transaction_id && c.header.dependencies.includes(a.seal_transaction_id),
    "seal-not-named", "the digest does not name its seal");
  must(chain.count >= chain.seal.reading_count, "readings-missing", `${chain.count} of ${chain.seal.reading_count} readings are committed`);
  const notes = new Notes({ trip_id: a.trip_id, device_id: a.device_id, transaction_id: c.id });
  if (key.revoked) notes.add("key-revoked", `key ${c.header.signer_public_key} was revoked`);
  if (trip.close) notes.add("after-close", `${trip.close.party_id} had closed the trip`);
  const name = hex(a.sha256);
  if (chain.recorded_videos.some((each) => hex(each) === name)) notes.add("recording-repeated", `${name} was recorded before`);
  else if (!chain.seal.recordings.some((each) => hex(each.sha256) === name && each.size === a.size)) {
    notes.add("recording-not-sealed", `the seal does not name ${name} with ${a.size} bytes`);
  } else c.store.write("Chain", at.chain(a.trip_id, a.device_id), { ...chain, recorded_videos: [...chain.recorded_videos, a.sha256] });
  notes.keep(c, a.trip_id);
}
