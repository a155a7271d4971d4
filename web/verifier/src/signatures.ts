// Sawtooth's signatures: ECDSA over secp256k1 and SHA-256, 64 bytes in hexadecimal, low s only.

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, sha256 } from "./hash.ts";

export interface Signed {
  message: Uint8Array;
  signature: string;
  key: string;
}

const SIGNATURE = /^[0-9a-f]{128}$/;
const KEY = /^0[23][0-9a-f]{64}$/;

/** Whether a text is a compressed public key: a point of the curve. */
export function isKey(text: string): boolean {
  try {
    return KEY.test(text) && Boolean(secp256k1.Point.fromHex(text));
  } catch {
    return false;
  }
}

export function isSigned(each: Signed): boolean {
  if (!SIGNATURE.test(each.signature) || !KEY.test(each.key)) return false;
  try {
    return secp256k1.verify(fromHex(each.signature), sha256(each.message), fromHex(each.key), { prehash: false, lowS: true });
  } catch {
    return false;
  }
}
