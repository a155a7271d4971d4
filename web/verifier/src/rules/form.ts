// docs/contract.md, "Form": what an action may contain, before the state is asked.

import { ascii, concat, hex, sha256 } from "../hash.ts";
import { payload as p } from "../messages.ts";
import { must } from "./refusal.ts";
import { isGln, isGs1, isGtin, isId, isKey, isSealNumber, isSscc, isText, isTripId, isUnit } from "./text.ts";
import { LAST_MS } from "./times.ts";

const MOST_SUM = 10n ** 15n;
const I63 = 1n << 63n;
/** The version of the rules since which a device says what is wrong with it. */
export const TELLING = 2;
const MOST_TOLD = 32;
/** Remarks of kinds from here on happen once. */
const ONCE_FROM = 32;

const form = (holds: unknown, detail: string): void => must(holds, "form", detail);
const id = (text: string, name: string): void => form(isId(text), `${name} ${text} is no id`);
const trip = (text: string): void => form(isTripId(text), `trip_id ${text} is no trip's id`);
const time = (ms: bigint, name: string): void => form(ms <= LAST_MS, `${name} ${ms} is after the year 9999`);
const words = (text: string, name: string): void => form(isText(text, 200), `${name} is not 1 to 200 characters of text`);
const digest = (bytes: Uint8Array, name: string): void => form(bytes.length === 32, `${name} is ${bytes.length} bytes, not 32`);
const most = (values: readonly unknown[], count: number, name: string): void =>
  form(values.length <= count, `${values.length} ${name}, at most ${count} are allowed`);

function different(values: readonly string[], name: string): void {
  form(new Set(values).size === values.length, `${name} has something twice`);
}

function publicKeys(keys: readonly string[], name = "public_keys"): void {
  most(keys, 16, name);
  for (const each of keys) form(isKey(each), `${each} in ${name} is no public key`);
  different(keys, name);
}

function gtinAndLot(value: { gtin: string; lot: string }, version: number): void {
  form(isGtin(value.gtin), `${value.gtin} is no GTIN`);
  form(version ? isGs1(value.lot) : isText(value.lot, 20), "lot is no lot number");
}

function amount(quantity: bigint, unit: string, version: number): void {
  form(quantity >= 1n, "quantity is 0");
  form(isUnit(unit, version), `${unit} is no unit`);
}

function lotQuantities(values: readonly p.LotQuantity[], version: number): void {
  for (const each of values) {
    gtinAndLot(each, version);
    amount(each.quantity, each.unit, version);
    form(each.quantity <= MOST_SUM, `quantity ${each.quantity} is over ${MOST_SUM}`);
  }
  different(values.map((each) => `${each.gtin}\0${each.lot}`), "lots");
}

function duties(values: readonly p.KeyDuties[], keys: readonly string[]): void {
  different(values.map((each) => each.public_key), "key_duties");
  for (const each of values) {
    form(keys.includes(each.public_key), `key_duties name ${each.public_key}, which is not added`);
    form(each.duties.length > 0 && each.duties.every((duty) => duty >= 1 && duty <= 6), "duties are malformed");
    different(each.duties.map(String), "duties");
  }
}

function position(value: p.Position | undefined): void {
  if (!value) return;
  form(Math.abs(value.latitude_e7) <= 900_000_000, `latitude ${value.latitude_e7} is out of range`);
  form(Math.abs(value.longitude_e7) <= 1_800_000_000, `longitude ${value.longitude_e7} is out of range`);
}

function clock(value: p.Clock | undefined, needed: boolean): void {
  if (!value) return form(!needed, "there is no clock");
  time(value.utc_ms, "utc_ms");
  form(value.monotonic_ms < I63, "monotonic_ms is out of range");
  form(value.boot_id.length === 16, `boot_id is ${value.boot_id.length} bytes, not 16`);
  form(value.origin >= 0 && value.origin <= 3, `origin ${value.origin} is unknown`);
}

