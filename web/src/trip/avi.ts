import { request } from "../lib/api";

/** The frames of a Motion JPEG film in an AVI file, read by byte range: the very bytes that were signed. */
export interface Film {
  frames: number;
  microsPerFrame: number;
  /** The JPEG of a frame. */
  frame(at: number, signal?: AbortSignal): Promise<Blob>;
}

/** The gateway checks whole blobs before it sends a byte of one, so whole ones are asked for. */
const BLOB = 1 << 20;
const KEPT_MAX = 6;
const INDEX_ENTRY = 16;
const CHUNK_HEAD = 8;

export async function openFilm(url: string): Promise<Film> {
  const bytes = new Bytes(url);
  const head = await bytes.view(0, 64);
  if (tag(head, 0) !== "RIFF" || tag(head, 8) !== "AVI " || tag(head, 24) !== "avih")
    throw new Error(`expected an AVI file, got one that begins with ${JSON.stringify(tag(head, 0))}`);
  const { movi, index, length } = await chunks(bytes);
  const entries = await bytes.view(index, index + length);
  const places: [number, number][] = [];
  for (let at = 0; at + INDEX_ENTRY <= length; at += INDEX_ENTRY)
    if (/d[bc]$/.test(tag(entries, at))) places.push([entries.getUint32(at + 8, true), entries.getUint32(at + 12, true)]);
  if (!places[0]) throw new Error("expected frames in the film's index, got none");
  // Most writers count from the tag `movi`, some from the file's start.
  const probe = await bytes.view(movi + places[0][0], movi + places[0][0] + 4);
  const base = /d[bc]$/.test(tag(probe, 0)) ? movi : 0;
  return {
    frames: places.length,
    microsPerFrame: head.getUint32(32, true) || 40_000,
    async frame(at, signal) {
      const [offset, size] = places[Math.max(0, Math.min(places.length - 1, at))]!;
      const from = base + offset + CHUNK_HEAD;
      return new Blob(await bytes.pieces(from, from + size, signal), { type: "image/jpeg" });
    },
  };
}

/** Walk the file's chunks to its pictures and their index. */
async function chunks(bytes: Bytes): Promise<{ movi: number; index: number; length: number }> {
  let movi = 0;
  for (let at = 12; ; ) {
    if (at + 12 > (await bytes.size())) throw new Error("expected an index `idx1` in the AVI file, got none");
    const head = await bytes.view(at, at + 12);
    const [name, length] = [tag(head, 0), head.getUint32(4, true)];
    if (name === "LIST" && tag(head, 8) === "movi") movi = at + 8;
    if (name === "idx1" && movi) return { movi, index: at + 8, length: Math.min(length, (await bytes.size()) - at - 8) };
    at += CHUNK_HEAD + length + (length & 1);
  }
}

function tag(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((each) => view.getUint8(at + each)));
}

/** A file at the gateway, of which whole blobs are asked for and the last few are kept. */
class Bytes {
  private readonly kept = new Map<number, Promise<ArrayBuffer>>();
  private whole = 0;

  constructor(private readonly url: string) {}

  async size(): Promise<number> {
    if (!this.whole) await this.blob(0);
    return this.whole;
  }

  async view(from: number, to: number): Promise<DataView> {
    return new DataView(await new Blob(await this.pieces(from, to)).arrayBuffer());
  }

  async pieces(from: number, to: number, signal?: AbortSignal): Promise<ArrayBuffer[]> {
    const found: ArrayBuffer[] = [];
    for (let at = Math.floor(from / BLOB); at * BLOB < to; at++) {
      const blob = await this.blob(at, signal);
      found.push(blob.slice(Math.max(0, from - at * BLOB), to - at * BLOB));
    }
    void this.ahead(Math.floor(to / BLOB) + 1);
    return found;
  }

  /** Ask for the next blob while this one is shown. */
  private async ahead(at: number): Promise<void> {
    if (at * BLOB < this.whole && !this.kept.has(at)) await this.blob(at).catch(() => undefined);
  }

  private blob(at: number, signal?: AbortSignal): Promise<ArrayBuffer> {
    const asked = this.kept.get(at) ?? this.fetched(at);
    this.kept.delete(at);
    this.kept.set(at, asked);
    for (const oldest of this.kept.keys()) if (this.kept.size > KEPT_MAX) this.kept.delete(oldest);
    asked.catch(() => this.kept.delete(at));
    signal?.throwIfAborted();
    return asked;
  }

  private async fetched(at: number): Promise<ArrayBuffer> {
    const response = await request(this.url, { headers: { Range: `bytes=${at * BLOB}-${(at + 1) * BLOB - 1}` } });
    const total = response.headers.get("Content-Range")?.split("/")[1];
    this.whole = Number(total ?? response.headers.get("Content-Length"));
    return response.arrayBuffer();
  }
}
