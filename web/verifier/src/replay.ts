// Check 6, and what it remembers for the checks after it.

import { codec } from "./codec.ts";
import { hex } from "./hash.ts";
import type { Taken } from "./ledger.ts";
import type { block_info, payload as p, state as s } from "./messages.ts";
import { Failure, short } from "./problem.ts";
import { CorrectedTimes } from "./corrected.ts";
import * as at from "./rules/address.ts";
import { type Action, actionOf, apply } from "./rules/apply.ts";
import type { Joined, Tampered } from "./rules/case.ts";
import { Refusal } from "./rules/refusal.ts";
import { Store } from "./rules/store.ts";
import { WireError } from "./wire.ts";

const VERSIONS = ["1.0", "1.1", "1.2", "1.3"];

export interface Digest {
  trip: string;
  device: string;
  size: bigint;
  root: string;
  derived: boolean;
  started_at_ms: bigint;
}

/** What tells a block's time, whatever else it holds. */
function timeIn(payload: Uint8Array): block_info.BlockInfoTxn {
  try {
    return codec.decode<block_info.BlockInfoTxn>("block_info.BlockInfoTxn", payload);
  } catch (error) {
    if (error instanceof WireError) throw new Failure(0, `${payload.length} bytes are not a valid BlockInfoTxn message: ${error.message}`);
    throw error;
  }
}

export class Replay {
  readonly store = new Store();
  readonly adminKeys = new Set<string>();
  readonly #trusted: ReadonlySet<string> | undefined;
  readonly #named: ReadonlySet<string>;
  /** Every digest of a recording, by its SHA-256. */
  readonly recordings = new Map<string, Digest[]>();
  /** Trips that changed a delivery, by the delivery's id. */
  readonly movers = new Map<string, Set<string>>();
  readonly tripIds = new Set<string>();
  /** Keys that signed for the devices of a trip. */
  readonly deviceKeys = new Map<string, Set<string>>();
  readonly tampers: Tampered[] = [];
  /** What devices said of themselves. */
  readonly remarks: s.Remarked[] = [];
  /** What corrections set right, by trip. */
  readonly times = new Map<string, CorrectedTimes>();
  readonly transformations: string[] = [];
  readonly lots = new Set<string>();
  /** Trips that were started under a key that was revoked before. */
  readonly startedRevoked = new Set<string>();
  /** How many readings in the chains of a trip were replayed or shifted, not measured then and there. */
  readonly derived = new Map<string, number>();
  /** First and last time of the readings in the chains of a trip. */
  readonly spans = new Map<string, [bigint, bigint]>();
  lastSignedAtMs = 0n;
  readonly #times = new Map<number, bigint>();
  storyBlocks = new Set<number>();

  constructor(named: ReadonlySet<string>, trusted: ReadonlySet<string> | undefined) {
    this.#named = named;
    this.#trusted = trusted;
  }

  blocksWithTime(): number {
    return [...this.storyBlocks].filter((each) => this.#times.has(each)).length;
  }

  /** Applies a transaction; `has` knows which transactions came before. A block's time is told by the batch with which it begins. */
  take(taken: Taken, has: (id: string) => boolean): void {
    const { header } = taken;
    if (header.family_name === "block_info" && header.family_version === "1.0") return taken.first ? this.#time(taken) : undefined;
    if (header.family_name !== "wayseal") return;
    const version = VERSIONS.indexOf(header.family_version);
    const id = taken.transaction.header_signature;
    if (version < 0) throw new Failure(5, `transaction ${short(id)} is of version ${short(header.family_version)}; this verifier knows the rules of ${VERSIONS.join(", ")}`, { about: id });
    this.storyBlocks.add(taken.block);
    try {
      const action = actionOf(taken.transaction.payload);
      this.#linked(taken, action, has);
      this.#apply(taken, action, version);
    } catch (error) {
      if (error instanceof Refusal) throw new Failure(6, error.message, { rule: error.rule, about: id });
      throw error;
    }
  }

  #apply(taken: Taken, action: Action, version: number): void {
    const { header } = taken;
    apply({
      store: this.store, header, id: taken.transaction.header_signature, action, version,
      block_s: this.#times.get(taken.block) ?? 0n, admin: (key) => this.#admin(key), tamper: (each) => this.tampers.push(each),
      remark: (each) => this.remarks.push(each), joined: (each) => this.#joined(each),
    });
    this.#remember(action, header.signer_public_key);
  }

