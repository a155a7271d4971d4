// The wire format of Protocol Buffers, as far as the messages need it (docs/evidence.md, "Container").

import type { Field, Schema } from "./schema.ts";

/** A message whose bytes are not what they claim to be. */
export class WireError extends Error {}

export type Message = { [field: string]: unknown };

const TEXT_IN = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TEXT_OUT = new TextEncoder();
const EMPTY = new Uint8Array(0);
const U64 = (1n << 64n) - 1n;

export class Codec {
  readonly #schema: Schema;
  readonly #numbered = new Map<string, Map<number, Field>>();
  /** Of each message, what it is without any field, and its fields that are lists. */
  readonly #empty = new Map<string, { made: Message; lists: string[] }>();
  readonly #writer = new Writer();

  constructor(schema: Schema) {
    this.#schema = schema;
    for (const [name, fields] of schema.messages) {
      this.#numbered.set(name, new Map(fields.map((field) => [field.number, field])));
      const made = Object.fromEntries(fields.map((field) => [field.name, absent(field)]));
      this.#empty.set(name, { made, lists: fields.filter((field) => field.repeated).map((field) => field.name) });
    }
  }

  /** A message with nothing but defaults, and what is given. */
  create<T>(type: string, given: Partial<T> = {}): T {
    const empty = this.#empty.get(type);
    if (!empty) throw new Error(`unknown message ${type}`);
    const made = { ...empty.made };
    for (const name of empty.lists) made[name] = [];
    return Object.assign(made, given) as T;
  }

  /** Decodes bytes that somebody signed as they are: unknown fields are skipped, or refused. */
  decode<T>(type: string, bytes: Uint8Array, known = false): T {
    return this.#read(type, new Reader(bytes), known) as T;
  }

  /** Decodes bytes that must be what the message encodes to. */
  decodeCanonical<T>(type: string, bytes: Uint8Array): T {
    const made = this.decode<T>(type, bytes, true);
    if (!same(this.encode(type, made as Message), bytes)) {
      throw new WireError(`${bytes.length} bytes of ${type} are not in canonical encoding`);
    }
    return made;
  }

  encode(type: string, message: object): Uint8Array {
    this.#writer.clear();
    this.#write(type, message as Message, this.#writer);
    return this.#writer.take();
  }

  #fields(type: string): Field[] {
    const fields = this.#schema.messages.get(type);
    if (!fields) throw new Error(`unknown message ${type}`);
    return fields;
  }

  /** Reads fields into a message; one that is cut into several parts is one message. */
  #read(type: string, reader: Reader, known: boolean, made = this.create<Message>(type)): Message {
    const numbered = this.#numbered.get(type) as Map<number, Field>;
    while (!reader.done) {
      const tag = reader.tag();
      const field = numbered.get(tag >>> 3);
      const wire = tag & 7;
      if (field && this.#readField(field, wire, reader, made, known)) continue;
      if (known) throw new WireError(`the bytes hold a field that no ${type} has`);
      reader.skip(tag);
    }
    return made;
  }

  #readField(field: Field, wire: number, reader: Reader, made: Message, known: boolean): boolean {
    const delimited = field.kind === "string" || field.kind === "bytes" || field.kind === "message";
    if (wire === 2 && field.repeated && !delimited) {
      const packed = new Reader(reader.bytes());
      while (!packed.done) (made[field.name] as unknown[]).push(number(field.kind, packed.varint()));
      return true;
    }
    if (wire !== wireType(field)) return false;
    if (field.repeated) (made[field.name] as unknown[]).push(this.#value(field, reader, known));
    else {
      if (field.oneof) this.#clear(field, made);
      made[field.name] = this.#value(field, reader, known, made[field.name]);
    }
    return true;
  }

  /** In a oneof the last one counts. All our oneofs are alone in their message. */
  #clear(kept: Field, made: Message): void {
    for (const name in made) if (name !== kept.name && made[name] !== undefined) made[name] = undefined;
  }

  #value(field: Field, reader: Reader, known: boolean, before?: unknown): unknown {
    switch (field.kind) {
      case "string":
        return text(reader.bytes());
      case "bytes":
        return reader.bytes();
      case "message":
        return this.#read(field.of, new Reader(reader.bytes()), known, before as Message | undefined);
      case "sfixed64":
        return BigInt.asIntN(64, reader.fixed64());
      default:
        return number(field.kind, reader.varint());
    }
  }

  #write(type: string, message: Message, writer: Writer): void {
    for (const field of this.#fields(type)) {
      const value = message[field.name];
      if (value === undefined) continue;
      if (field.repeated) this.#writeMany(field, value as unknown[], writer);
      else if (field.optional || field.kind === "message" || !isDefault(field, value)) {
        this.#writeOne(field, value, writer);
      }
    }
  }

  #writeMany(field: Field, values: unknown[], writer: Writer): void {
    if (!values.length) return;
    if (field.kind === "string" || field.kind === "bytes" || field.kind === "message") {
      for (const value of values) this.#writeOne(field, value, writer);
      return;
    }
    writer.small(field.number * 8 + 2);
    const start = writer.begin();
    for (const value of values) writer.varint(raw(field.kind, value));
    writer.end(start);
  }

  #writeOne(field: Field, value: unknown, writer: Writer): void {
    writer.small(field.number * 8 + wireType(field));
    if (field.kind === "string") writer.block(TEXT_OUT.encode(value as string));
    else if (field.kind === "bytes") writer.block(value as Uint8Array);
    else if (field.kind === "message") {
      const start = writer.begin();
      this.#write(field.of, value as Message, writer);
      writer.end(start);
    } else if (field.kind === "sfixed64") writer.fixed64(value as bigint);
    else writer.varint(raw(field.kind, value));
  }
}

