import { bytes, counted } from "./format";
import type { Offload } from "./types";

/** Whether the truck of a visit may leave, in the words of docs/operator.md. */
export interface Leave {
  may: boolean;
  word: string;
  because: string;
}

export function leaveOf(visit: Offload): Leave {
  if (visit.receipted) return { may: true, word: "May leave", because: "Everything is here, committed and copied; the truck may delete its copy." };
  if (visit.provisional) {
    const rest = visit.lacking.length ? `: a final receipt waits for ${visit.lacking.join("; ")}` : "";
    return { may: true, word: "May leave, keeps its copy", because: `Everything is committed and a whole copy is here${rest}.` };
  }
  return { may: false, word: "Must stay", because: reasonOf(visit) };
}

function reasonOf(visit: Offload): string {
  const { sent, size } = amounts(visit);
  const held = visit.batches["held"] ?? 0;
  const quarantined = visit.batches["quarantined"] ?? 0;
  const lost = visit.batches["lost"] ?? 0;
  const damaged = visit.recordings.filter((each) => each.damaged).length;
  const reasons = [
    quarantined && `the ledger refused ${counted(quarantined, "batch", "batches")}: a person has to look`,
    lost && `${counted(lost, "batch", "batches")} of it went lost with the ledger`,
    damaged && `${counted(damaged, "recording")} must be uploaded again`,
    sent < size && `${bytes(size - sent)} of video are still only on the truck`,
    held && `${counted(held, "batch", "batches")} of records wait for the ledger`,
    ...visit.lacking,
  ].filter(Boolean);
  return `${capitalised(reasons.join("; ") || "the gateway has not seen the end of its trip yet")}.`;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function amounts(visit: Offload): { sent: number; size: number } {
  let [sent, size] = [0, 0];
  for (const each of visit.recordings) [sent, size] = [sent + Math.min(each.received, each.size), size + each.size];
  return { sent, size };
}

interface Sample {
  at: number;
  sent: number;
}

const SPEED_OVER_MS = 60_000;

/** Seconds until a visit's video is here, from how fast it came in the last minute; null while unknown. */
export class Pace {
  private readonly samples = new Map<string, Sample[]>();

  /** Take note of a look at all visits. */
  seen(visits: readonly Offload[], at: number): void {
    for (const visit of visits) {
      const key = `${visit.trip_id} ${visit.device_id}`;
      const kept = (this.samples.get(key) ?? []).filter((each) => at - each.at <= SPEED_OVER_MS);
      if (kept.at(-1)?.at !== at) kept.push({ at, sent: amounts(visit).sent });
      this.samples.set(key, kept);
    }
  }

  left(visit: Offload): number | null {
    const kept = this.samples.get(`${visit.trip_id} ${visit.device_id}`) ?? [];
    const [first, last] = [kept[0], kept.at(-1)];
    if (!first || !last || last.sent <= first.sent) return null;
    const perMs = (last.sent - first.sent) / (last.at - first.at);
    const { sent, size } = amounts(visit);
    return (size - sent) / perMs / 1000;
  }
}