  /** Forgets an administrator that is not trusted: the run had ended before. */
  forgetStrangers(): void {
    for (const key of this.adminKeys) if (!this.#trusted?.has(key)) this.adminKeys.delete(key);
  }

  #time(taken: Taken): void {
    const told = timeIn(taken.transaction.payload);
    if (told.block) this.#times.set(taken.block, told.block.timestamp);
  }

  #admin(key: string): boolean {
    this.adminKeys.add(key);
    return !this.#trusted || this.#trusted.has(key);
  }

  /** Check 5: what a trip's own devices and the parties wrote comes after what it depends on. */
  #linked(taken: Taken, action: Action, has: (id: string) => boolean): void {
    const trip = (action.value as { trip_id?: string }).trip_id;
    if (trip === undefined || !this.#named.has(trip)) return;
    const missing = taken.header.dependencies.find((each) => !has(each));
    if (missing === undefined) return;
    const key = this.store.entries.get(at.key(taken.header.signer_public_key))?.value as s.Key | undefined;
    const start = action.name === "start_trip" ? (action.value as p.StartTrip) : (this.store.entries.get(at.trip(trip))?.value as s.Trip | undefined)?.start;
    const own = !key || key.owner === 1 || !start || [start.device_id, ...start.other_device_ids].includes(key.owner_id);
    if (!own) return;
    const id = taken.transaction.header_signature;
    throw new Failure(5, `transaction ${short(id)} depends on ${short(missing)}, which is missing`, { about: id });
  }

  #remember(action: Action, signer: string): void {
    const value = action.value as { trip_id?: string; at_ms?: bigint; delivery_id?: string; device_id?: string; started_at_ms?: bigint; clock?: p.Clock };
    for (const time of [value.at_ms, value.started_at_ms, value.clock?.utc_ms]) this.#signed(time);
    if (action.name === "transform_lots") this.transformations.push((action.value as p.TransformLots).transformation_id);
    if (value.trip_id !== undefined) {
      this.tripIds.add(value.trip_id);
      for (const delivery of this.store.changedDeliveries()) {
        const movers = this.movers.get(delivery) ?? new Set();
        this.movers.set(delivery, movers.add(value.trip_id));
      }
      if (value.device_id) this.#keepSigner(value.trip_id, value.device_id, signer);
    }
    if (action.name === "record_run") for (const each of (action.value as p.RecordRun).readings) this.#signed(each.clock?.utc_ms);
    if (action.name === "start_trip") {
      const key = this.store.entries.get(at.key(signer))?.value as s.Key;
      if (key.revoked) this.startedRevoked.add(value.trip_id as string);
    }
    if (action.name === "record_video" && this.#named.has(value.trip_id as string)) this.#recording(action.value as p.RecordVideo);
    this.store.forgetChanges();
  }

  /** Keeps the key if a device of the trip signed with it. */
  #keepSigner(trip: string, device: string, signer: string): void {
    const start = (this.store.entries.get(at.trip(trip))?.value as s.Trip | undefined)?.start;
    const owner = (this.store.entries.get(at.key(signer))?.value as s.Key | undefined)?.owner_id;
    if (!start || owner !== device || ![start.device_id, ...start.other_device_ids].includes(device)) return;
    const keys = this.deviceKeys.get(trip) ?? new Set();
    this.deviceKeys.set(trip, keys.add(signer));
  }

  #signed(utc: bigint | undefined): void {
    if (utc && utc > this.lastSignedAtMs) this.lastSignedAtMs = utc;
  }

  #joined({ trip, device, sequence, reading }: Joined): void {
    const utc = (reading.clock as p.Clock).utc_ms;
    const span = this.spans.get(trip) ?? [utc, utc];
    this.spans.set(trip, [utc < span[0] ? utc : span[0], utc > span[1] ? utc : span[1]]);
    if (!this.#named.has(trip)) return;
    if (reading.derived) this.derived.set(trip, (this.derived.get(trip) ?? 0) + 1);
    const times = this.times.get(trip) ?? new CorrectedTimes();
    this.times.set(trip, times);
    times.take(device, sequence, reading);
  }

  #recording(a: p.RecordVideo): void {
    const name = hex(a.sha256);
    const made = { trip: a.trip_id, device: a.device_id, size: a.size, root: hex(a.tree_root), derived: a.derived, started_at_ms: a.started_at_ms };
    const before = this.recordings.get(name)?.[0];
    if (before && (before.size !== made.size || before.root !== made.root)) {
      throw new Failure(8, `recording ${short(name)}: ${before.device} and ${made.device} signed different sizes or trees`, { about: name });
    }
    this.recordings.set(name, [...(this.recordings.get(name) ?? []), made]);
  }
}
