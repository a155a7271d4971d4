// The state that the replay builds, entry by entry, and which addresses it met.

import { codec } from "../codec.ts";
import type { state } from "../messages.ts";
import { Refusal } from "./refusal.ts";

export type Kind =
  | "Party" | "Site" | "Device" | "Key" | "Delivery" | "Lot" | "Transformation" | "TripSeries" | "Certificates"
  | "LogisticUnit" | "Trip" | "Chain" | "HandOverState" | "Breach" | "Findings" | "Hold" | "Filmed";

export interface Entry {
  kind: Kind;
  value: object;
}

/** Versions 1.2 and 1.3 change no entry of 1.1, and mark what they write as such. */
const MARK = 1;

export class Store {
  readonly entries = new Map<string, Entry>();
  /** Every address that the rules read or wrote. */
  readonly met = new Set<string>();
  /** The version of the rules of the transaction that is applied. */
  version = 1;
  /** Logistic units that somebody packed, as far as the file tells; nothing more of them is replayed. */
  readonly packed = new Set<string>();
  readonly #changed = new Set<string>();

  /** The deliveries that were written since they were last forgotten. */
  changedDeliveries(): Iterable<string> {
    return this.#changed;
  }

  forgetChanges(): void {
    this.#changed.clear();
  }

  /** Reads an entry. A transaction must not read what later rules wrote. */
  read<T extends object>(kind: Kind, address: string): T | undefined {
    this.met.add(address);
    const entry = this.entries.get(address);
    if (!entry) return undefined;
    const value = entry.value as T & { rules?: number };
    if ((value.rules ?? 0) > this.version) {
      throw new Refusal("rules-behind", `a later version of the rules wrote ${kind} ${address}`);
    }
    if (entry.kind !== kind) throw new Error(`${address} is ${entry.kind}, not ${kind}`);
    return value;
  }

  /** Whether there is an entry, whichever version of the rules wrote it: all that some rules ask. */
  has(address: string): boolean {
    this.met.add(address);
    return this.entries.has(address);
  }

  write(kind: Kind, address: string, value: object): void {
    this.met.add(address);
    if (kind === "Delivery") this.#changed.add(((value as state.Delivery).terms as { delivery_id: string }).delivery_id);
    if ("rules" in value) (value as { rules: number }).rules = Math.min(this.version, MARK);
    this.entries.set(address, { kind, value });
  }

  encoded(address: string): Uint8Array | undefined {
    const entry = this.entries.get(address);
    return entry && codec.encode(`state.${entry.kind}`, entry.value);
  }
}
