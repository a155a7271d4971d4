// The checks of docs/evidence.md, in order, and the verdict.

import { codec } from "./codec.ts";
import { Container, type Frame, Part } from "./container.ts";
import { EndState } from "./endstate.ts";
import { hex } from "./hash.ts";
import { decoded, Ledger } from "./ledger.ts";
import type { evidence, payload as p, sawtooth, state as s } from "./messages.ts";
import type { Pool } from "./pool.ts";
import { Failure, NoEvidence, NotChecked, type Problem, short } from "./problem.ts";
import { Videos } from "./recordings.ts";
import { Replay } from "./replay.ts";
import * as at from "./rules/address.ts";
import { isTripId } from "./rules/text.ts";
import { Seals, type Sealed } from "./seals.ts";
import { type Asked, asked } from "./asked.ts";
import { type Story, tell } from "./story.ts";
import { StateTree } from "./tree.ts";
import { type Predecessor, predecessor, type Trust } from "./trust.ts";

export type Word = "holds" | "unanchored" | "format-1" | "does-not-hold" | "no-evidence" | "not-checked";

export interface Verdict extends Partial<Story> {
  verdict: Word;
  exit: 0 | 1 | 2;
  problems: Problem[];
  format?: number;
}

export interface Question extends Asked {
  file: Blob;
  trust?: Trust | undefined;
  videos?: { name: string; file: Blob }[];
  acceptFormat1?: boolean;
  pool: Pool;
  /** Is told how many bytes were read. */
  progress?: (read: number, of: number) => void;
}

/** Findings with which a trip's evidence is not complete (check 7). */
const INCOMPLETE = ["chain-broken", "sequence-gap", "seal-mismatch", "recording-not-sealed", "recording-left-out", "delivery-unknown"];

export async function verify(question: Question): Promise<Verdict> {
  try {
    const run = new Run(question, await Container.open(question.file));
    return await run.verdict();
  } catch (error) {
    const problem = { check: 0, text: error instanceof Error ? error.message : String(error) };
    if (error instanceof NoEvidence) return { verdict: "no-evidence", exit: 2, problems: [problem] };
    if (error instanceof NotChecked) return { verdict: "not-checked", exit: 2, problems: [problem] };
    throw error;
  }
}

class Run {
  readonly #question: Question;
  readonly #container: Container;
  readonly #ledger: Ledger;
  readonly #problems: Problem[] = [];
  #header: evidence.Header | undefined;
  #replay: Replay | undefined;
  #tree: StateTree | undefined;
  #videos: Videos | undefined;
  readonly #seals: Seals;
  #sealed: Sealed | undefined;
  #leftOut = new Map<string, Map<string, number>>();
  #places = new Map<string, s.Finding[]>();
  /** The ledger that the trust file means: the present one, or an earlier one. */
  #trusted: { genesis: string; signers: string[]; before: Predecessor[]; end?: Predecessor } | undefined;

  constructor(question: Question, container: Container) {
    this.#question = question;
    this.#container = container;
    this.#seals = new Seals(question.pool);
    const ends = (question.trust?.predecessors ?? []).map((each) => each.block_num);
    this.#ledger = new Ledger(question.pool, new Set(ends));
  }

