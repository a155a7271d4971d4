// What devices say of themselves (docs/contract.md, "Remarks"; docs/evidence.md, "The verdict").

import { counted } from "./counted.ts";
import { type Correction, correctedBy, type CorrectedTimes } from "./corrected.ts";
import { hex } from "./hash.ts";
import { payload as p, type state as s } from "./messages.ts";

export interface FilmStory {
  pseudo_file_id: string;
  offset_s: number;
}

export interface RemarkStory {
  device_id: string; sequence: number; time: string; corrected_time: string | null;
  kind: string; change: string; subject: string | null; since: string; amount_s: number | null; film: FilmStory[]; says: string;
}

export interface TellingStory {
  device_id: string; readings: number; readings_telling: number; remarks: number; recordings_named: number;
}

export interface CorrectionStory {
  device_id: string; sequence: number; boot_id: string; monotonic_s: number; time: string; clock_origin: string; clock_error_s: number | null;
  readings: number; first_reading_at: string | null; first_reading_corrected_at: string | null;
}

const ONCE_FROM = 32;
const ORIGINS = ["none", "rtc", "ntp", "gnss"];
const WORDS: Record<number, string> = {
  1: "sensor {subject} is lost: unplugged, or its driver fails",
  2: "sensor {subject} hangs",
  3: "sensor {subject} gives values that cannot be",
  4: "sensor {subject} gives the same values all the time",
  5: "camera {subject} is lost: unplugged, or its driver fails",
  6: "camera {subject} hangs",
  7: "camera {subject} sees nothing",
  8: "film of camera {subject} has less quality for want of room",
  9: "camera {subject} is not recorded for want of room",
  10: "nothing could be recorded for want of room",
  11: "nothing could be recorded on a card that takes no writes",
  32: "up to {amount} at the end of film {subject} are lost",
  33: "the clock was set back by {amount}",
  34: "the clock was set ahead by {amount}",
  35: "the device was started again, {amount} after the reading before",
  36: "recording stopped, and went on {amount} after the reading before",
  37: "the clock is right again, by {amount}",
};
const DAY_MS = 86_400_000n;

export const moment = (ms: bigint): string => new Date(Number(ms)).toISOString();
export const momentOf = (ms: bigint | undefined): string | null => (ms === undefined ? null : moment(ms));

function amountWords(ms: bigint): string {
  const rest = ms % 1000n ? `.${String(ms % 1000n).padStart(3, "0")}`.replace(/0+$/, "") : "";
  return `${ms / 1000n}${rest} s${ms >= 2n * DAY_MS ? ` (${ms / DAY_MS} days)` : ""}`;
}

export const filmOf = (moments: readonly p.FilmMoment[]): FilmStory[] =>
  moments.map((each) => ({ pseudo_file_id: each.pseudo_file_id, offset_s: Number(each.offset_ms) / 1000 }));

export function remarkOf(entry: s.Remarked, times: CorrectedTimes | undefined): RemarkStory {
  const said = entry.remark as p.Remark;
  const once = said.kind >= ONCE_FROM;
  const name = Object.entries(p.Remark_Kind).find(([, kind]) => kind === said.kind)?.[0] ?? "";
  return {
    device_id: entry.device_id, sequence: Number(entry.sequence), time: moment(entry.clock?.utc_ms ?? 0n),
    corrected_time: momentOf(times?.ofReading(entry.device_id, entry.sequence)),
    kind: name.toLowerCase().replaceAll("_", "-"), change: once ? "happened" : said.ended ? "ended" : "began",
    subject: said.subject || null, since: moment(said.since_ms), amount_s: once ? Number(said.amount) / 1000 : null, film: filmOf(entry.film),
    says: (WORDS[said.kind] ?? "").replace("{subject}", () => said.subject).replace("{amount}", () => amountWords(said.amount)),
  };
}

export const tellingOf = (chain: s.Chain): TellingStory => ({
  device_id: chain.device_id, readings: Number(chain.count), readings_telling: Number(chain.telling), remarks: Number(chain.remarks), recordings_named: chain.filmed,
});

/** Whether a device would have told what is wrong with it. */
export function tellingWords(each: TellingStory): string {
  if (each.remarks) return counted(each.remarks, "remark");
  if (!each.readings_telling) return "does not tell what is wrong with it, so a fault would not show";
  if (each.readings_telling === each.readings) return "tells what is wrong with it, and told nothing";
  return `told nothing that is wrong with it in ${each.readings_telling} of ${each.readings} readings; the others could not tell`;
}

export function correctionOf(each: Correction): CorrectionStory {
  const { right, first } = each;
  return {
    device_id: each.device, sequence: Number(each.sequence), boot_id: hex(right.boot_id), monotonic_s: Number(right.monotonic_ms) / 1000,
    time: moment(right.utc_ms), clock_origin: ORIGINS[right.origin] ?? "", clock_error_s: right.error_ms === undefined ? null : right.error_ms / 1000,
    readings: each.readings, first_reading_at: momentOf(first?.utc_ms),
    first_reading_corrected_at: first ? momentOf(correctedBy(right, first.monotonic_ms)) : null,
  };
}
