import { list, part } from "./api";
import type { Limit, Reading } from "./types";

/** Readings of one trip that a page loads at most: three days at one each five seconds. */
export const READINGS_MAX = 50_000;

/** Quantities of readings, with the words and limits that charts need. */
export interface Quantity {
  name: string;
  label: string;
  unit: string;
  digits: number;
  of: (reading: Reading) => number | null;
}

export const QUANTITIES: readonly Quantity[] = [
  { name: "temperature", label: "Temperature", unit: "°C", digits: 1, of: (each) => each.temperature_cel },
  { name: "humidity", label: "Humidity", unit: "%", digits: 0, of: (each) => each.humidity_pct },
  { name: "pressure", label: "Pressure", unit: "hPa", digits: 0, of: (each) => each.pressure_hpa },
];

/** Where a trip was and what was measured, by time; each list has one element for each reading. */
export interface Track {
  /** Seconds since 1970, ascending. */
  times: number[];
  values: Map<string, (number | null)[]>;
  positions: ([number, number] | null)[];
  /** Seconds since 1970 by a clock that was right later; null where the claim stands. */
  corrected: (number | null)[];
  derived: boolean;
  more: boolean;
  /** Readings that have a time before the one ahead of them: a clock went back. */
  wentBack: number;
}

export async function readTrack(tripId: string, signal: AbortSignal): Promise<Track> {
  const found = await list<Reading>(`/v1/trips/${part(tripId)}/readings`, READINGS_MAX, signal);
  const times = found.items.map((each) => Date.parse(each.time) / 1000);
  const wentBack = times.filter((time, at) => at > 0 && time < (times[at - 1] ?? time)).length;
  const order = times.map((_, at) => at).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
  const sorted = order.map((at) => found.items[at]!);
  return withGaps({
    times: order.map((at) => times[at]!),
    values: new Map(QUANTITIES.map((each) => [each.name, sorted.map(each.of)])),
    positions: sorted.map(({ position }) => position && [position.longitude, position.latitude]),
    corrected: sorted.map(({ corrected_time }) => (corrected_time === null ? null : Date.parse(corrected_time) / 1000)),
    derived: found.items.some((each) => each.derived),
    more: found.more,
    wentBack,
  });
}

/**
 * Put an empty place after each reading that the next one follows later than four times as long as usual.
 *
 * A line then ends there: nothing is drawn where nothing was measured.
 */
function withGaps(track: Track): Track {
  const steps = track.times.slice(1).map((time, at) => time - track.times[at]!);
  const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0;
  const after = steps.flatMap((step, at) => (step > Math.max(4 * usual, 1) ? [at] : []));
  if (!after.length) return track;
  const split = <T>(items: readonly T[], filler: (at: number) => T): T[] => {
    const result: T[] = [];
    let next = 0;
    for (const [at, item] of items.entries()) {
      result.push(item);
      if (after[next] === at) {
        result.push(filler(at));
        next += 1;
      }
    }
    return result;
  };
  return {
    ...track,
    times: split(track.times, (at) => track.times[at]! + usual),
    values: new Map([...track.values].map(([name, values]) => [name, split<number | null>(values, () => null)])),
    positions: split<[number, number] | null>(track.positions, () => null),
    corrected: split<number | null>(track.corrected, () => null),
  };
}

/** The strictest limits that a trip's deliveries set for a quantity. */
export function strictest(limits: readonly Limit[], quantity: string): { low: number | null; high: number | null } {
  const own = limits.filter((each) => each.quantity === quantity);
  const lows = own.flatMap((each) => (each.minimum === null ? [] : [each.minimum]));
  const highs = own.flatMap((each) => (each.maximum === null ? [] : [each.maximum]));
  return { low: lows.length ? Math.max(...lows) : null, high: highs.length ? Math.min(...highs) : null };
}

/** The place of the last reading at or before a time. */
export function placeAt(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The position at a time: of the last reading before it that has one. */
export function positionAt(track: Track, time: number): [number, number] | null {
  for (let at = placeAt(track.times, time); at >= 0; at--) {
    const found = track.positions[at];
    if (found) return found;
  }
  return null;
}

/** Something that happened on a trip, for the strip under the charts and the list beside it. */
export interface Moment {
  key: string;
  kind: "excursion" | "tamper";
  from: number;
  to: number;
  /** When it began by a clock that was right later; null if the claim stands. */
  corrected: string | null;
  title: string;
  detail: string;
}