function wireType(field: Field): number {
  if (field.kind === "sfixed64") return 1;
  return field.kind === "string" || field.kind === "bytes" || field.kind === "message" ? 2 : 0;
}

function absent(field: Field): unknown {
  if (field.repeated) return [];
  if (field.optional || field.kind === "message") return undefined;
  switch (field.kind) {
    case "string":
      return "";
    case "bytes":
      return EMPTY;
    case "bool":
      return false;
    case "uint64":
    case "sint64":
    case "int64":
    case "sfixed64":
      return 0n;
    default:
      return 0;
  }
}

function isDefault(field: Field, value: unknown): boolean {
  return field.kind === "bytes" ? (value as Uint8Array).length === 0 : !value;
}

function text(bytes: Uint8Array): string {
  try {
    return TEXT_IN.decode(bytes);
  } catch {
    throw new WireError("text is not valid UTF-8");
  }
}

/** What a varint means for a field. Too many bits are cut off, as every reader of the format does. */
function number(kind: Field["kind"], value: bigint): unknown {
  switch (kind) {
    case "bool":
      return value !== 0n;
    case "uint64":
      return value;
    case "sint64":
      return (value >> 1n) ^ -(value & 1n);
    case "int64":
      return BigInt.asIntN(64, value);
    case "uint32":
      return Number(BigInt.asUintN(32, value));
    case "sint32": {
      const cut = BigInt.asUintN(32, value);
      return Number((cut >> 1n) ^ -(cut & 1n));
    }
    default:
      return Number(BigInt.asIntN(32, value));
  }
}

function raw(kind: Field["kind"], value: unknown): bigint {
  switch (kind) {
    case "bool":
      return value ? 1n : 0n;
    case "uint64":
      return value as bigint;
    case "sint64": {
      const signed = value as bigint;
      return BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
    }
    case "sint32": {
      const signed = BigInt(value as number);
      return BigInt.asUintN(32, (signed << 1n) ^ (signed >> 31n));
    }
    default:
      return BigInt.asUintN(64, BigInt(value as number));
  }
}

