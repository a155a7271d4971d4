// Check 16: what a network of validators signed (docs/evidence.md, "Blocks of a network of validators").

import { codec } from "./codec.ts";
import { ascii, concat, hex, sha256 } from "./hash.ts";
import { decoded } from "./ledger.ts";
import type { cometbft } from "./messages.ts";
import type { Pool } from "./pool.ts";
import { Failure, short } from "./problem.ts";
import { isKey } from "./rules/text.ts";
import { LAST_MS } from "./rules/times.ts";
import { same } from "./wire.ts";

export interface Sealed {
  chain_id: string;
  /** The first validators in the file, with their power, by public key. */
  began_with: Map<string, number>;
  height: bigint;
  ms: bigint;
  by: string[];
  power: number;
  power_of_all: number;
}

const MOST_VALIDATORS = 100;
const MOST_POWER = 1_000_000n;
const ABSENT = 1;
const FOR_THE_BLOCK = 2;
const PRECOMMIT = 2;
const NOTHING = new Uint8Array(0);

export class Seals {
  readonly #pool: Pool;
  #first: Map<string, number> | undefined;
  #last: { sealed: cometbft.SealedHeader; header: cometbft.Header; powers: Map<string, number>; by: string[] } | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Checks the next sealed header. */
  add(payload: Uint8Array): void {
    const sealed = decoded<cometbft.SealedHeader>("cometbft.SealedHeader", payload, true);
    const header = sealed.header ?? codec.create<cometbft.Header>("cometbft.Header");
    const fail = (text: string): Failure => new Failure(16, `sealed header ${header.height}: ${text}`);
    const powers = powersOf(sealed, fail);
    const validators = validatorsHash(sealed);
    if (!same(validators, header.validators_hash)) throw fail("its validators are not those that it names");
    const by = this.#signers(sealed, header, fail);
    const power = sum(by.map((each) => powers.get(each) as number));
    const all = sum([...powers.values()]);
    if (3 * power <= 2 * all) throw fail(`signed by ${power} of a voting power of ${all}, more than two thirds are needed`);
    const ms = msOf(header);
    if (ms < 0n || ms > LAST_MS) throw fail(`its time, ${ms} ms, is before 1970 or after the year 9999`);
    const before = this.#last?.header;
    if (before) {
      if (header.height <= before.height || header.chain_id !== before.chain_id) throw fail(`it does not follow header ${before.height} of ${before.chain_id}`);
      if (!same(validators, before.validators_hash) && !same(validators, before.next_validators_hash)) {
        throw fail(`its validators do not follow from header ${before.height}`);
      }
    }
    this.#first ??= powers;
    this.#last = { sealed, header, powers, by };
  }

