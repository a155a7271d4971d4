// docs/contract.md, "Addresses": 70 hexadecimal digits.

import { ascii, hex, sha256, sha512 } from "../hash.ts";

export const NAMESPACE = "b7a4b7";
export const BLOCK_INFO = "00b10c";
export const BLOCK_INFO_CONFIG = `${BLOCK_INFO}01${"0".repeat(62)}`;
export const blockInfo = (block: bigint): string => `${BLOCK_INFO}00${block.toString(16).padStart(62, "0")}`;
export const KEYS = `${NAMESPACE}04`;
export const UNITS = `${NAMESPACE}0a`;

const digest = new Map<string, string>();

function digits(text: string, count: number): string {
  let found = digest.get(text);
  if (found === undefined) {
    found = hex(sha512(ascii(text)));
    if (digest.size > 100_000) digest.clear();
    digest.set(text, found);
  }
  return found.slice(0, count);
}

const under = (kind: string) => (id: string): string => `${NAMESPACE}${kind}${digits(id, 62)}`;

export const party = under("01");
export const site = under("02");
export const device = under("03");
export const key = under("04");
export const delivery = under("05");
export const lot = (gtin: string, lot: string): string => under("06")(`${gtin}\0${lot}`);
export const transformation = under("07");
export const series = under("08");
export const certificates = (holder: string, kind: string): string => under("09")(`${holder}\0${kind}`);
export const unit = under("0a");

/** A head of a site's record of accesses. */
export const accesses = (site: string, record: Uint8Array, key: string, sequence: bigint): string =>
  `${NAMESPACE}0b00${digits(`${site}\0${hex(record)}`, 30)}${digits(`${key}\0${sequence}`, 30)}`;
/** The newest head of a record that a key of a site committed. */
export const newestAccesses = (site: string, record: Uint8Array, key: string): string =>
  `${NAMESPACE}0b01${digits(site, 30)}${digits(`${hex(record)}\0${key}`, 30)}`;

/** All entries of a trip begin with this. */
export const tripPrefix = (trip: string): string => `${NAMESPACE}10${digits(trip, 30)}`;
const ofTrip = (trip: string, kind: string, id: string): string => `${tripPrefix(trip)}${kind}${digits(id, 30)}`;

export const trip = (id: string): string => `${tripPrefix(id)}00${"0".repeat(30)}`;
export const chain = (trip: string, device: string): string => ofTrip(trip, "01", device);
export const handOver = (trip: string, delivery: string, site: string, from: string, to: string): string =>
  ofTrip(trip, "02", [delivery, site, from, to].join("\0"));
export const breach = (trip: string, device: string, delivery: string, quantity: number, first: bigint): string =>
  ofTrip(trip, "03", [device, delivery, quantity, first].join("\0"));
export const findings = (trip: string, transaction: string): string => ofTrip(trip, "04", transaction);
export const hold = (trip: string, hold: string): string => ofTrip(trip, "05", hold);
export const filmed = (trip: string, device: string, sha256: string): string => ofTrip(trip, "07", `${device}\0${sha256}`);
export const placeFindings = (trip: string, transaction: string): string => ofTrip(trip, "06", transaction);

/** Of an on-chain setting: four parts of its name, 16 digits of the SHA-256 of each. */
export function setting(name: string): string {
  const parts = name.split(".");
  const four = [...parts.slice(0, 3), parts.slice(3).join(".")];
  while (four.length < 4) four.push("");
  return `000000${four.slice(0, 4).map((part) => hex(sha256(ascii(part))).slice(0, 16)).join("")}`;
}
export const ADMIN_KEYS = setting("wayseal.admin_keys");
