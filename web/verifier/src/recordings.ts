// Checks 8 to 11: digests, leaf hashes, blobs and videos.

import { sha256 } from "@noble/hashes/sha2.js";
import { concat, hex } from "./hash.ts";
import type { evidence } from "./messages.ts";
import { Failure, short } from "./problem.ts";
import type { Digest } from "./replay.ts";

export const BLOB_BYTES = 1 << 20;
const HASH_BYTES = 32;

const native = async (...parts: Uint8Array[]): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", concat(...parts) as Uint8Array<ArrayBuffer>));
export const leafHash = (blob: Uint8Array): Promise<Uint8Array> => native(Uint8Array.of(0), blob);

/** RFC 6962, 2.1: the root above leaf hashes. */
export function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  if (!leaves.length) return sha256(new Uint8Array(0));
  let row = [...leaves];
  // Pairs from the left; one that is left over goes up as it is, which gives the same tree.
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at] as Uint8Array, row[at + 1]];
      above.push(right ? sha256(concat(Uint8Array.of(1), left, right)) : left);
    }
    row = above;
  }
  return row[0] as Uint8Array;
}

export const blobsOf = (size: bigint): number => Number((size + BigInt(BLOB_BYTES) - 1n) / BigInt(BLOB_BYTES));

export interface Checked {
  leaves: boolean;
  blobs: number;
  files: string[];
}

interface Row {
  digest: Digest;
  leaves: Uint8Array;
  checked: Checked;
  whole: ReturnType<typeof sha256.create>;
  /** Least number of the next blob. */
  next: number;
}

export class Videos {
  readonly #recordings: ReadonlyMap<string, Digest[]>;
  readonly #rows = new Map<string, Row>();

  constructor(recordings: ReadonlyMap<string, Digest[]>) {
    this.#recordings = recordings;
  }

  leaves(message: evidence.LeafHashes): void {
    const name = hex(message.recording_sha256);
    const fail = (text: string): Failure => new Failure(9, `leaf hashes of recording ${short(name)}: ${text}`, { about: name });
    const digest = this.#recordings.get(name)?.[0];
    if (!digest) throw fail("no digest of it is in the file");
    if (this.#rows.has(name)) throw fail("they come twice");
    const count = blobsOf(digest.size);
    if (message.hashes.length !== count * HASH_BYTES) throw fail(`${message.hashes.length} bytes, expected ${count * HASH_BYTES}`);
    const hashes = Array.from({ length: count }, (_, at) => message.hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES));
    if (hex(rootOf(hashes)) !== digest.root) throw fail("they do not lead to the root that the device signed");
    this.#rows.set(name, { digest, leaves: message.hashes.slice(), checked: { leaves: true, blobs: 0, files: [] }, whole: sha256.create(), next: 0 });
  }

  async blob(message: evidence.Blob): Promise<void> {
    const name = hex(message.recording_sha256);
    const index = Number(message.index);
    const fail = (text: string): Failure => new Failure(10, `blob ${index} of recording ${short(name)}: ${text}`, { about: name });
    const row = this.#rows.get(name);
    if (!this.#recordings.has(name)) throw new Failure(9, `blob ${index}: no committed digest names recording ${short(name)}`, { about: name });
    if (!row) throw fail("there are no leaf hashes for it");
    if (index < row.next) throw fail("blobs are not in ascending order");
    const count = blobsOf(row.digest.size);
    if (index >= count) throw fail(`the recording has ${count} blobs`);
    const length = index === count - 1 ? Number(row.digest.size - BigInt(index) * BigInt(BLOB_BYTES)) : BLOB_BYTES;
    if (message.data.length !== length) throw fail(`it has ${message.data.length} bytes, expected ${length}`);
    const expected = row.leaves.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
    if (hex(await leafHash(message.data)) !== hex(expected)) throw fail("not the video that the device signed");
    row.next = index + 1;
    row.checked.blobs += 1;
    row.whole.update(message.data);
  }

  /** Check 10, at the end of the file: of recordings that are here whole; one without a byte always is. */
  checkWhole(): void {
    for (const [name, [digest]] of this.#recordings) {
      const row = this.#rows.get(name);
      if ((row?.checked.blobs ?? 0) !== blobsOf((digest as Digest).size)) continue;
      const whole = row ? row.whole.digest() : sha256(new Uint8Array(0));
      if (hex(whole) !== name) throw new Failure(10, `recording ${short(name)}: the whole does not have the SHA-256 that the device signed`, { about: name });
    }
  }

  /** Check 11: a file from elsewhere is a recording of the evidence. */
  async compare(fileName: string, file: Blob): Promise<Failure | undefined> {
    const whole = sha256.create();
    const leaves: Uint8Array[] = [];
    for (let from = 0; from < file.size; from += BLOB_BYTES) {
      const blob = new Uint8Array(await file.slice(from, from + BLOB_BYTES).arrayBuffer());
      whole.update(blob);
      leaves.push(await leafHash(blob));
    }
    const name = hex(whole.digest());
    const digest = this.#recordings.get(name)?.[0];
    if (!digest) return new Failure(11, `${fileName} is no recording of the evidence, which has ${this.#recordings.size}`, { about: fileName });
    if (digest.size !== BigInt(file.size) || digest.root !== hex(rootOf(leaves))) return new Failure(11, `${fileName} differs from recording ${short(name)}`, { about: fileName });
    this.checked(name).files.push(fileName);
    return undefined;
  }

  checked(name: string): Checked {
    let row = this.#rows.get(name);
    if (!row) {
      row = { digest: this.#recordings.get(name)?.[0] as Digest, leaves: new Uint8Array(0), checked: { leaves: false, blobs: 0, files: [] }, whole: sha256.create(), next: 0 };
      this.#rows.set(name, row);
    }
    return row.checked;
  }
}
