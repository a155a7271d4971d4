// One transaction that is applied, and what it may ask of the state.

import { codec } from "../codec.ts";
import { payload, type payload as p, type sawtooth, type state as s } from "../messages.ts";
import * as at from "./address.ts";
import { same } from "../wire.ts";
import { must } from "./refusal.ts";
import type { Store } from "./store.ts";

export type Duty = (typeof payload.KeyDuties_Duty)[keyof typeof payload.KeyDuties_Duty];

export interface Case {
  store: Store;
  header: sawtooth.TransactionHeader;
  id: string;
  /** The version of the rules: the number after `1.`. */
  version: number;
  /** Deliveries, by address, that a reading or seal may mark. */
  declared: ReadonlySet<string>;
  /** Time of the latest block, seconds since 1970; 0: unknown. */
  block_s: bigint;
  /** Whether a key may register parties. */
  admin(key: string): boolean;
  /** Is told of each event of tampering. */
  tamper(event: Tampered): void;
  /** Is told what a device says of itself. */
  remark(said: s.Remarked): void;
  /** Is told of each reading that joins its chain. */
  joined(reading: Joined): void;
}

/** Signs of tampering that a reading shows and the one before did not, and those that ended. */
export interface Tampered {
  trip: string;
  device: string;
  sequence: bigint;
  utc_ms: bigint;
  flags: number;
  ended: number;
  film: p.FilmMoment[];
}

export interface Joined {
  trip: string;
  device: string;
  sequence: bigint;
  reading: p.RunReading;
}

export const create = <T>(type: string, given: Partial<T> = {}): T => codec.create<T>(type, given);

/** Checks that the signer's key may sign what a duty covers. */
export function checkDuty(c: Case, duty: Duty): void {
  const key = c.store.read<s.Key>("Key", at.key(c.header.signer_public_key));
  if (!key?.duties.length) return;
  must(c.version > 0, "rules-behind", `key ${c.header.signer_public_key} has duties`);
  must(key.duties.includes(duty), "duty-missing", `key ${c.header.signer_public_key} has no duty ${duty}`);
}

/** The party whose current key signed. */
export function signingParty(c: Case): string {
  const key = c.store.read<s.Key>("Key", at.key(c.header.signer_public_key));
  must(key && key.owner === 1 && !key.revoked, "not-the-party", `key ${c.header.signer_public_key} is not a current key of a party`);
  return key.owner_id;
}

/** The signer's key, if it is current and its party's. */
export function signedByParty(c: Case, partyId: string): s.Key {
  const key = c.store.read<s.Key>("Key", at.key(c.header.signer_public_key));
  must(key && key.owner === 1 && key.owner_id === partyId && !key.revoked,
    "not-the-party", `key ${c.header.signer_public_key} is not a current key of party ${partyId}`);
  return key;
}

interface Signed<T> {
  terms: T | undefined;
  signed_by: readonly string[];
}

/** Lets one of two parties sign: alone, it may replace its own words; both sign the same ones. */
export function coSign<T extends object>(type: string, what: string, before: Signed<T>, said: T, party: string): { terms: T; signed_by: string[]; both: boolean; replaced: boolean } {
  const words = (each: T | undefined): Uint8Array => codec.encode(`payload.${type}`, each ?? codec.create(`payload.${type}`));
  let signed = [...before.signed_by];
  const replaced = !same(words(before.terms), words(said));
  if (replaced) {
    must(signed.every((each) => each === party), "terms-differ", `${what} was signed with other terms`);
    signed = [];
  }
  must(!signed.includes(party), "already-signed", `${party} has already signed ${what}`);
  signed.push(party);
  return { terms: said, signed_by: signed, both: signed.length > 1, replaced };
}

export function partyWithRole(c: Case, partyId: string, ...roles: number[]): s.Party {
  const party = c.store.read<s.Party>("Party", at.party(partyId));
  must(party, "unknown-party", `party ${partyId} is not registered`);
  must(party.roles.some((role) => roles.includes(role)), "role-missing", `party ${partyId} has no such role`);
  return party;
}

/** The key of a device, current or revoked. */
export function signedByDevice(c: Case): s.Key {
  const key = c.store.read<s.Key>("Key", at.key(c.header.signer_public_key));
  must(key && key.owner === 2, "unknown-device", `key ${c.header.signer_public_key} is no registered device's`);
  return key;
}

export function tripOf(c: Case, tripId: string): s.Trip {
  const trip = c.store.read<s.Trip>("Trip", at.trip(tripId));
  must(trip, "unknown-trip", `trip ${tripId} was never started`);
  return trip;
}

export function deliveryOf(c: Case, deliveryId: string): s.Delivery {
  const found = c.store.read<s.Delivery>("Delivery", at.delivery(deliveryId));
  must(found, "unknown-delivery", `delivery ${deliveryId} does not exist`);
  return found;
}

export const carriersOf = (terms: payload.OpenDelivery): string[] => [terms.carrier_id, ...terms.other_carrier_ids];

/** What is found on a transaction about a trip. */
export class Notes {
  readonly found: s.Finding[] = [];
  readonly #given: Partial<s.Finding>;

  constructor(given: Partial<s.Finding>) {
    this.#given = given;
  }

  add(rule: string, detail: string, more: Partial<s.Finding> = {}): void {
    this.found.push(create<s.Finding>("state.Finding", { ...this.#given, rule, detail, ...more }));
  }

  /** Keeps the findings with the trip. */
  keep(c: Case, tripId: string, address = at.findings(tripId, c.id)): void {
    if (this.found.length) c.store.write("Findings", address, { findings: this.found });
  }
}