/** What a reading tells besides its values. */
function told(value: p.RunReading): void {
  for (const each of [value.remarks, value.filmed, value.film]) most(each, MOST_TOLD, "remarks, whole recordings or moments of films");
  for (const each of value.remarks) {
    const once = each.kind >= ONCE_FROM;
    form(once ? each.kind <= p.Remark_Kind.CLOCK_CORRECTED : each.kind >= 1 && each.kind <= p.Remark_Kind.CARD_READ_ONLY, `a remark is of unknown kind ${each.kind}`);
    if (each.subject) id(each.subject, "subject");
    form(!(each.ended && once), `a remark of kind ${each.kind} has no end`);
    time(each.since_ms, "since_ms");
    form(each.amount < I63, "amount is out of range");
  }
  for (const each of value.filmed) {
    digest(each.sha256, "sha256");
    form(each.size < I63, "size is out of range");
  }
  for (const each of value.film) {
    id(each.pseudo_file_id, "pseudo_file_id");
    time(each.offset_ms, "offset_ms");
  }
}

function measured(value: p.RunReading, version: number): void {
  clock(value.clock, true);
  const within = (of: number | undefined, low: number, high: number, name: string): void =>
    form(of === undefined || (of >= low && of <= high), `${name} ${of} is out of range`);
  within(value.temperature_mcel, -273_150, 1_000_000, "temperature_mcel");
  within(value.humidity_mpct, 0, 100_000, "humidity_mpct");
  within(value.pressure_pa, 0, 2_000_000, "pressure_pa");
  position(value.position);
  form(value.tamper_flags < (version < TELLING ? 64 : 512), `tamper_flags ${value.tamper_flags} are unknown`);
  told(value);
}

function limit(value: p.Limit, version: number): void {
  form(value.quantity >= 1 && value.quantity <= 3, `quantity ${value.quantity} is unknown`);
  form(value.minimum !== undefined || value.maximum !== undefined, "a limit has neither minimum nor maximum");
  form(value.minimum === undefined || value.maximum === undefined || value.minimum <= value.maximum, "a limit's minimum is above its maximum");
  form(version || value.longest_silence_s === 0, "longest_silence_s is not of these rules");
}

/** What version 1.1 adds to the terms of a delivery. */
function agreement(terms: p.OpenDelivery, version: number): void {
  const carriers = [terms.carrier_id, ...terms.other_carrier_ids];
  const parties = [terms.seller_id, ...carriers, terms.buyer_id];
  most(terms.other_carrier_ids, 8, "other_carrier_ids");
  different(carriers, "carriers");
  form(!terms.other_carrier_ids.some((each) => [terms.seller_id, terms.buyer_id].includes(each)), "seller and buyer are not among the other carriers");
  time(terms.deadline_ms, "deadline_ms");
  form(!terms.authority_id || !parties.includes(terms.authority_id), "the authority is a party of the delivery");
  const nameOf = (lot: { gtin: string; lot: string } | undefined): string => `${lot?.gtin ?? ""}\0${lot?.lot ?? ""}`;
  const items = terms.items.map((each) => nameOf(each.lot));
  const lots = new Set(terms.lots.map(nameOf));
  form(!items.length || (items.length === lots.size && new Set(items).size === lots.size && items.every((each) => lots.has(each))), "items are not of each lot once");
  for (const each of terms.items) {
    words(each.product, "product");
    amount(each.quantity, each.unit, version);
  }
  most(terms.units, 100, "units");
  for (const each of terms.units) form(isSscc(each), `${each} is no SSCC`);
  different(terms.units, "units");
  most(terms.required_certificates, 16, "required_certificates");
  for (const each of terms.required_certificates) {
    form(parties.includes(each.holder_id), `${each.holder_id} is no party of the delivery`);
    words(each.kind, "kind");
  }
  different(terms.required_certificates.map((each) => `${each.holder_id}\0${each.kind}`), "required_certificates");
}

type Checks = { [Action in keyof p.Payload]-?: (action: NonNullable<p.Payload[Action]>, version: number) => void };

