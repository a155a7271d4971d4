// Checks 2 to 5: blocks, batches, and their order.

import { codec } from "./codec.ts";
import { hex, sha512 } from "./hash.ts";
import type { evidence, sawtooth } from "./messages.ts";
import type { Pool } from "./pool.ts";
import { Failure, short } from "./problem.ts";
import { byNetwork } from "./seals.ts";
import { hasMore, WireError } from "./wire.ts";

const NULL_BLOCK = "0".repeat(16);
const ID = /^[0-9a-f]{128}$/;
const MOST_TRANSACTIONS = 50_000;
/** Number of a batch's field. */
const TRANSACTIONS = 3;

/** Decodes a frame or a header. A header need not be canonical, but may hold no unknown field. */
export function decoded<T>(type: string, bytes: Uint8Array, canonical: boolean): T {
  try {
    return canonical ? codec.decodeCanonical<T>(type, bytes) : codec.decode<T>(type, bytes, true);
  } catch (error) {
    if (error instanceof WireError) throw new Failure(0, `${bytes.length} bytes are not a valid ${type.split(".")[1]} message: ${error.message}`);
    throw error;
  }
}

/** Whether a batch has too many transactions: an empty one takes two bytes, and many times as many once it is decoded. */
function hasTooMany(batch: Uint8Array): boolean {
  try {
    return hasMore(batch, TRANSACTIONS, MOST_TRANSACTIONS);
  } catch (error) {
    if (error instanceof WireError) return false; // to decode it says why
    throw error;
  }
}

export interface Taken {
  header: sawtooth.TransactionHeader;
  transaction: sawtooth.Transaction;
  /** The number of the block. */
  block: number;
  /** Whether the batch begins its block. */
  first: boolean;
}

export class Ledger {
  readonly #pool: Pool;
  /** Where each batch id is: its place in the ledger's order, and its block. */
  readonly #places = new Map<string, { order: number; block: number; first: boolean }>();
  #order = 0;
  #last = -1;
  readonly #seen = new Set<string>();
  /** Each key that signed blocks, and its first one. */
  readonly #signers = new Map<string, number>();
  blocks = 0;
  genesis = "";
  lastId = "";
  /** The id of the block of one number, of which a reader may ask. */
  readonly ids = new Map<number, string>();
  #askedBlocks: ReadonlySet<number>;
  stateRoot = "";
  readonly withBatches = new Set<number>();

  constructor(pool: Pool, askedBlocks: ReadonlySet<number>) {
    this.#pool = pool;
    this.#askedBlocks = askedBlocks;
  }

