// Sawtooth's signatures: ECDSA over secp256k1 and SHA-256, 64 bytes in hexadecimal, low s only.

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, hex, sha256 } from "./hash.ts";
import { type Affine, type Place, sums, type Table, tableOf, type Term } from "./sums.ts";

export interface Signed {
  message: Uint8Array;
  signature: string;
  key: string;
}

const SIGNATURE = /^[0-9a-f]{128}$/;
const KEY = /^0[23][0-9a-f]{64}$/;

const { Point } = secp256k1;
const Scalars = Point.Fn;

/** A table of a key's multiples costs as much time as a hundred signatures, and then each costs a third. */
const OFTEN = 128;
/** A table takes some 600 kB. */
const TABLES_MAX = 64;
const KEYS_MAX = 4096;

interface Known {
  point: Place;
  used: number;
  table?: Table;
}

/** A signature that may hold: its r, and the factors of base point and key in the sum whose x r must be. */
interface Asked {
  r: bigint;
  ofBase: bigint;
  ofKey: bigint;
  key: Known;
}

const known = new Map<string, Known>();
let tables = 0;
let base: Table | undefined;

/** Whether a text is a compressed public key: a point of the curve. */
export function isKey(text: string): boolean {
  try {
    return KEY.test(text) && Boolean(Point.fromHex(text));
  } catch {
    return false;
  }
}

/** Says of each signature whether it holds. Source: SEC 1, version 2.0, clause 4.1.4. */
export function areSigned(group: readonly Signed[]): boolean[] {
  const read = group.map(readOne);
  const inverses = Scalars.invertBatch(read.map((each) => each?.s ?? 1n));
  const asked = read.map((each, at) => each && askedOf(each, inverses[at] as bigint));
  const often = asked.filter((each) => each !== undefined && each.key.table !== undefined) as Asked[];
  const found = sums(often.map(termsOf));
  const quick = new Map(often.map((each, at) => [each, found[at]]));
  return asked.map((each) => each !== undefined && holds(each, quick.get(each)));
}

interface Read {
  r: bigint;
  s: bigint;
  digest: bigint;
  key: Known;
}

/** Undefined if it cannot hold, whatever was signed. */
function readOne({ message, signature, key }: Signed): Read | undefined {
  if (!SIGNATURE.test(signature) || !KEY.test(key)) return undefined;
  try {
    const parts = secp256k1.Signature.fromBytes(fromHex(signature), "compact"); // throws unless 0 < r, s < n
    if (parts.hasHighS()) return undefined;
    return { r: parts.r, s: parts.s, digest: Scalars.create(BigInt(`0x${hex(sha256(message))}`)), key: knownKey(key) };
  } catch {
    return undefined;
  }
}

function askedOf({ r, digest, key }: Read, inverse: bigint): Asked {
  return { r, ofBase: Scalars.mul(digest, inverse), ofKey: Scalars.mul(r, inverse), key };
}

function termsOf({ ofBase, ofKey, key }: Asked): Term[] {
  base ??= tableOf(Point.BASE);
  return [{ table: base, scalar: ofBase }, { table: key.table as Table, scalar: ofKey }];
}

function holds({ r, ofBase, ofKey, key }: Asked, sum: Affine | undefined): boolean {
  if (sum) return Scalars.create(sum.x) === r;
  const found = Point.BASE.multiplyUnsafe(ofBase).add(key.point.multiplyUnsafe(ofKey));
  return !found.is0() && Scalars.create(found.x) === r;
}

/** Returns a key's point, with a table if the key signed often. */
function knownKey(key: string): Known {
  let found = known.get(key);
  if (!found) {
    if (known.size === KEYS_MAX) {
      known.clear();
      tables = 0;
    }
    found = { point: Point.fromHex(key), used: 0 };
    known.set(key, found);
  }
  found.used++;
  if (found.used === OFTEN && tables < TABLES_MAX) {
    found.table = tableOf(found.point);
    tables++;
  }
  return found;
}
