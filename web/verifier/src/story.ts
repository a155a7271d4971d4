// What the file tells, for the verdict.

import { codec } from "./codec.ts";
import type { Ledger } from "./ledger.ts";
import type { block_info, evidence, payload as p, state as s } from "./messages.ts";
import { Payment } from "./names.ts";
import { blobsOf, type Videos } from "./recordings.ts";
import { type CorrectionStory, correctionOf, type FilmStory, filmOf, moment, momentOf, type RemarkStory, remarkOf, type TellingStory, tellingOf } from "./remarks.ts";
import type { Replay } from "./replay.ts";
import * as at from "./rules/address.ts";
import { create } from "./rules/case.ts";
import { statusOf } from "./rules/life.ts";
import { LAST_MS } from "./rules/times.ts";
import { QUANTITIES } from "./rules/trips.ts";
import type { StateTree } from "./tree.ts";
import type { Predecessor } from "./trust.ts";
import type { Sealed } from "./seals.ts";
import { findingsOf } from "./verify.ts";
import { WireError } from "./wire.ts";

export interface Told {
  header: evidence.Header;
  replay: Replay;
  ledger: Ledger;
  tree: StateTree | undefined;
  videos: Videos | undefined;
  leftOut: Map<string, Map<string, number>>;
  /** Findings on each trip's place in its device's row, as the ledger has them. */
  places: Map<string, s.Finding[]>;
  format: number;
  before: Predecessor[] | undefined;
  sealed: Sealed | undefined;
}

export interface Story {
  keys: {
    genesis_block_id: string; block_signers: string[]; network: { chain_id: string; validators: Record<string, number> } | null; admin_keys: string[];
  };
  ledger: {
    blocks: number; last_block_id: string; blocks_of_the_story: number; blocks_with_time: number;
    last_block_at: string | null; last_signed_at: string | null; goes_on_from: Predecessor[];
    by_network: boolean; sealed: { height: number; at: string; by: string[]; power: number; power_of_all: number } | null;
  };
  trips: TripStory[];
  recordings: RecordingStory[];
  /** Whether the file leaves out how the sources of the delivered lots were made. */
  without_lots: boolean;
}

export interface TripStory {
  trip_id: string; device_id: string; other_device_ids: string[]; device_keys: string[]; revoked_device_keys: string[];
  origin_site_id: string; via_site_ids: string[]; destination_site_id: string; delivery_ids: string[];
  readings: number; readings_derived: number; first_reading_at: string | null; last_reading_at: string | null;
  first_reading_corrected_at: string | null; last_reading_corrected_at: string | null;
  breaches: BreachStory[];
  tampers: { device_id: string; sequence: number; time: string; corrected_time: string | null; signs: string[]; ended: string[]; film: FilmStory[] }[];
  remarks: RemarkStory[];
  telling: TellingStory[];
  corrections: CorrectionStory[];
  findings: { rule: string; detail: string; device_id: string; sequence: number }[];
  left_out_findings: Record<string, number>;
  deliveries: DeliveryStory[];
  closed_by: string | null;
  holds: { hold_id: string; party_id: string; reason: string; released_at: string | null }[];
}

export interface DeliveryStory {
  delivery_id: string; status: string; payment: string; custodian_id: string | null; breaches: number; tampers: number; silences: number;
  /** Trips on which it went also, and which the file is not about. */
  also_on_trip_ids: string[];
}

export interface BreachStory {
  delivery_id: string; device_id: string; quantity: string; unit: string; extreme: number;
  since: string; since_corrected: string | null; until: string; until_corrected: string | null; first_sequence: number; last_sequence: number; ended: boolean;
}

export interface RecordingStory {
  sha256: string; trip_id: string; size: number; derived: boolean; blobs: number;
  leaf_hashes_checked: boolean; blobs_checked: number; files: string[];
}

