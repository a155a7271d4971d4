// Reads an evidence file frame by frame (docs/evidence.md, "Container"). A file may be larger than memory.

import { sha256 } from "@noble/hashes/sha2.js";
import { Failure, NoEvidence } from "./problem.ts";
import { same } from "./wire.ts";

export const Part = { HEADER: 1, BLOCK_HEAD: 2, BATCH: 3, LEAF_HASHES: 4, BLOB: 5, STATE_NODE: 6, SEALED_HEADER: 7, END: 255 } as const;
export interface Frame {
  kind: number;
  payload: Uint8Array;
}

const MAGIC = "WAYSEAL EVIDENCE ";
const MAGIC_BYTES = 19;
const HEAD_BYTES = 5;
const MIB = 1 << 20;
const MOST_BYTES: Record<number, number> = { 1: MIB, 2: 4 * MIB, 3: 16 * MIB, 4: 2 * MIB + 1024, 5: MIB + 1024, 6: 16 * MIB + 1024, 7: 64 << 10, 255: 32 };
const WINDOW = 4 * MIB;

/** Bytes of a file, read ahead in windows. */
class Window {
  readonly #file: Blob;
  #bytes = new Uint8Array(0);
  #from = 0;
  at = 0;

  constructor(file: Blob) {
    this.#file = file;
  }

  /** The next bytes; fewer at the end of the file. */
  async take(count: number): Promise<Uint8Array> {
    if (this.at + count > this.#from + this.#bytes.length) {
      const end = Math.min(this.#file.size, this.at + Math.max(count, WINDOW));
      this.#bytes = new Uint8Array(await this.#file.slice(this.at, end).arrayBuffer());
      this.#from = this.at;
    }
    const start = this.at - this.#from;
    const found = this.#bytes.subarray(start, start + count);
    this.at += found.length;
    return found;
  }
}

export class Container {
  readonly format: number;
  readonly size: number;
  readonly #window: Window;
  readonly #hash = sha256.create();
  /** Whether the digest of the last frame was wrong; undefined before the end. */
  digestHolds: boolean | undefined;

  private constructor(size: number, format: number, window: Window, magic: Uint8Array) {
    this.size = size;
    this.format = format;
    this.#window = window;
    this.#hash.update(magic);
  }

  static async open(file: Blob): Promise<Container> {
    const window = new Window(file);
    const magic = await window.take(MAGIC_BYTES);
    const text = new TextDecoder("latin1").decode(magic);
    const format = [1, 2].find((each) => text === `${MAGIC}${each}\n`);
    if (format === undefined) {
      throw new NoEvidence(
        `not an evidence file: it ${text ? `begins with ${JSON.stringify(text)}` : "is empty"}; expected one that begins with '${MAGIC}2'`);
    }
    return new Container(file.size, format, window, magic);
  }

  get read(): number {
    return this.#window.at;
  }

  async *frames(): AsyncGenerator<Frame> {
    let last = 0;
    let headers = 0;
    for (;;) {
      const head = await this.#window.take(HEAD_BYTES);
      if (head.length < HEAD_BYTES) throw new Failure(0, "file ends early: there is no last frame");
      const kind = head[0] as number;
      const length = new DataView(head.buffer, head.byteOffset, HEAD_BYTES).getUint32(1);
      const later = kind === Part.STATE_NODE || kind === Part.SEALED_HEADER;
      const most = later && this.format === 1 ? undefined : MOST_BYTES[kind];
      if (most === undefined) throw new Failure(0, `a frame has the kind ${kind}`);
      if (length > most) throw new Failure(0, `a frame of kind ${kind} has ${length} bytes, at most ${most} are allowed`);
      const digest = kind === Part.END ? this.#hash.clone().digest() : undefined;
      this.#hash.update(head);
      const payload = await this.#window.take(length);
      if (payload.length < length) throw new Failure(0, "file ends early: a frame is cut off");
      if (kind < last) throw new Failure(0, `a frame of kind ${kind} comes after one of kind ${last}`);
      if (kind === Part.HEADER ? ++headers > 1 : !headers) throw new Failure(0, "the file must have one header, first");
      last = kind;
      if (digest) {
        this.digestHolds = same(digest, payload);
        if (this.digestHolds && this.#window.at !== this.size) throw new Failure(0, "bytes follow the last frame");
        return;
      }
      this.#hash.update(payload);
      yield { kind, payload };
    }
  }
}
