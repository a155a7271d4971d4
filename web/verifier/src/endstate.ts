// Checks 14 and 15: the ledger's state at the end is what the batches in the file lead to.

import { codec } from "./codec.ts";
import type { payload as p, state as s } from "./messages.ts";
import type { Problem } from "./problem.ts";
import type { Replay } from "./replay.ts";
import * as at from "./rules/address.ts";
import type { Kind } from "./rules/store.ts";
import { hashAbove, type Hidden, type StateTree } from "./tree.ts";
import { same, WireError } from "./wire.ts";

const TRIP_PREFIX = 38;
const KIND_OF_ENTRY = 6;
/** What an address begins with after the namespace. */
const LOT = "06", SERIES = "08", UNIT = "0a", DELIVERY = "05", TRIP = "10";
/** Entries of a trip: findings on its place in the row. */
const PLACE_FINDINGS = "06";

export interface End {
  problems: Problem[];
  /** Findings on strangers' batches that are not in the file: how often, by trip and rule. */
  leftOut: Map<string, Map<string, number>>;
  /** Findings on a trip's place in its device's row, by trip. */
  places: Map<string, s.Finding[]>;
}

export class EndState {
  readonly #replay: Replay;
  readonly #tree: StateTree;
  readonly #named: readonly string[];
  readonly #withoutLots: boolean;
  readonly #known: string[];
  readonly problems: Problem[] = [];
  readonly leftOut = new Map<string, Map<string, number>>();
  readonly #places = new Map<string, s.Finding[]>();

  constructor(replay: Replay, tree: StateTree, named: readonly string[], withoutLots: boolean) {
    this.#replay = replay;
    this.#tree = tree;
    this.#named = named;
    this.#withoutLots = withoutLots;
    this.#known = [...replay.store.entries.keys()].sort();
  }