const UNITS: Record<number, [string, number]> = { 1: ["CEL", 1000], 2: ["P1", 1000], 3: ["A97", 100] };
const SIGNS: [number, string][] = [[1, "enclosure-open"], [2, "door-open"], [4, "motion"], [8, "shock"], [16, "light"], [32, "camera-blocked"],
  [64, "sensor-unplugged"], [128, "clock-set-back"], [256, "rebooted"]];
const signsOf = (flags: number): string[] => SIGNS.filter(([flag]) => flags & flag).map(([, word]) => word);

/** The time of something that may not have been; 0: it was not. */
const timeOf = (ms: bigint): string | null => (ms ? moment(ms) : null);

export function tell(told: Told): Story {
  const { ledger, replay, header } = told;
  // In the order in which the trips were started on the ledger, whatever order the header has.
  const named = new Map(header.trip_ids.map((id) => [at.trip(id), id]));
  const started = [...replay.store.entries.keys()].flatMap((address) => named.get(address) ?? []);
  return {
    keys: { genesis_block_id: ledger.genesis, block_signers: ledger.signers, network: networkOf(told.sealed), admin_keys: [...replay.adminKeys].sort() },
    ledger: {
      blocks: ledger.blocks, last_block_id: ledger.lastId, blocks_of_the_story: replay.storyBlocks.size,
      blocks_with_time: replay.blocksWithTime(), last_block_at: lastBlockAt(told), last_signed_at: timeOf(replay.lastSignedAtMs),
      goes_on_from: told.before ?? [], by_network: ledger.byNetwork, sealed: sealedOf(told.sealed),
    },
    trips: started.flatMap((id) => tripOf(id, told)),
    without_lots: header.without_lots,
    recordings: [...replay.recordings].map(([name, digests]) => recording(name, digests[0] as NonNullable<(typeof digests)[0]>, told)),
  };
}

