// docs/contract.md, "Actions": the inputs and outputs that a transaction's header must have.

import type { payload as p, sawtooth } from "../messages.ts";
import * as at from "./address.ts";
import type { ActionName } from "./form.ts";
import { must } from "./refusal.ts";

interface Places {
  inputs: string[];
  outputs: string[];
  /** Whether up to 32 different deliveries may follow the outputs. */
  deliveries?: boolean;
}

type Table = {
  [Action in keyof p.Payload]-?: (action: NonNullable<p.Payload[Action]>, key: string, signer: string, version: number) => Places;
};

const DELIVERY = /^b7a4b705[0-9a-f]{62}$/;

const TABLE: Table = {
  register_party: (a) => ({ inputs: [at.ADMIN_KEYS], outputs: [at.party(a.party_id), at.KEYS] }),
  rotate_keys: (a, key) => ({ inputs: [key], outputs: [at.party(a.party_id), at.KEYS] }),
  register_site: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.site(a.site_id)] }),
  register_device: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.device(a.device_id), at.KEYS] }),
  certify_party: (a, key) => ({
    inputs: [key, at.party(a.party_id), at.party(a.holder_id)],
    outputs: [at.certificates(a.holder_id, a.kind)],
  }),
  open_delivery: (a, key, _, version) => {
    const inputs = [key, ...[a.seller_id, a.carrier_id, a.buyer_id].map(at.party)];
    if (version) {
      inputs.push(...a.other_carrier_ids.map(at.party));
      if (a.authority_id) inputs.push(at.party(a.authority_id));
      inputs.push(at.BLOCK_INFO, ...a.lots.map((each) => at.lot(each.gtin, each.lot)), ...a.units.map(at.unit));
      inputs.push(...a.required_certificates.map((each) => at.certificates(each.holder_id, each.kind)));
    }
    return { inputs, outputs: [at.delivery(a.delivery_id)] };
  },
  accept_delivery: (a, key) => ({ inputs: [key], outputs: [at.delivery(a.delivery_id)] }),
  dispute_delivery: (a, key) => ({ inputs: [key], outputs: [at.delivery(a.delivery_id)] }),
  close_delivery: (a, key) => ({ inputs: [key], outputs: [at.delivery(a.delivery_id)] }),
  cancel_delivery: (a, key) => ({ inputs: [key], outputs: [at.delivery(a.delivery_id)] }),
  announce_settlement: (a, key) => ({
    inputs: [key, at.party(a.authority_id), at.BLOCK_INFO],
    outputs: [at.delivery(a.delivery_id)],
  }),
  settle_delivery: (a, key) => ({
    inputs: [key, at.party(a.authority_id), at.BLOCK_INFO],
    outputs: [at.delivery(a.delivery_id)],
  }),
  start_trip: (a, key, signer, version) => ({
    inputs: [
      key,
      at.device(a.device_id),
      ...[a.origin_site_id, ...a.via_site_ids, a.destination_site_id].map(at.site),
      ...(version ? [at.BLOCK_INFO] : []),
    ],
    outputs: [at.tripPrefix(a.trip_id), ...a.delivery_ids.map(at.delivery), ...(version ? [at.series(signer)] : [])],
  }),
  record_reading: (a, key, _, version) => recorded(a, key, version),
  record_run: (a, key, _, version) => recorded(a, key, version),
  seal_trip: (a, key, signer, version) => ({
    inputs: version ? [key, at.device(a.device_id), at.BLOCK_INFO] : [key],
    outputs: version ? [at.tripPrefix(a.trip_id), at.series(signer)] : [at.tripPrefix(a.trip_id)],
    deliveries: version > 0,
  }),
  record_video: (a, key) => ({ inputs: [key], outputs: [at.tripPrefix(a.trip_id)] }),
  hand_over: (a, key) => ({
    inputs: [key, at.site(a.site_id)],
    outputs: [at.tripPrefix(a.trip_id), at.delivery(a.delivery_id)],
  }),
  close_trip: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.tripPrefix(a.trip_id)] }),
  place_hold: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.tripPrefix(a.trip_id)] }),
  release_hold: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.tripPrefix(a.trip_id)] }),
  transform_lots: (a, key) => ({
    inputs: [key, at.party(a.party_id), at.site(a.site_id)],
    outputs: [at.transformation(a.transformation_id), ...[...a.inputs, ...a.outputs].map((each) => at.lot(each.gtin, each.lot))],
  }),
  set_lot_status: (a, key) => ({ inputs: [key, at.party(a.party_id)], outputs: [at.lot(a.gtin, a.lot)] }),
  commit_accesses: (a, key, signer) => ({
    inputs: [key, at.site(a.site_id), at.BLOCK_INFO],
    outputs: [at.newestAccesses(a.site_id, a.record_sha256, signer), at.accesses(a.site_id, a.record_sha256, signer, a.sequence)],
  }),
  pack_unit: (a, key) => ({ inputs: [key, at.party(a.party_id), at.site(a.site_id)], outputs: [at.UNITS] }),
};

function recorded(a: { trip_id: string; device_id: string }, key: string, version: number): Places {
  return {
    inputs: [key, at.device(a.device_id), ...(version ? [at.BLOCK_INFO] : [])],
    outputs: [at.tripPrefix(a.trip_id)],
    deliveries: true,
  };
}

/** Checks inputs and outputs; returns the deliveries that the transaction declares. */
export function checkPlaces(name: ActionName, action: object, header: sawtooth.TransactionHeader, version: number): Set<string> {
  const signer = header.signer_public_key;
  must(header.batcher_public_key === signer, "form", `signed by ${signer}, made for a batch by ${header.batcher_public_key}`);
  const places = (TABLE[name] as (action: object, key: string, signer: string, version: number) => Places)(
    action, at.key(signer), signer, version);
  const declared = places.deliveries ? header.outputs.slice(places.outputs.length) : [];
  const outputs = [...places.outputs, ...declared];
  must(declared.length <= 32 && new Set(declared).size === declared.length && declared.every((each) => DELIVERY.test(each)),
    "form", "the outputs declare something other than up to 32 different deliveries");
  must(equal(header.outputs, outputs), "form", `the outputs of ${name} are other than it needs`);
  must(equal(header.inputs, [...places.inputs, ...outputs]), "form", `the inputs of ${name} are other than it needs`);
  return new Set(declared);
}

function equal(found: readonly string[], expected: readonly string[]): boolean {
  return found.length === expected.length && found.every((each, place) => each === expected[place]);
}
