// Sawtooth's signatures: ECDSA over secp256k1 and SHA-256, 64 bytes in hexadecimal, low s only.

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, hex, sha256 } from "./hash.ts";

export interface Signed {
  message: Uint8Array;
  signature: string;
  key: string;
}

const SIGNATURE = /^[0-9a-f]{128}$/;
const KEY = /^0[23][0-9a-f]{64}$/;

const { Point } = secp256k1;
const Scalars = Point.Fn;
type Place = InstanceType<typeof Point>;

/** A table of a point's multiples costs as much time as twenty signatures, and halves that of each. */
const OFTEN = 32;
const TABLE_BITS = 6;
/** A table takes some 500 kB. */
const TABLES_MAX = 64;
const KEYS_MAX = 4096;

interface Known {
  point: Place;
  used: number;
}

const known = new Map<string, Known>();
let tables = 0;

/** Whether a text is a compressed public key: a point of the curve. */
export function isKey(text: string): boolean {
  try {
    return KEY.test(text) && Boolean(Point.fromHex(text));
  } catch {
    return false;
  }
}

export function isSigned(each: Signed): boolean {
  if (!SIGNATURE.test(each.signature) || !KEY.test(each.key)) return false;
  try {
    return holds(fromHex(each.signature), sha256(each.message), pointOf(each.key));
  } catch {
    return false;
  }
}

/** Source: SEC 1, version 2.0, clause 4.1.4; the library's own `verify` takes no point that has a table. */
function holds(bytes: Uint8Array, digest: Uint8Array, key: Place): boolean {
  const signature = secp256k1.Signature.fromBytes(bytes, "compact"); // throws unless 0 < r, s < n
  if (signature.hasHighS()) return false;
  const { r, s } = signature;
  const inverse = Scalars.inv(s);
  const u1 = Scalars.mul(Scalars.create(BigInt(`0x${hex(digest)}`)), inverse);
  const sum = Point.BASE.multiplyUnsafe(u1).add(key.multiplyUnsafe(Scalars.mul(r, inverse)));
  return !sum.is0() && Scalars.create(sum.x) === r;
}

/** Returns the point of a key, with a table if the key signed often. */
function pointOf(key: string): Place {
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
    found.point.precompute(TABLE_BITS);
    tables++;
  }
  return found.point;
}
