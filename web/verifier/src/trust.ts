// The keys that the reader trusts (docs/evidence.md, "The keys you trust").

import { NotChecked } from "./problem.ts";
import { isKey as hasFormOfKey } from "./rules/text.ts";
import { isKey } from "./signatures.ts";

export interface Predecessor {
  genesis_block_id: string;
  block_num: number;
  block_id: string;
  block_signers: string[];
}

export interface Network {
  chain_id: string;
  /** The voting power with which the network began, by public key. */
  validators: Map<string, number>;
}

export interface Trust {
  genesis_block_id: string;
  /** Empty where a network makes the blocks. */
  block_signers: string[];
  network?: Network;
  admin_keys: string[];
  predecessors: Predecessor[];
}

const ID = /^[0-9a-f]{128}$/;
const MOST_VALIDATORS = 100;
const MOST_POWER = 1_000_000;
const MOST_CHARACTERS = 50;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

export function readTrust(text: string): Trust {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotChecked("trust file: it is not JSON; expected the file that `wayseal-gateway trust` prints");
  }
  checkTokens(text);
  const found = record(value);
  for (const name of Object.keys(found)) {
    must(["genesis_block_id", "block_signers", "network", "admin_keys", "predecessors"].includes(name), `member ${name} is unknown`);
  }
  const byNetwork = "network" in found;
  must(byNetwork !== "block_signers" in found, "expected either block_signers or network");
  const before = "predecessors" in found ? found["predecessors"] : [];
  must(Array.isArray(before), "predecessors is no list");
  return {
    genesis_block_id: id(found, "genesis_block_id"),
    block_signers: byNetwork ? [] : keys(found, "block_signers"),
    ...(byNetwork ? { network: network(found["network"]) } : {}),
    admin_keys: keys(found, "admin_keys"),
    predecessors: (before as unknown[]).map(predecessor),
  };
}

/** Refuses what readers of JSON take in different ways: a member that comes twice, and a number that is not written as a whole one. */
function checkTokens(json: string): void {
  const tokens = json.match(TOKEN) ?? [];
  const open: (Set<string> | undefined)[] = [];
  tokens.forEach((token, at) => {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (tokens[at + 1] === ":") {
      const name = JSON.parse(token) as string;
      must(!open.at(-1)?.has(name), `member ${name} comes twice`);
      open.at(-1)?.add(name);
    } else must(!/^[-\d].*[.eE]/.test(token), `${token} is not a whole number`);
  });
}

function network(value: unknown): Network {
  const found = record(value);
  must(Object.keys(found).sort().join() === "chain_id,validators", "network: expected chain_id and validators");
  const name = found["chain_id"];
  must(typeof name === "string" && name && [...name].length <= MOST_CHARACTERS, `network: chain_id has not 1 to ${MOST_CHARACTERS} characters`);
  const validators = Object.entries(record(found["validators"]));
  must(validators.length > 0 && validators.length <= MOST_VALIDATORS, `network: expected 1 to ${MOST_VALIDATORS} validators`);
  for (const [key, power] of validators) {
    must(isKey(key), `network: ${key.slice(0, 70)} is no public key`);
    must(Number.isInteger(power) && (power as number) >= 1 && (power as number) <= MOST_POWER, `network: expected a power from 1 to ${MOST_POWER}`);
  }
  return { chain_id: name as string, validators: new Map(validators as [string, number][]) };
}

export function predecessor(value: unknown): Predecessor {
  const found = record(value);
  must(Object.keys(found).sort().join() === "block_id,block_num,block_signers,genesis_block_id", "predecessor: expected genesis_block_id, block_num, block_id and block_signers");
  const number = found["block_num"];
  must(Number.isSafeInteger(number) && (number as number) >= 0, "block_num is no number of a block");
  return {
    genesis_block_id: id(found, "genesis_block_id"),
    block_num: number as number,
    block_id: id(found, "block_id"),
    block_signers: keys(found, "block_signers"),
  };
}

function record(value: unknown): Record<string, unknown> {
  must(typeof value === "object" && value !== null && !Array.isArray(value), "expected an object");
  return value as Record<string, unknown>;
}

function id(of: Record<string, unknown>, name: string): string {
  must(typeof of[name] === "string" && ID.test(of[name]), `${name} is no id of a block`);
  return of[name] as string;
}

function keys(of: Record<string, unknown>, name: string): string[] {
  const found = of[name];
  must(Array.isArray(found) && found.length && found.every((each) => typeof each === "string" && hasFormOfKey(each)), `${name} is no list of public keys`);
  return found as string[];
}

function must(holds: unknown, what: string): void {
  if (!holds) throw new NotChecked(`trust file: ${what}`);
}
