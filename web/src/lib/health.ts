import { bytes, counted, lasting, whole } from "./format";
import type { Some } from "./api";
import type { QuarantinedBatch, Status } from "./types";

/** Something that a person has to look at, the worst first. */
export interface Concern {
  tone: "bad" | "warn";
  title: string;
  text: string;
  href?: string;
}

const BACKLOG_LATE_S = 3600;

export function concerns(status: Status, quarantine: Some<QuarantinedBatch> | null, now: number): Concern[] {
  const found: Concern[] = [];
  for (const each of status.dependencies)
    if (!each.works) found.push({ tone: "bad", title: `${nameOf(each.name)} is out for ${lasting((now - Date.parse(each.since)) / 1000)}`, text: each.reason ?? "", href: "/storage" });
  for (const each of status.damage) found.push({ tone: "bad", title: "Damage was found", text: each, href: "/storage" });
  if (status.index_rebuild) {
    const { blocks, blocks_of, reason } = status.index_rebuild;
    found.push({ tone: "warn", title: `The index is made again: block ${blocks} of ${blocks_of ?? "?"}`, text: reason, href: "/ledger" });
  }
  if (status.site_registered === false) found.push({ tone: "warn", title: `Site ${status.site_id} is not on the ledger`, text: "Trips that end here get a finding. An administrator has to register it." });
  for (const each of quarantine?.items ?? [])
    found.push({ tone: "warn", title: `The ledger refused a batch of ${each.device_id || "an unknown device"}`, text: each.reason, href: "/storage" });
  if (quarantine?.more) found.push({ tone: "warn", title: `The ledger refused more than ${whole(quarantine.items.length)} batches`, text: "The first of them are named here.", href: "/ledger" });
  for (const each of status.budgets)
    if (each.nearly_full) found.push({ tone: "warn", title: `${nameOf(each.name)} is nearly full`, text: `${bytes(each.used_bytes)} of ${bytes(each.limit_bytes)} are used.`, href: "/storage" });
  const { recordings, oldest } = status.backlog;
  if (oldest && (now - Date.parse(oldest)) / 1000 > BACKLOG_LATE_S)
    found.push({ tone: "warn", title: `${counted(recordings, "recording")} ${recordings === 1 ? "lacks" : "lack"} a copy`, text: `The oldest waits for ${lasting((now - Date.parse(oldest)) / 1000)}.`, href: "/storage" });
  if (status.deletions.problem) found.push({ tone: "warn", title: "Deletions are not confirmed by every replica", text: status.deletions.problem, href: "/storage" });
  return found.sort((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad"));
}

const NAMES: Record<string, string> = { broker: "The broker", ledger: "The ledger", blobs: "The blob store", inbox: "The inbox", quarantine: "The quarantine" };

/** A dependency's or budget's name as text: "volume main" becomes "Volume main". */
export const nameOf = (name: string): string => NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