  compare(): End {
    const deliveries = new Set(this.#named.flatMap((id) => this.#start(id)?.delivery_ids ?? []));
    const trips = new Set(this.#named);
    for (const each of deliveries) for (const trip of this.#replay.movers.get(each) ?? []) trips.add(trip);
    const scope = new Scope(trips, deliveries, this.#delivered(deliveries), this.#withoutLots);
    const addresses = new Set([...this.#replay.store.met, ...scope.lots]);
    for (const each of [...addresses].sort()) if (scope.compares(each)) this.#one(each);
    for (const each of trips) this.#whole(each);
    return { problems: this.problems, leftOut: this.leftOut, places: this.#places };
  }

  #start(trip: string): p.StartTrip | undefined {
    return (this.#replay.store.entries.get(at.trip(trip))?.value as s.Trip | undefined)?.start;
  }

  #delivered(deliveries: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    for (const each of deliveries) {
      const delivery = this.#replay.store.entries.get(at.delivery(each))?.value as s.Delivery | undefined;
      for (const lot of delivery?.terms?.lots ?? []) found.add(at.lot(lot.gtin, lot.lot));
    }
    return found;
  }

  /** Check 14, at one address. */
  #one(address: string): void {
    const ours = this.#replay.store.encoded(address);
    const kind = this.#replay.store.entries.get(address)?.kind ?? (isLot(address) ? "Lot" : undefined);
    const found = this.#tree.find(address);
    let holds: boolean;
    if ("nothing" in found) holds = ours === undefined;
    else if ("value" in found) holds = kind !== undefined && (ours !== undefined || kind === "Lot") && alike(kind, ours, found.value);
    else if ("below" in found) {
      const only = this.#only(found.below);
      const value = only === undefined ? undefined : this.#replay.store.encoded(only);
      const proved = only !== undefined && value !== undefined && hashAbove(only, value, found.below) === found.hash;
      holds = proved && only === address; // that nothing is at an address takes a node that says so
    } else holds = false;
    if (!holds) {
      this.problems.push({ check: 14, about: address, text: `${nameOf(kind, this.#replay, address)}: the ledger has another entry than the batches in the file lead to, so a batch is missing` });
    }
  }

  /** The one entry that check 6 knows below a path. */
  #only(path: string): string | undefined {
    const first = lowerBound(this.#known, path);
    const found = this.#known[first];
    if (!found?.startsWith(path) || this.#known[first + 1]?.startsWith(path)) return undefined;
    return found;
  }

  /** Check 15: everything under a trip's prefix. */
  #whole(trip: string): void {
    const prefix = at.tripPrefix(trip);
    const { leaves, hidden } = this.#tree.under(prefix);
    const unknown = (address: string): void => {
      this.problems.push({ check: 15, about: address, text: `trip ${trip}: the ledger has an entry at ${address}, to which no batch in the file leads, so a batch is missing` });
    };
    for (const each of hidden) if (!this.#isKnown(each, prefix)) unknown(each.below);
    for (const [address, value] of leaves) {
      if (isPlaceFinding(address)) {
        const found = this.#findings(trip, address, value);
        if (found.length) this.#places.set(trip, [...(this.#places.get(trip) ?? []), ...found]);
        else unknown(address);
      } else if (!this.#replay.store.entries.has(address) && !this.#strangers(trip, address, value)) unknown(address);
    }
  }

  /** Whether what is not shown is one entry that check 6 led to. An end shows that there is one, and not which. */
  #isKnown({ below, hash, end }: Hidden, prefix: string): boolean {
    if (end) return below.length === at.NAMESPACE.length + 64 && !isPlaceFinding(below) && this.#replay.store.entries.has(below); // check 14 compares it
    const only = this.#only(below.length > prefix.length ? below : prefix);
    const value = only === undefined || isPlaceFinding(only) ? undefined : this.#replay.store.encoded(only);
    return only !== undefined && value !== undefined && hashAbove(only, value, below) === hash;
  }

  /** The findings at an address of a trip; none if that is no such entry. */
  #findings(trip: string, address: string, value: Uint8Array): s.Finding[] {
    const place = isPlaceFinding(address) ? at.placeFindings : at.findings;
    try {
      const { findings } = codec.decodeCanonical<s.Findings>("state.Findings", value);
      return findings.every((each) => each.trip_id === trip && place(trip, each.transaction_id) === address) ? findings : [];
    } catch (error) {
      if (error instanceof WireError) return [];
      throw error;
    }
  }

  /** Findings on transactions of strangers may be left out; counts them. */
  #strangers(trip: string, address: string, value: Uint8Array): boolean {
    const findings = this.#findings(trip, address, value);
    const start = this.#start(trip);
    const own = start ? [start.device_id, ...start.other_device_ids] : [];
    const strange = findings.some((each) =>
      (each.rule === "device-not-on-trip" && !own.includes(each.device_id)) ||
      (each.rule === "signer-mismatch" && !own.includes(signerIn(each.detail))));
    if (!strange) return false;
    const counts = this.leftOut.get(trip) ?? new Map<string, number>();
    for (const each of findings) counts.set(each.rule, (counts.get(each.rule) ?? 0) + 1);
    this.leftOut.set(trip, counts);
    return true;
  }
}

const isLot = (address: string): boolean => address.startsWith(`${at.NAMESPACE}${LOT}`);
const isPlaceFinding = (address: string): boolean =>
  address.startsWith(`${at.NAMESPACE}${TRIP}`) && address.slice(TRIP_PREFIX, TRIP_PREFIX + 2) === PLACE_FINDINGS;
/** The device that a finding `signer-mismatch` names: `signed by truck-2; …`. */
const signerIn = (detail: string): string => (detail.startsWith("signed by ") ? detail.slice(10) : detail).split(";", 1)[0] as string;

/** Which addresses check 14 compares. */
class Scope {
  readonly lots: ReadonlySet<string>;
  readonly #trips: ReadonlySet<string>;
  readonly #deliveries: ReadonlySet<string>;
  readonly #withoutLots: boolean;

  constructor(trips: ReadonlySet<string>, deliveries: ReadonlySet<string>, lots: ReadonlySet<string>, withoutLots: boolean) {
    this.#trips = new Set([...trips].map(at.tripPrefix));
    this.#deliveries = new Set([...deliveries].map(at.delivery));
    this.lots = lots;
    this.#withoutLots = withoutLots;
  }

  compares(address: string): boolean {
    if (!address.startsWith(at.NAMESPACE)) return false;
    switch (address.slice(KIND_OF_ENTRY, KIND_OF_ENTRY + 2)) {
      case LOT:
        return !this.#withoutLots || this.lots.has(address);
      case UNIT:
      case SERIES:
        return false;
      case DELIVERY:
        return this.#deliveries.has(address);
      case TRIP:
        return this.#trips.has(address.slice(0, TRIP_PREFIX)) && address.slice(TRIP_PREFIX, TRIP_PREFIX + 2) !== PLACE_FINDINGS;
      default:
        return true;
    }
  }
}

/** Compares an entry with the ledger's, but for what depends on batches that are nobody's business here. */
function alike(kind: Kind, ours: Uint8Array | undefined, theirs: Uint8Array): boolean {
  if (ours && same(ours, theirs)) return true;
  const type = `state.${kind}`;
  try {
    const [mine, ledgers] = [codec.decode<object>(type, ours ?? new Uint8Array(0)), codec.decodeCanonical<object>(type, theirs)];
    if (kind === "Lot" && !(ledgers as s.Lot).gtin) return false;
    if (kind === "Lot") forgetUse(mine as s.Lot, ledgers as s.Lot);
    else if (kind === "Transformation") (mine as s.Transformation).findings = (ledgers as s.Transformation).findings;
    else if (kind === "Delivery") for (const each of [mine, ledgers] as s.Delivery[]) each.findings = each.findings.filter((one) => one.rule !== "unit-unknown");
    else return false;
    return same(codec.encode(type, mine), codec.encode(type, ledgers));
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/** What others did with a lot; of one that the file does not know, everything that somebody who only used it wrote. */
function forgetUse(mine: s.Lot, ledgers: s.Lot): void {
  if (!mine.gtin) [mine.gtin, mine.lot] = [ledgers.gtin, ledgers.lot];
  if (ledgers.used < mine.used) return;
  mine.used = ledgers.used;
  mine.rules = ledgers.rules;
  if (!mine.party_id) mine.unit = ledgers.unit;
}

function nameOf(kind: Kind | undefined, replay: Replay, address: string): string {
  const value = replay.store.entries.get(address)?.value as Record<string, unknown> | undefined;
  switch (kind) {
    case "Party":
      return `party ${value?.["party_id"]}`;
    case "Site":
      return `site ${(value as unknown as s.Site).site?.site_id}`;
    case "Device":
      return `device ${value?.["device_id"]}`;
    case "Delivery":
      return `delivery ${(value as unknown as s.Delivery).terms?.delivery_id}`;
    default:
      return `${kind ?? "entry"} ${address}`;
  }
}

function lowerBound(sorted: readonly string[], value: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