  /** What was signed about the last block. */
  of(blockId: string): Sealed {
    if (!this.#last || !this.#first) throw new Failure(16, "a network of validators made the blocks, and the file has no sealed header: nothing shows that they did");
    const { header, powers, by } = this.#last;
    if (hex(header.app_hash) !== blockId) throw new Failure(16, `sealed header ${header.height} is about block ${short(hex(header.app_hash))}, the last block is ${short(blockId)}`);
    return {
      chain_id: header.chain_id, began_with: this.#first, height: header.height, ms: msOf(header), by: [...by].sort(),
      power: sum(by.map((each) => powers.get(each) as number)), power_of_all: sum([...powers.values()]),
    };
  }

  /** The keys that signed a header. Whether their signatures hold turns out later, in the order of the file. */
  #signers(sealed: cometbft.SealedHeader, header: cometbft.Header, fail: (text: string) => Failure): string[] {
    const commit = sealed.commit ?? codec.create<cometbft.Commit>("cometbft.Commit");
    const block = commit.block_id ?? codec.create<cometbft.BlockID>("cometbft.BlockID");
    if (commit.height !== header.height || !same(block.hash, headerHash(header))) throw fail("the commit is for another header");
    if (commit.signatures.length !== sealed.validators.length) throw fail(`${commit.signatures.length} signatures of ${sealed.validators.length} validators`);
    const by: string[] = [];
    commit.signatures.forEach((each, at) => {
      if (each.block_id_flag === ABSENT && !each.timestamp && !each.signature.length) return;
      if (each.block_id_flag !== FOR_THE_BLOCK) throw fail("a vote that is neither for it nor absent");
      const key = keyOf(sealed.validators[at] as cometbft.SimpleValidator);
      this.#pool.check({ message: voteBytes(header.chain_id, commit, block, each), signature: hex(each.signature), key },
        () => fail(`the signature of validator ${key} does not hold`));
      by.push(key);
    });
    return by;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

function msOf({ time }: cometbft.Header): bigint {
  return time ? time.seconds * 1000n + BigInt(Math.floor(time.nanos / 1_000_000)) : 0n;
}

const keyOf = (validator: cometbft.SimpleValidator): string => hex(validator.pub_key?.secp256k1 ?? NOTHING);

function powersOf(sealed: cometbft.SealedHeader, fail: (text: string) => Failure): Map<string, number> {
  const found = new Map<string, number>();
  for (const each of sealed.validators) {
    const key = keyOf(each);
    const fits = isKey(key) && !found.has(key) && each.voting_power > 0n && each.voting_power <= MOST_POWER;
    if (!fits) throw fail("expected validators each once, with a key of secp256k1 and a power");
    found.set(key, Number(each.voting_power));
  }
  if (!found.size || found.size > MOST_VALIDATORS) throw fail(`expected 1 to ${MOST_VALIDATORS} validators, got ${found.size}`);
  return found;
}

/** The root of a tree (RFC 6962, 2.1). */
function root(leaves: readonly Uint8Array[]): Uint8Array {
  if (!leaves.length) return sha256(NOTHING);
  if (leaves.length === 1) return sha256(concat(Uint8Array.of(0), leaves[0] as Uint8Array));
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(concat(Uint8Array.of(1), root(leaves.slice(0, split)), root(leaves.slice(split))));
}

const validatorsHash = (sealed: cometbft.SealedHeader): Uint8Array => root(sealed.validators.map((each) => codec.encode("cometbft.SimpleValidator", each)));

/** The hash by which votes name a header. */
function headerHash(header: cometbft.Header): Uint8Array {
  const message = (type: string, value: object | undefined): Uint8Array => (value ? codec.encode(type, value) : NOTHING);
  const wrapped = (type: string, value: unknown): Uint8Array => codec.encode(`cometbft.${type}`, { value });
  return root([
    message("cometbft.Consensus", header.version),
    wrapped("StringValue", header.chain_id),
    wrapped("Int64Value", header.height),
    message("google.protobuf.Timestamp", header.time),
    message("cometbft.BlockID", header.last_block_id),
    ...[
      header.last_commit_hash, header.data_hash, header.validators_hash, header.next_validators_hash, header.consensus_hash,
      header.app_hash, header.last_results_hash, header.evidence_hash, header.proposer_address,
    ].map((each) => wrapped("BytesValue", each)),
  ]);
}

/** What a validator signed. */
function voteBytes(chainId: string, commit: cometbft.Commit, block: cometbft.BlockID, signature: cometbft.CommitSig): Uint8Array {
  const vote = codec.encode("cometbft.CanonicalVote", {
    type: PRECOMMIT, height: commit.height, round: BigInt(commit.round), block_id: block,
    timestamp: signature.timestamp ?? { seconds: 0n, nanos: 0 }, chain_id: chainId,
  });
  return concat(varint(vote.length), vote);
}

function varint(value: number): Uint8Array {
  const digits: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return Uint8Array.from([...digits, left]);
    digits.push((left & 127) | 128);
  }
}

const NETWORK_MARK = ascii("CometBFT");
const HEIGHT_BYTES = 8;

/** Whether a network made a block, by its header: nobody signs it, and its id is a digest. */
export function byNetwork(header: { signer_public_key: string; consensus: Uint8Array }): boolean {
  const { consensus } = header;
  return !header.signer_public_key && consensus.length === NETWORK_MARK.length + HEIGHT_BYTES && same(consensus.subarray(0, NETWORK_MARK.length), NETWORK_MARK);
}
