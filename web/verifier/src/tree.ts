// The ledger's state after the last block, as far as the file proves it (docs/evidence.md, "The state after the last block").

import { concat, hex, sha512 } from "./hash.ts";
import type { evidence } from "./messages.ts";
import { Failure } from "./problem.ts";

const ADDRESS_BYTES = 35;
const HASH_BYTES = 32;
/** As many as a byte has values. */
const MOST_TOKENS = 256;
const TEXT = new TextEncoder();

interface Node {
  path: string;
  tokens: string[];
  hashes: string[];
  value?: Uint8Array;
}

/** What the tree has at an address: a value, nothing, or an unknown value with this hash above it. */
export type Found = { value: Uint8Array } | { nothing: true } | { below: string; hash: string } | { unproved: true };

/** A part of the tree that is not shown: one child, or all below an end. */
export interface Hidden {
  below: string;
  hash: string;
  end: boolean;
}

function head(major: number, count: number): Uint8Array {
  const first = major << 5;
  if (count < 24) return Uint8Array.of(first | count);
  if (count < 256) return Uint8Array.of(first | 24, count);
  if (count < 65_536) return Uint8Array.of(first | 25, count >> 8, count & 255);
  return Uint8Array.of(first | 26, count >>> 24, (count >> 16) & 255, (count >> 8) & 255, count & 255);
}

const cborText = (text: string): Uint8Array => concat(head(3, text.length), TEXT.encode(text));
const cborBytes = (bytes: Uint8Array): Uint8Array => concat(head(2, bytes.length), bytes);
const hashOf = (node: Uint8Array): string => hex(sha512(node)).slice(0, 2 * HASH_BYTES);

function branchHash(tokens: readonly string[], hashes: readonly string[]): string {
  const children = tokens.map((token, at) => concat(cborText(token), cborText(hashes[at] as string)));
  return hashOf(concat(head(5, 2), cborText("c"), head(5, tokens.length), ...children, cborText("v"), Uint8Array.of(0xf6)));
}

function leafHash(value: Uint8Array): string {
  return hashOf(concat(head(5, 2), cborText("c"), head(5, 0), cborText("v"), cborBytes(cborBytes(value))));
}

/** The hash of the node at `top`, if nothing but single children lead from there to `path`. */
function climb(path: string, hash: string, top: string): string {
  let found = hash;
  for (let end = path.length; end > top.length; end -= 2) found = branchHash([path.slice(end - 2, end)], [found]);
  return found;
}

/** The hash of the node at `top` above a single leaf. */
export const hashAbove = (address: string, value: Uint8Array, top: string): string => climb(address, leafHash(value), top);

const outside = (path: string): Failure =>
  new Failure(13, `state node '${path}' is not in the state that the last block commits to`, { about: path });

export class StateTree {
  readonly #nodes = new Map<string, Node>();
  /** Of each child of a branch, by the child's path: the node that continues it. */
  readonly #next = new Map<string, Node>();
  readonly #root: string;
  #last = "";

  constructor(root: string) {
    this.#root = root;
  }

  /** Takes the nodes in the file's order; each must hang below one that came before. */
  add(message: evidence.StateNode): void {
    const node = nodeOf(message);
    if (!this.#nodes.size) {
      const hash = node.path === "" && node.tokens.length ? branchHash(node.tokens, node.hashes) : "";
      if (hash !== this.#root) throw new Failure(13, `the first state node must be the root '${this.#root.slice(0, 16)}', got a node at '${node.path}'`, { about: node.path });
      this.#nodes.set("", node);
      return;
    }
    const above = node.path > this.#last ? this.#above(node.path) : undefined;
    this.#last = node.path;
    if (!above) throw outside(node.path);
    const token = node.path.slice(above.path.length, above.path.length + 2);
    const at = above.tokens.indexOf(token);
    const child = above.path + token;
    if (at < 0 || this.#next.has(child)) throw outside(node.path);
    const own = node.value !== undefined ? leafHash(node.value) : node.tokens.length ? branchHash(node.tokens, node.hashes) : (node.hashes[0] as string);
    if (climb(node.path, own, child) !== above.hashes[at]) throw outside(node.path);
    this.#nodes.set(node.path, node);
    this.#next.set(child, node);
  }

  get empty(): boolean {
    return !this.#nodes.size;
  }

  /** The branch nearest above a path. */
  #above(path: string): Node | undefined {
    for (let end = path.length - 2; end >= 0; end -= 2) {
      const found = this.#nodes.get(path.slice(0, end));
      if (found) return found;
    }
    return undefined;
  }

  find(address: string): Found {
    let node = this.#nodes.get("");
    while (node) {
      if (!address.startsWith(node.path)) return { nothing: true };
      if (node.value !== undefined) return { value: node.value };
      if (!node.tokens.length) return node.path === address ? { below: address, hash: node.hashes[0] as string } : { unproved: true };
      const token = address.slice(node.path.length, node.path.length + 2);
      const at = node.tokens.indexOf(token);
      if (at < 0) return { nothing: true };
      const child = node.path + token;
      const next = this.#next.get(child);
      if (!next) return { below: child, hash: node.hashes[at] as string };
      node = next;
    }
    return { unproved: true };
  }

  /** Everything that is shown below a prefix: leaves, and what only the hash is shown of. */
  under(prefix: string): { leaves: [string, Uint8Array][]; hidden: Hidden[] } {
    const leaves: [string, Uint8Array][] = [];
    const hidden: Hidden[] = [];
    const visit = (node: Node): void => {
      if (!node.path.startsWith(prefix) && !prefix.startsWith(node.path)) return;
      if (node.value !== undefined) leaves.push([node.path, node.value]);
      else if (!node.tokens.length) hidden.push({ below: node.path, hash: node.hashes[0] as string, end: true });
      node.tokens.forEach((token, at) => {
        const child = node.path + token;
        if (!child.startsWith(prefix) && !prefix.startsWith(child)) return;
        const next = this.#next.get(child);
        if (next) visit(next);
        else hidden.push({ below: child, hash: node.hashes[at] as string, end: false });
      });
    };
    const root = this.#nodes.get("");
    if (root) visit(root);
    return { leaves, hidden };
  }
}

function nodeOf(message: evidence.StateNode): Node {
  const path = hex(message.path.subarray(0, ADDRESS_BYTES));
  if (message.tokens.length > MOST_TOKENS) throw outside(path);
  const tokens = Array.from(message.tokens, (each) => each.toString(16).padStart(2, "0"));
  const count = tokens.length || (message.value === undefined ? 1 : 0);
  const leaf = message.value !== undefined;
  const ascending = tokens.every((each, at) => at === 0 || (tokens[at - 1] as string) < each);
  const most = tokens.length ? ADDRESS_BYTES - 1 : ADDRESS_BYTES; // an end may be a leaf whose value is not shown
  const fits = leaf ? message.path.length === ADDRESS_BYTES && !tokens.length : message.path.length <= most;
  if (!fits || !ascending || message.hashes.length !== count * HASH_BYTES) throw outside(path);
  const hashes = Array.from({ length: count }, (_, at) => hex(message.hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)));
  return message.value === undefined ? { path, tokens, hashes } : { path, tokens, hashes, value: message.value };
}