  block(head: evidence.BlockHead): void {
    const header = decoded<sawtooth.BlockHeader>("sawtooth.BlockHeader", head.header, false);
    const number = this.blocks;
    const about = String(header.block_num);
    if (header.block_num !== BigInt(number)) throw new Failure(2, `block ${header.block_num} where block ${number} is expected`, { about });
    const before = number ? this.lastId : NULL_BLOCK;
    if (header.previous_block_id !== before) throw new Failure(2, `block ${number} follows ${short(header.previous_block_id)}, the block before it is ${short(before)}`, { about });
    const network = byNetwork(header);
    if (network) this.#digest(head, number);
    else {
      this.#pool.check({ message: head.header, signature: head.header_signature, key: header.signer_public_key },
        () => {
          this.#cut(number);
          return new Failure(2, `block ${number} (${short(head.header_signature)}): signature does not match`, { about });
        });
    }
    header.batch_ids.forEach((id, at) => {
      if (!ID.test(id)) throw new Failure(2, `block ${number} names a batch id of another form`, { about });
      if (this.#places.has(id)) throw new Failure(2, `block ${number} names batch ${short(id)}, which was named before`, { about });
      this.#places.set(id, { order: this.#order++, block: number, first: at === 0 });
    });
    if (number && network !== this.byNetwork) throw new Failure(2, `block ${number}: one signer and a network of validators do not make blocks of one ledger`, { about });
    if (!network && !this.#signers.has(header.signer_public_key)) this.#signers.set(header.signer_public_key, number);
    if (!number) this.genesis = head.header_signature;
    if (this.#askedBlocks.has(number)) this.ids.set(number, head.header_signature);
    this.lastId = head.header_signature;
    this.stateRoot = header.state_root_hash;
    this.blocks += 1;
  }

  get signers(): string[] {
    return [...this.#signers.keys()].sort();
  }

  /** Whether a network of validators made the blocks, whose ids then are digests. */
  get byNetwork(): boolean {
    return this.blocks > 0 && !this.#signers.size;
  }

  #digest(head: evidence.BlockHead, number: number): void {
    const digest = hex(sha512(head.header));
    if (head.header_signature === digest) return;
    throw new Failure(2, `block ${number} (${short(head.header_signature)}): its id is not the SHA-512 of its header, ${short(digest)}`, { about: String(number) });
  }

  /** Forgets the blocks from one on, whose signature turned out not to hold after they were read. */
  #cut(number: number): void {
    for (const [key, first] of this.#signers) if (first >= number) this.#signers.delete(key);
    this.blocks = number;
  }

  /** Checks a batch; returns its transactions. */
  batch(payload: Uint8Array): Taken[] {
    if (hasTooMany(payload)) throw new Failure(3, `a batch of more than ${MOST_TRANSACTIONS} transactions`);
    const batch = decoded<sawtooth.Batch>("sawtooth.Batch", payload, true);
    const id = batch.header_signature;
    const fail = (text: string): Failure => new Failure(3, `batch ${short(id)}: ${text}`, { about: id });
    if (!batch.transactions.length) throw fail("holds no transactions");
    if (batch.trace) throw fail("`trace` set, which no signature covers");
    const header = decoded<sawtooth.BatchHeader>("sawtooth.BatchHeader", batch.header, false);
    this.#pool.check({ message: batch.header, signature: id, key: header.signer_public_key }, () => fail("signature does not match"));
    if (header.transaction_ids.length !== batch.transactions.length) {
      throw fail(`header names ${header.transaction_ids.length} transactions, the batch holds ${batch.transactions.length}`);
    }
    batch.transactions.forEach((each, at) => {
      if (each.header_signature !== header.transaction_ids[at]) throw fail("its transactions stand in another order");
    });
    const headers = batch.transactions.map((each) => this.#transaction(each, header.signer_public_key));
    const place = this.#places.get(id);
    if (!place) throw new Failure(4, `batch ${short(id)} is in no block`, { about: id });
    if (place.order <= this.#last) throw new Failure(4, `batch ${short(id)} is not in the ledger's order`, { about: id });
    this.#last = place.order;
    this.withBatches.add(place.block);
    return batch.transactions.map((transaction, at) => ({
      header: headers[at] as sawtooth.TransactionHeader, transaction, block: place.block, first: place.first,
    }));
  }

  #transaction(each: sawtooth.Transaction, batcher: string): sawtooth.TransactionHeader {
    const id = each.header_signature;
    const fail = (text: string): Failure => new Failure(3, `transaction ${short(id)}: ${text}`, { about: id });
    const header = decoded<sawtooth.TransactionHeader>("sawtooth.TransactionHeader", each.header, false);
    this.#pool.check({ message: each.header, signature: id, key: header.signer_public_key }, () => fail("signature does not match"));
    const digest = hex(sha512(each.payload));
    if (digest !== header.payload_sha512) throw fail(`payload SHA-512 is ${short(digest)}, signed is ${short(header.payload_sha512)}`);
    if (header.batcher_public_key !== batcher) throw fail(`made for batcher ${short(header.batcher_public_key)}, the batch is by ${short(batcher)}`);
    return header;
  }

  /** Check 5: a transaction comes once. */
  once(id: string): void {
    if (this.#seen.has(id)) throw new Failure(5, `transaction ${short(id)} comes twice`, { about: id });
    this.#seen.add(id);
  }

  has(id: string): boolean {
    return this.#seen.has(id);
  }
}
