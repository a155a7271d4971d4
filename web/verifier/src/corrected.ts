// What the corrections on a trip set right (docs/contract.md, "Corrections"), while its readings pass by.

import { hex } from "./hash.ts";
import { payload as p } from "./messages.ts";
import { LAST_MS } from "./rules/times.ts";

const MOST_CORRECTIONS = 64;

export interface Correction {
  device: string;
  sequence: bigint;
  right: p.Clock;
  /** How many earlier readings of the boot it sets right, and the first of them by the counter. */
  readings: number;
  first: p.Clock | undefined;
}

/** Readings of one boot that no correction has set right so far. */
interface Waiting {
  readings: number;
  first: p.Clock;
  last: p.Clock;
  earliest: bigint;
  latest: bigint;
}

/** The readings of one device, by ascending number. */
interface Read {
  sequences: bigint[];
  counters: bigint[];
  boots: string[];
}

export function correctedBy(right: p.Clock, counter: bigint): bigint | undefined {
  const utc = right.utc_ms - (right.monotonic_ms - counter);
  return utc >= 0n && utc <= LAST_MS ? utc : undefined;
}

export class CorrectedTimes {
  readonly corrections: Correction[] = [];
  readonly #waiting = new Map<string, Waiting>();
  readonly #counted = new Map<string, number>();
  readonly #read = new Map<string, Read>();
  readonly #right: bigint[] = [];

  /** Takes the next reading of a device's chain. */
  take(device: string, sequence: bigint, reading: p.RunReading): void {
    const clock = reading.clock as p.Clock;
    const boot = hex(clock.boot_id);
    this.#keep(device, sequence, clock.monotonic_ms, boot);
    const counted = this.#counted.get(device) ?? 0;
    const name = `${device}\0${boot}`;
    if (counted < MOST_CORRECTIONS && reading.remarks.some((each) => each.kind === p.Remark_Kind.CLOCK_CORRECTED)) {
      this.#counted.set(device, counted + 1);
      this.#correct(device, sequence, clock, name);
      return;
    }
    const waiting = this.#waiting.get(name);
    if (waiting) follow(waiting, clock);
    else this.#waiting.set(name, { readings: 1, first: clock, last: clock, earliest: clock.utc_ms, latest: clock.utc_ms });
  }

  /** The corrected time of a reading; nothing if its claim stands. */
  ofReading(device: string, sequence: bigint): bigint | undefined {
    const read = this.#read.get(device);
    if (!read || !this.corrections.length) return undefined;
    const at = placeOf(read.sequences, sequence);
    if (at === undefined) return undefined;
    const found = this.corrections.find((each) => each.device === device && each.sequence >= sequence && hex(each.right.boot_id) === read.boots[at]);
    if (!found || found.sequence === sequence) return undefined;
    return correctedBy(found.right, read.counters[at] as bigint);
  }

  /** The first and the last time, corrected where it was; nothing without corrections. */
  span(): [bigint, bigint] | undefined {
    if (!this.corrections.length) return undefined;
    const times = [...this.#right, ...[...this.#waiting.values()].flatMap((each) => [each.earliest, each.latest])];
    return times.reduce<[bigint, bigint]>(([low, high], each) => [each < low ? each : low, each > high ? each : high], [times[0] as bigint, times[0] as bigint]);
  }

  #keep(device: string, sequence: bigint, counter: bigint, boot: string): void {
    const read = this.#read.get(device) ?? { sequences: [], counters: [], boots: [] };
    this.#read.set(device, read);
    read.sequences.push(sequence);
    read.counters.push(counter);
    read.boots.push(read.boots.at(-1) === boot ? (read.boots.at(-1) as string) : boot); // one text for a whole boot
  }

  #correct(device: string, sequence: bigint, right: p.Clock, name: string): void {
    this.#right.push(right.utc_ms);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    this.corrections.push({ device, sequence, right, readings: waiting?.readings ?? 0, first: waiting?.first });
    if (!waiting) return;
    for (const each of [waiting.first, waiting.last]) {
      const utc = correctedBy(right, each.monotonic_ms);
      if (utc !== undefined) this.#right.push(utc);
    }
  }
}

function follow(waiting: Waiting, clock: p.Clock): void {
  waiting.readings += 1;
  if (clock.monotonic_ms >= waiting.last.monotonic_ms) waiting.last = clock;
  else if (clock.monotonic_ms < waiting.first.monotonic_ms) waiting.first = clock;
  if (clock.utc_ms < waiting.earliest) waiting.earliest = clock.utc_ms;
  if (clock.utc_ms > waiting.latest) waiting.latest = clock.utc_ms;
}

function placeOf(ascending: readonly bigint[], value: bigint): number | undefined {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as bigint) < value) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === value ? low : undefined;
}