  async verdict(): Promise<Verdict> {
    try {
      await this.#read();
      await this.#question.pool.settle();
      this.#ended();
      (this.#videos as Videos).checkWhole();
      await this.#compareVideos();
      this.#complete();
      this.#compareState();
      if (this.#ledger.byNetwork) this.#sealed = this.#seals.of(this.#ledger.lastId);
      this.#problems.push(...asked(this.#question, this.#replay as Replay, this.#ledger, this.#header as evidence.Header));
    } catch (error) {
      this.#problems.push(...(await this.#first(error)));
    }
    this.#problems.push(...this.#anchored());
    return this.#word();
  }

  /** A signature that does not hold comes before whatever failed after it. */
  async #first(error: unknown): Promise<Problem[]> {
    try {
      await this.#question.pool.settle();
    } catch (earlier) {
      if (earlier instanceof Failure) {
        this.#replay?.forgetStrangers();
        return [earlier.problem];
      }
      throw earlier;
    }
    if (error instanceof Failure) return [error.problem];
    throw error;
  }

  #word(): Verdict {
    const { trust } = this.#question;
    const format = this.#container.format;
    const story = this.#header && this.#replay
      ? tell({ header: this.#header, replay: this.#replay, ledger: this.#ledger, tree: this.#tree, videos: this.#videos, leftOut: this.#leftOut, places: this.#places, format, before: this.#before(), sealed: this.#sealed })
      : {};
    const told = { problems: this.#problems, format, ...story };
    if (this.#problems.length) return { verdict: "does-not-hold", exit: 1, ...told };
    if (!trust) return { verdict: "unanchored", exit: 1, ...told };
    if (format === 1 && !this.#question.acceptFormat1) return { verdict: "format-1", exit: 1, ...told };
    return { verdict: "holds", exit: 0, ...told };
  }

  async #read(): Promise<void> {
    for await (const frame of this.#container.frames()) {
      await this.#frame(frame);
      this.#question.progress?.(this.#container.read, this.#container.size);
    }
    if (!this.#header) throw new Failure(0, "there is no header");
    if (!this.#container.digestHolds) throw new Failure(1, "file was altered: its digest is not that of its bytes");
    if (!this.#ledger.blocks) throw new Failure(2, `the header names ledger ${short(this.#header.genesis_id)}, and the file has no block`);
  }

  async #frame(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case Part.HEADER:
        this.#begin(decoded("evidence.Header", frame.payload, true));
        return;
      case Part.BLOCK_HEAD:
        this.#ledger.block(decoded("evidence.BlockHead", frame.payload, true));
        if (this.#ledger.blocks === 1) this.#sameLedger(this.#ledger.genesis, "the file's blocks begin with");
        return;
      case Part.BATCH:
        this.#batch(frame.payload);
        return;
      case Part.LEAF_HASHES:
        (this.#videos as Videos).leaves(decoded("evidence.LeafHashes", frame.payload, true));
        return;
      case Part.BLOB:
        await (this.#videos as Videos).blob(decoded("evidence.Blob", frame.payload, true));
        return;
      case Part.SEALED_HEADER:
        this.#seals.add(frame.payload);
        return;
      default:
        this.#tree ??= new StateTree(this.#ledger.stateRoot);
        this.#tree.add(decoded("evidence.StateNode", frame.payload, true));
    }
  }

  #begin(header: evidence.Header): void {
    if (header.version !== this.#container.format) throw new Failure(0, `the header has version ${header.version}, the file is of format ${this.#container.format}`);
    this.#choose(header.genesis_id);
    const ids = header.trip_ids;
    if (!ids.length || new Set(ids).size !== ids.length || !ids.every(isTripId)) {
      throw new Failure(0, "the header must name at least one trip, each once, by 32 lower-case hexadecimal digits");
    }
    this.#header = header;
    const admins = this.#question.trust && new Set(this.#question.trust.admin_keys);
    this.#replay = new Replay(new Set(ids), admins);
    this.#videos = new Videos(this.#replay.recordings);
  }

  /** Finds which of the trusted ledgers the file is about. */
  #choose(genesis: string): void {
    const { trust } = this.#question;
    if (!trust) return;
    const at = trust.predecessors.findIndex((each) => each.genesis_block_id === genesis);
    const end = trust.predecessors[at];
    this.#trusted = end
      ? { genesis: end.genesis_block_id, signers: end.block_signers, before: trust.predecessors.slice(0, at), end }
      : { genesis: trust.genesis_block_id, signers: trust.block_signers, before: trust.predecessors };
    this.#sameLedger(genesis, "the file is about the ledger that begins with");
  }

  #sameLedger(genesis: string, what: string): void {
    const trusted = this.#trusted?.genesis;
    if (trusted !== undefined && genesis !== trusted) {
      throw new Failure(12, `${what} block ${short(genesis)}, which is not the trusted ${short(trusted)}`, { about: genesis });
    }
    const named = this.#header?.genesis_id;
    if (named !== undefined && genesis !== named) {
      throw new Failure(2, `the header names ledger ${short(named)}, the blocks begin with ${short(genesis)}`, { about: genesis });
    }
  }

  #batch(payload: Uint8Array): void {
    const replay = this.#replay as Replay;
    for (const taken of this.#ledger.batch(payload)) {
      this.#ledger.once(taken.transaction.header_signature);
      replay.take(taken, (id) => this.#ledger.has(id));
    }
  }

  /** Check 7. */
  #complete(): void {
    for (const id of (this.#header as evidence.Header).trip_ids) this.#problems.push(...whole(id, this.#replay as Replay));
  }

  async #compareVideos(): Promise<void> {
    for (const each of this.#question.videos ?? []) {
      const failed = await (this.#videos as Videos).compare(each.name, each.file);
      if (failed) throw failed;
    }
  }

  /** Check 12, of what was read, also if another check ended the run. */
  #anchored(): Problem[] {
    const trusted = this.#trusted;
    const found: Problem[] = [];
    const add = (text: string): void => void found.push({ check: 12, text });
    if (!this.#question.trust) return found;
    if (!this.#ledger.blocks) add("the file has no block that the trusted keys could have signed");
    for (const key of this.#ledger.signers) if (!trusted?.signers.includes(key)) add(`blocks are signed by ${key}, which is not trusted`);
    if (this.#ledger.byNetwork) for (const each of this.#foreignNetwork()) add(each);
    for (const key of [...(this.#replay?.adminKeys ?? [])].sort()) {
      if (!this.#question.trust.admin_keys.includes(key)) add(`parties are registered by ${key}, which is not trusted`);
    }
    const proved = this.#before();
    const asks = trusted && !trusted.end && trusted.before.length > 0; // a trust file that names none asks nothing
    if (asks && proved?.length && JSON.stringify(proved) !== JSON.stringify(trusted.before)) add("the ledger goes on from other ledgers than the trust file says");
    return found;
  }

  /** Why the blocks of a network do not end in validators that are trusted. */
  #foreignNetwork(): string[] {
    const trusted = this.#question.trust?.network;
    const sealed = this.#sealed;
    if (!trusted) return ["a network of validators made the blocks, and the trust file names one signer, not the validators"];
    if (!sealed) return []; // another problem says why
    const same = sealed.chain_id === trusted.chain_id && sealed.began_with.size === trusted.validators.size &&
      [...sealed.began_with].every(([key, power]) => trusted.validators.get(key) === power);
    return same ? [] : [`the network that sealed the blocks began as ${sealed.chain_id} with other validators or powers than the trusted one`];
  }

  /** An earlier ledger ends with the block that the trust file names. */
  #ended(): void {
    const end = this.#trusted?.end;
    const last = this.#ledger.blocks - 1;
    if (!end || last < end.block_num || (last === end.block_num && this.#ledger.lastId === end.block_id)) return;
    throw new Failure(12, `expected a ledger that ended with block ${end.block_num}, ${short(end.block_id)}, got block ${last}, ${short(this.#ledger.lastId)}`);
  }

  /** The earlier ledgers that the file proves, as the setting on the ledger lists them. */
  #before(): Predecessor[] | undefined {
    const found = this.#tree?.find(at.setting("wayseal.predecessors"));
    if (!found || !("value" in found)) return undefined;
    try {
      const setting = codec.decode<sawtooth.Setting>("sawtooth.Setting", found.value);
      const entry = setting.entries.find((each) => each.key === "wayseal.predecessors");
      return entry && (JSON.parse(entry.value) as unknown[]).map(predecessor);
    } catch {
      return undefined;
    }
  }

  /** Checks 14 and 15. */
  #compareState(): void {
    if (this.#container.format === 1) return;
    const header = this.#header as evidence.Header;
    const tree = this.#tree ?? new StateTree(this.#ledger.stateRoot); // without a node it proves no entry
    const end = new EndState(this.#replay as Replay, tree, header.trip_ids, header.without_lots).compare();
    this.#problems.push(...end.problems);
    this.#leftOut = end.leftOut;
    this.#places = end.places;
  }
}

/** Check 7: nothing of a trip is missing. */
function whole(id: string, replay: Replay): Problem[] {
  const found: Problem[] = [];
  const add = (text: string, more: Partial<Problem> = {}): void => void found.push({ check: 7, about: id, text: `trip ${id}: ${text}`, ...more });
  const trip = replay.store.entries.get(at.trip(id))?.value as s.Trip | undefined;
  if (!trip) {
    add("its start is missing");
    return found;
  }
  const start = trip.start as p.StartTrip;
  for (const finding of findingsOf(id, replay)) {
    if (INCOMPLETE.includes(finding.rule)) add(`${finding.rule}: ${finding.detail}`, { rule: finding.rule });
  }
  for (const device of [start.device_id, ...start.other_device_ids]) {
    const chain = replay.store.entries.get(at.chain(id, device))?.value as s.Chain | undefined;
    if (!chain?.seal) {
      add(`device ${device}: no seal, so readings may be missing`);
      continue;
    }
    const recorded = new Set(chain.recorded_videos.map(hex));
    for (const each of chain.seal.recordings) {
      const name = hex(each.sha256);
      if (!recorded.has(name)) add(`recording ${name} is sealed, its digest is missing`);
    }
  }
  return found;
}

export function findingsOf(trip: string, replay: Replay): s.Finding[] {
  const prefix = `${at.tripPrefix(trip)}04`;
  const found: s.Finding[] = [];
  for (const [address, entry] of replay.store.entries) if (address.startsWith(prefix)) found.push(...(entry.value as s.Findings).findings);
  return found;
}
