import { sha256 as sha256Of, sha512 as sha512Of } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

export const sha256 = (bytes: Uint8Array): Uint8Array => sha256Of(bytes);
export const sha512 = (bytes: Uint8Array): Uint8Array => sha512Of(bytes);
export const hex = bytesToHex;
export const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

export function fromHex(text: string): Uint8Array {
  const made = new Uint8Array(text.length / 2);
  for (let at = 0; at < made.length; at++) made[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return made;
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}