/** Whether a message has one of its fields more often than so; nothing is built, so it costs no memory. */
export function hasMore(bytes: Uint8Array, number: number, most: number): boolean {
  const reader = new Reader(bytes);
  for (let found = 0; !reader.done; ) {
    const tag = reader.tag();
    if (tag >>> 3 === number && ++found > most) return true;
    reader.skip(tag);
  }
  return false;
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** How deep groups may lie in groups. */
const DEEPEST = 100;
/** How many bytes a number may take: a value, and a field's tag or length. */
const [LONG, SHORT] = [10, 5];

class Reader {
  readonly #from: Uint8Array;
  #at = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  get done(): boolean {
    return this.#at >= this.#from.length;
  }

  tag(): number {
    const value = this.#short();
    if (value > 0xffffffff || value < 8) throw new WireError("a field has no valid number");
    return value;
  }

  varint(): bigint {
    return BigInt(this.#any(LONG));
  }

  /** The number of a field or a length. */
  #short(): number {
    return Number(this.#any(SHORT));
  }

  /** A number of up to four bytes as such: most are, and large integers take ten times as long. */
  #any(most: number): number | bigint {
    let low = 0;
    for (let count = 0; count < 4; count++) {
      const byte = this.#byte();
      low |= (byte & 127) << (7 * count);
      if (byte < 128) return low;
    }
    let value = BigInt(low);
    for (let count = 4; count < most; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << BigInt(7 * count);
      if (byte < 128) return value & U64;
    }
    throw new WireError(`a number is longer than ${most} bytes`);
  }

  fixed64(): bigint {
    const at = this.#at;
    this.#pass(8);
    return new DataView(this.#from.buffer, this.#from.byteOffset + at, 8).getBigUint64(0, true);
  }

  bytes(): Uint8Array {
    const length = this.#short();
    const end = this.#at + length;
    if (end > this.#from.length) throw new WireError("a field is cut off");
    const found = this.#from.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case 0:
        this.varint();
        return;
      case 1:
        this.#pass(8);
        return;
      case 2:
        this.bytes();
        return;
      case 3:
        this.#skipGroup(tag >>> 3, depth + 1);
        return;
      case 5:
        this.#pass(4);
        return;
      default:
        throw new WireError(`a field has wire type ${tag & 7}`);
    }
  }

  #skipGroup(number: number, depth: number): void {
    if (depth > DEEPEST) throw new WireError("groups lie too deep in groups");
    for (;;) {
      const tag = this.tag();
      if ((tag & 7) === 4) {
        if (tag >>> 3 !== number) throw new WireError("a group ends that did not begin");
        return;
      }
      this.skip(tag, depth);
    }
  }

  #pass(count: number): void {
    if (this.#at + count > this.#from.length) throw new WireError("a field is cut off");
    this.#at += count;
  }

  #byte(): number {
    const byte = this.#from[this.#at++];
    if (byte === undefined) throw new WireError("a number is cut off");
    return byte;
  }
}

class Writer {
  #bytes = new Uint8Array(4096);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  varint(value: bigint): void {
    let left = value;
    for (; left > 0x0fffffffn; left >>= 7n) this.#push(Number(left & 127n) | 128);
    this.small(Number(left));
  }

  /** Writes a number below 2^31. */
  small(value: number): void {
    let left = value;
    for (; left > 127; left >>>= 7) this.#push((left & 127) | 128);
    this.#push(left);
  }

  /** Leaves room for the length of what follows; `end` of the result writes it. */
  begin(): number {
    this.#push(0);
    return this.#length;
  }

  end(start: number): void {
    const length = this.#length - start;
    if (length < 128) {
      this.#bytes[start - 1] = length;
      return;
    }
    const more = Math.floor(Math.log2(length) / 7); // bytes of the length but one
    this.#room(more);
    this.#bytes.copyWithin(start + more, start, this.#length);
    this.#length = start - 1;
    this.small(length);
    this.#length += length;
  }

  fixed64(value: bigint): void {
    this.#room(8);
    new DataView(this.#bytes.buffer, this.#length, 8).setBigInt64(0, value, true);
    this.#length += 8;
  }

  block(bytes: Uint8Array): void {
    this.small(bytes.length);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  take(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #push(byte: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = byte;
  }

  #room(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
