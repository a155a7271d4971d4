// Applies one transaction of family `wayseal` (docs/contract.md).

import { codec, schema } from "../codec.ts";
import { payload as p } from "../messages.ts";
import { WireError } from "../wire.ts";
import { type Case, checkDuty, type Duty } from "./case.ts";
import * as deliveries from "./deliveries.ts";
import { type ActionName, checkFields } from "./form.ts";
import * as goods from "./goods.ts";
import { handOver } from "./handovers.ts";
import * as parties from "./parties.ts";
import { checkPlaces } from "./places.ts";
import { recordReading, recordRun } from "./readings.ts";
import { must, Refusal } from "./refusal.ts";
import { sealTrip } from "./seals.ts";
import * as trips from "./trips.ts";

const MOST_BYTES = 65_536;
/** Version 1.1 brought fields with numbers from here on, 1.2 from twice that, and so on. */
const NUMBERS = 100;
const LATEST = 3;
const { KEYS, REGISTRY, TRADE, CUSTODY, GOODS, EVIDENCE } = p.KeyDuties_Duty;
/** What a key with duties must have to sign an action. */
const DUTIES: Partial<Record<ActionName, Duty>> = {
  rotate_keys: KEYS, register_site: REGISTRY, register_device: REGISTRY, certify_party: EVIDENCE,
  open_delivery: TRADE, accept_delivery: TRADE, dispute_delivery: TRADE, close_delivery: TRADE, cancel_delivery: TRADE,
  announce_settlement: EVIDENCE, settle_delivery: EVIDENCE, hand_over: CUSTODY, close_trip: CUSTODY,
  place_hold: EVIDENCE, release_hold: EVIDENCE, transform_lots: GOODS, set_lot_status: GOODS,
};

type Rules = { [Action in keyof p.Payload]-?: (c: Case, action: NonNullable<p.Payload[Action]>) => void };
const RULES: Rules = {
  register_party: parties.registerParty,
  rotate_keys: parties.rotateKeys,
  register_site: parties.registerSite,
  register_device: parties.registerDevice,
  certify_party: parties.certifyParty,
  open_delivery: deliveries.openDelivery,
  accept_delivery: deliveries.acceptDelivery,
  dispute_delivery: deliveries.disputeDelivery,
  close_delivery: deliveries.closeDelivery,
  cancel_delivery: deliveries.cancelDelivery,
  announce_settlement: deliveries.announceSettlement,
  settle_delivery: deliveries.settleDelivery,
  start_trip: trips.startTrip,
  record_reading: recordReading,
  record_run: recordRun,
  seal_trip: sealTrip,
  record_video: trips.recordVideo,
  hand_over: handOver,
  close_trip: trips.closeTrip,
  place_hold: trips.placeHold,
  release_hold: trips.releaseHold,
  transform_lots: goods.transformLots,
  set_lot_status: goods.setLotStatus,
  pack_unit: (c, a) => void c.store.packed.add(a.sscc), // what units hold is the business of others too
  commit_accesses: () => undefined, // each head counts on from one that is not in the file
};

export interface Action {
  name: ActionName;
  value: object;
}

/** Decodes a payload; its form is not checked yet. */
export function actionOf(payload: Uint8Array): Action {
  must(payload.length <= MOST_BYTES, "form", `the payload has ${payload.length} bytes, at most ${MOST_BYTES} are allowed`);
  let decoded: object;
  try {
    decoded = codec.decodeCanonical<object>("payload.Payload", payload);
  } catch (error) {
    if (error instanceof WireError) throw new Refusal("form", error.message);
    throw error;
  }
  const set = Object.entries(decoded).filter(([, value]) => value !== undefined);
  must(set.length === 1, "form", `the payload has ${set.length} actions`);
  const [name, value] = set[0] as [ActionName, object];
  return { name, value };
}

export interface Given extends Omit<Case, "declared"> {
  action: Action;
}

export function apply(given: Given): void {
  const { action } = given;
  if (given.version < LATEST) {
    must(!hasLater("payload.Payload", { [action.name]: action.value }, NUMBERS * (given.version + 1)), "form", `a field is not of version 1.${given.version}`);
  }
  const declared = checkPlaces(action.name, action.value, given.header, given.version);
  checkFields(action.name, action.value, given.version);
  given.store.version = given.version;
  const c: Case = { ...given, declared };
  const duty = DUTIES[action.name];
  if (duty) checkDuty(c, duty);
  (RULES[action.name] as (c: Case, value: object) => void)(c, action.value);
}

/** Whether a field with a number from `first` on is set, at any depth. */
function hasLater(type: string, message: Record<string, unknown>, first: number): boolean {
  return (schema.messages.get(type) ?? []).some((field) => {
    const value = message[field.name];
    if (value === undefined || (Array.isArray(value) && !value.length)) return false;
    if (field.kind !== "message") {
      const empty = !field.optional && (value instanceof Uint8Array ? !value.length : !Array.isArray(value) && !value);
      return field.number >= first && !empty;
    }
    if (field.number >= first) return true;
    return (Array.isArray(value) ? value : [value]).some((each) => hasLater(field.of, each, first));
  });
}