const CHECKS: Checks = {
  register_party(action) {
    id(action.party_id, "party_id");
    words(action.name, "name");
    publicKeys(action.public_keys);
    form(action.roles.every((role) => role >= 1 && role <= 5), "a role is unknown");
    different(action.roles.map(String), "roles");
    duties(action.key_duties, action.public_keys);
    form(!action.public_keys.length || mayRotate(action.public_keys, action.key_duties), "no key may rotate keys");
  },
  rotate_keys(action) {
    id(action.party_id, "party_id");
    publicKeys(action.added, "added");
    publicKeys(action.revoked, "revoked");
    form(action.added.length + action.revoked.length, "no key is named");
    different([...action.added, ...action.revoked], "added and revoked");
    duties(action.key_duties, action.added);
  },
  register_site(action) {
    id(action.site_id, "site_id");
    words(action.name, "name");
    form(action.gln === "" || isGln(action.gln), `${action.gln} is no GLN`);
    publicKeys(action.gateway_public_keys, "gateway_public_keys");
    position(action.position);
    form(!action.position === (action.radius_m === 0), "position and radius_m go together");
    form(action.radius_m <= 100_000, `radius_m ${action.radius_m} is over 100000`);
  },
  register_device(action) {
    id(action.device_id, "device_id");
    publicKeys(action.public_keys);
    time(action.calibrated_until_ms, "calibrated_until_ms");
  },
  certify_party(action) {
    id(action.party_id, "party_id");
    id(action.holder_id, "holder_id");
    words(action.kind, "kind");
    form(action.document_sha256.length === 0 || action.document_sha256.length === 32, "document_sha256 is not 32 bytes");
    for (const at of [action.valid_from_ms, action.valid_until_ms, action.at_ms]) time(at, "a time");
    form(action.valid_from_ms <= action.valid_until_ms, "the certificate ends before it begins");
  },
  open_delivery(action, version) {
    id(action.delivery_id, "delivery_id");
    id(action.order_id, "order_id");
    words(action.product, "product");
    form(action.lots.length >= 1 && action.lots.length <= 100, `${action.lots.length} lots, 1 to 100 are allowed`);
    for (const each of action.lots) gtinAndLot(each, version);
    amount(action.quantity, action.unit, version);
    form(action.seller_id !== action.buyer_id, "seller and buyer are the same party");
    for (const each of [action.payment_terms_sha256, action.price_sha256]) if (each.length) digest(each, "a hash");
    most(action.limits, 16, "limits");
    different(action.limits.map((each) => String(each.quantity)), "limits");
    for (const each of action.limits) limit(each, version);
    if (version) agreement(action, version);
  },
  start_trip(action) {
    id(action.device_id, "device_id");
    const derived = hex(sha256(concat(ascii(`wayseal trip\0${action.device_id}\0`), action.nonce))).slice(0, 32);
    must(action.nonce.length === 16 && action.trip_id === derived, "trip-id", `trip ${action.trip_id} is not derived from device and nonce`);
    for (const each of [action.origin_site_id, ...action.via_site_ids, action.destination_site_id]) id(each, "a site");
    most(action.via_site_ids, 32, "via_site_ids");
    for (const each of action.delivery_ids) id(each, "delivery_ids");
    most(action.delivery_ids, 32, "delivery_ids");
    different(action.delivery_ids, "delivery_ids");
    for (const each of action.other_device_ids) id(each, "other_device_ids");
    most(action.other_device_ids, 16, "other_device_ids");
    different([action.device_id, ...action.other_device_ids], "devices");
    time(action.started_at_ms, "started_at_ms");
    most(action.derived_from, 16, "derived_from");
    for (const each of action.derived_from) digest(each.sha256, "sha256");
    if (action.previous_seal_sha256.length) digest(action.previous_seal_sha256, "previous_seal_sha256");
    clock(action.clock, false);
    form(!action.clock || action.clock.utc_ms === action.started_at_ms, "the clock's UTC is not started_at_ms");
  },
  record_reading(action, version) {
    trip(action.trip_id);
    id(action.device_id, "device_id");
    link(action.sequence, action.previous_sha256);
    measured(action, version);
  },
  record_run(action, version) {
    trip(action.trip_id);
    id(action.device_id, "device_id");
    form(action.readings.length >= 1 && action.readings.length <= 300, `${action.readings.length} readings, 1 to 300 are allowed`);
    link(action.first_sequence, action.previous_sha256);
    form(action.first_sequence + BigInt(action.readings.length) <= I63, "sequence is out of range");
    for (const each of action.readings) measured(each, version);
  },
  seal_trip(action) {
    trip(action.trip_id);
    id(action.device_id, "device_id");
    if (action.reading_count) digest(action.head_sha256, "head_sha256");
    else form(action.head_sha256.length === 0, "head_sha256 of no reading");
    most(action.recordings, 512, "recordings");
    const names = action.recordings.map((each) => {
      digest(each.sha256, "sha256");
      return hex(each.sha256);
    });
    different(names, "recordings");
    form(names.join() === [...names].sort().join(), "recordings are not sorted");
    clock(action.clock, true);
  },
  record_video(action) {
    trip(action.trip_id);
    time(action.started_at_ms, "started_at_ms");
    time(action.duration_ms, "duration_ms");
    digest(action.sha256, "sha256");
    digest(action.tree_root, "tree_root");
    form(action.size < I63, "size is out of range");
  },
  hand_over(action, version) {
    trip(action.trip_id);
    time(action.at_ms, "at_ms");
    if (!version) return;
    form(action.at_ms > 0n, "at_ms is 0");
    form(action.quantity <= MOST_SUM, `quantity ${action.quantity} is over ${MOST_SUM}`);
    most(action.seal_numbers, 8, "seal_numbers");
    for (const each of action.seal_numbers) form(isSealNumber(each), `${each} is no seal's number`);
    different(action.seal_numbers, "seal_numbers");
  },
  transform_lots(action, version) {
    id(action.transformation_id, "transformation_id");
    most(action.inputs, 50, "inputs");
    form(action.outputs.length >= 1 && action.outputs.length <= 50, `${action.outputs.length} outputs, 1 to 50 are allowed`);
    lotQuantities([...action.inputs, ...action.outputs], version);
    time(action.at_ms, "at_ms");
  },
  accept_delivery(action) {
    id(action.delivery_id, "delivery_id");
    time(action.at_ms, "at_ms");
    form(action.received_quantity <= MOST_SUM, "received_quantity is out of range");
  },
  dispute_delivery(action) {
    id(action.delivery_id, "delivery_id");
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  close_delivery(action) {
    id(action.delivery_id, "delivery_id");
    form(action.payment === p.Payment.RELEASED || action.payment === p.Payment.WITHHELD, "payment is neither released nor withheld");
    time(action.at_ms, "at_ms");
  },
  cancel_delivery(action) {
    id(action.delivery_id, "delivery_id");
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  announce_settlement(action) {
    id(action.delivery_id, "delivery_id");
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  settle_delivery(action) {
    id(action.delivery_id, "delivery_id");
    form(action.payment === p.Payment.RELEASED || action.payment === p.Payment.WITHHELD, "payment is neither released nor withheld");
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  close_trip(action) {
    trip(action.trip_id);
    time(action.at_ms, "at_ms");
  },
  place_hold(action) {
    trip(action.trip_id);
    id(action.hold_id, "hold_id");
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  release_hold(action) {
    trip(action.trip_id);
    id(action.hold_id, "hold_id");
    time(action.at_ms, "at_ms");
  },
  set_lot_status(action, version) {
    id(action.party_id, "party_id");
    gtinAndLot(action, version);
    form(action.status >= 0 && action.status <= 2, `status ${action.status} is unknown`);
    words(action.reason, "reason");
    time(action.at_ms, "at_ms");
  },
  pack_unit(action, version) {
    id(action.party_id, "party_id");
    form(isSscc(action.sscc), `${action.sscc} is no SSCC`);
    most(action.lots, 100, "lots");
    most(action.units, 100, "units");
    lotQuantities(action.lots, version);
    for (const each of action.units) form(isSscc(each), `${each} is no SSCC`);
    different(action.units, "units");
    time(action.at_ms, "at_ms");
  },
  commit_accesses(action) {
    id(action.site_id, "site_id");
    digest(action.record_sha256, "record_sha256");
    digest(action.sha256, "sha256");
    for (const name of ["sequence", "number"] as const) form(action[name] > 0n && action[name] < I63, `${name} ${action[name]} is out of range`);
    form(action.number > 1n || hex(action.sha256) === hex(action.record_sha256), "the hash of access 1 is not the record's");
    time(action.at_ms, "at_ms");
  },
};

function link(sequence: bigint, previous: Uint8Array): void {
  form(sequence < I63, "sequence is out of range");
  if (sequence === 0n) form(previous.length === 0, "the first reading names one before it");
  else digest(previous, "previous_sha256");
}

export function mayRotate(keys: readonly string[], named: readonly p.KeyDuties[]): boolean {
  return keys.some((each) => {
    const found = named.find((one) => one.public_key === each);
    return !found || found.duties.includes(p.KeyDuties_Duty.KEYS);
  });
}

export type ActionName = keyof p.Payload;

/** Checks an action's fields. */
export function checkFields(name: ActionName, action: object, version: number): void {
  (CHECKS[name] as (action: object, version: number) => void)(action, version);
}