function networkOf(sealed: Sealed | undefined): Story["keys"]["network"] {
  if (!sealed) return null;
  return { chain_id: sealed.chain_id, validators: Object.fromEntries([...sealed.began_with].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function sealedOf(sealed: Sealed | undefined): Story["ledger"]["sealed"] {
  if (!sealed) return null;
  const { height, ms, by, power, power_of_all } = sealed;
  return { height: Number(height), at: moment(ms), by, power, power_of_all };
}

/** When the last block was begun, if the nodes prove family block_info's configuration and the entry that it names. */
function lastBlockAt({ tree }: Told): string | null {
  const config = valueAt<block_info.BlockInfoConfig>("BlockInfoConfig", at.BLOCK_INFO_CONFIG, tree);
  const latest = config && valueAt<block_info.BlockInfo>("BlockInfo", at.blockInfo(config.latest_block), tree);
  return latest && latest.timestamp * 1000n <= LAST_MS ? moment(latest.timestamp * 1000n) : null;
}

function valueAt<T>(kind: string, address: string, tree: StateTree | undefined): T | undefined {
  const found = tree?.find(address);
  if (!found || !("value" in found)) return undefined;
  try {
    return codec.decode<T>(`block_info.${kind}`, found.value);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function entry<T>(told: Told, address: string): T | undefined {
  return told.replay.store.entries.get(address)?.value as T | undefined;
}

function tripOf(id: string, told: Told): TripStory[] {
  const trip = entry<s.Trip>(told, at.trip(id));
  if (!trip) return [];
  const start = trip.start as p.StartTrip;
  const devices = [start.device_id, ...start.other_device_ids];
  const chains = devices.flatMap((each) => entry<s.Chain>(told, at.chain(id, each)) ?? []);
  const span = told.replay.spans.get(id);
  const times = told.replay.times.get(id);
  const keys = [...(told.replay.deviceKeys.get(id) ?? [])].sort();
  const corrected = times?.span();
  return [{
    trip_id: id, device_id: start.device_id, other_device_ids: start.other_device_ids,
    device_keys: keys, revoked_device_keys: keys.filter((each) => entry<s.Key>(told, at.key(each))?.revoked),
    origin_site_id: start.origin_site_id, via_site_ids: start.via_site_ids, destination_site_id: start.destination_site_id,
    delivery_ids: start.delivery_ids, readings: chains.reduce((sum, each) => sum + Number(each.count), 0), readings_derived: told.replay.derived.get(id) ?? 0,
    first_reading_at: span ? moment(span[0]) : null, last_reading_at: span ? moment(span[1]) : null,
    first_reading_corrected_at: corrected ? moment(corrected[0]) : null, last_reading_corrected_at: corrected ? moment(corrected[1]) : null,
    breaches: breachesOf(id, told),
    tampers: told.replay.tampers.filter((each) => each.trip === id).map((each) => ({
      device_id: each.device, sequence: Number(each.sequence), time: moment(each.utc_ms),
      corrected_time: momentOf(times?.ofReading(each.device, each.sequence)), signs: signsOf(each.flags), ended: signsOf(each.ended), film: filmOf(each.film),
    })),
    remarks: told.replay.remarks.filter((each) => each.trip_id === id).map((each) => remarkOf(each, times)),
    telling: devices.map((each) => tellingOf(entry<s.Chain>(told, at.chain(id, each)) ?? create<s.Chain>("state.Chain", { device_id: each }))),
    corrections: (times?.corrections ?? []).map(correctionOf),
    findings: [...findingsOf(id, told.replay), ...(told.places.get(id) ?? [])].map((each) => ({ rule: each.rule, detail: each.detail, device_id: each.device_id, sequence: Number(each.sequence) })),
    left_out_findings: Object.fromEntries(told.leftOut.get(id) ?? []),
    deliveries: start.delivery_ids.flatMap((each) => deliveryOf(each, told)),
    closed_by: trip.close?.party_id ?? null,
    holds: under<s.Hold>(told, `${at.tripPrefix(id)}05`).map((each) => ({
      hold_id: each.placed?.hold_id ?? "", party_id: each.placed?.party_id ?? "", reason: each.placed?.reason ?? "",
      released_at: each.released ? moment(each.released.at_ms) : null,
    })),
  }];
}

function under<T>(told: Told, prefix: string): T[] {
  return [...told.replay.store.entries].filter(([address]) => address.startsWith(prefix)).map(([, each]) => each.value as T);
}

function breachesOf(id: string, told: Told): BreachStory[] {
  const times = told.replay.times.get(id);
  return under<s.Breach>(told, `${at.tripPrefix(id)}03`).map((each) => {
    const [unit, scale] = UNITS[each.limit?.quantity ?? 0] ?? ["", 1];
    return {
      delivery_id: each.delivery_id, device_id: each.device_id, quantity: QUANTITIES[each.limit?.quantity ?? 0] ?? "", unit,
      extreme: each.extreme / scale, since: moment(each.since_ms), until: moment(each.until_ms),
      since_corrected: momentOf(times?.ofReading(each.device_id, each.since_sequence)), until_corrected: momentOf(times?.ofReading(each.device_id, each.until_sequence)),
      first_sequence: Number(each.since_sequence), last_sequence: Number(each.until_sequence), ended: each.ended,
    };
  });
}

function deliveryOf(id: string, told: Told): TripStory["deliveries"] {
  const found = entry<s.Delivery>(told, at.delivery(id));
  if (!found) return [];
  return [{
    delivery_id: id, status: statusOf(found), payment: Payment[found.payment] ?? "", custodian_id: found.custodian_id || null,
    breaches: found.breaches, tampers: found.tampers, silences: found.silences,
    also_on_trip_ids: [...(told.replay.movers.get(id) ?? [])].filter((each) => !told.header.trip_ids.includes(each) && entry(told, at.trip(each))).sort(),
  }];
}

function recording(name: string, digest: { trip: string; size: bigint; derived: boolean }, told: Told): RecordingStory {
  const checked = told.videos?.checked(name);
  return {
    sha256: name, trip_id: digest.trip, size: Number(digest.size), derived: digest.derived, blobs: blobsOf(digest.size),
    leaf_hashes_checked: checked?.leaves ?? false, blobs_checked: checked?.blobs ?? 0, files: checked?.files ?? [],
  };
}
