// Shows a verdict: first in one sentence, then by which checks, then what the file tells.

import { counted } from "./counted.ts";
import type { Problem } from "./problem.ts";
import { tellingWords } from "./remarks.ts";
import type { RecordingStory, Story, TripStory } from "./story.ts";
import type { Verdict, Word } from "./verify.ts";

/** What each verdict is called, and what it means. */
export const SAID: Record<Word, [string, string]> = {
  holds: ["Holds", "Every signature and hash in the file holds, the rules were kept, no batch of the named trips is missing, and every chain of signatures ends in a key that you trust. How much of the video was checked is told below. This says that the story is genuine and complete, not that it is good: read it below."],
  unanchored: ["Unanchored", "The file is consistent, but no trusted keys were given: anyone could have made it. Compare the keys found below with those that you have from the ledger's operator, or give a trust file."],
  "format-1": ["Holds, but format 1 cannot show what was left out", "What the file shows holds. An older gateway wrote it, and it cannot prove that nothing was left out: ask for the trips in format 2."],
  "does-not-hold": ["Does not hold", "The first problem below says what failed. What comes after it in the list of checks was not reached, or may not mean anything."],
  "no-evidence": ["No evidence file", "The file does not begin as evidence does. Nothing was checked."],
  "not-checked": ["Not checked", "The file, the keys or a video could not be read."],
};

const CHECKS = [
  "The digest at the end of the file", "Blocks: signed, in a row", "Batches and transactions: signed, whole, unaltered", "Each batch is in a block, in order",
  "Nothing twice, and dependencies are here", "The rules of the contract, applied again", "Nothing of a named trip is missing", "One digest for each recording",
  "Leaf hashes lead to the signed root", "Blobs are what the device signed", "Videos from elsewhere are those recordings", "Keys that you trust",
  "State nodes are in the ledger's state", "The ledger's state is what the batches lead to", "Nothing more of the trips is in the ledger's state",
  "Validators sealed the last block",
];
/** The order in which the checks are done, as far as a failed one ends the run. */
const FATAL = [2, 3, 4, 5, 6, 8, 9, 10, 13, 11, 16];

/** Units as people write them. */
const UNIT_SIGNS: Record<string, string> = { CEL: "°C", P1: "%", A97: "hPa" };

type Content = Node | string;

function el(name: string, content: Content | readonly Content[] = [], kind = ""): HTMLElement {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...(typeof content === "string" || content instanceof Node ? [content] : content));
  return made;
}

/** Text that a party chose: shown as it is, and its direction of writing stays its own. */
const own = (text: string): HTMLElement => el("bdi", text);
const id = (text: string): HTMLElement => el("bdi", text, "id");

function facts(rows: readonly [string, Content][]): HTMLElement {
  return el("dl", rows.flatMap(([name, value]) => [el("dt", name), el("dd", value)]));
}

function table(caption: string, heads: readonly string[], rows: readonly (readonly Content[])[]): HTMLElement {
  const head = el("thead", el("tr", heads.map((each) => {
    const made = el("th", each);
    made.setAttribute("scope", "col");
    return made;
  })));
  const body = el("tbody", rows.map((row) => el("tr", row.map((each) => el("td", each)))));
  const box = el("div", el("table", [el("caption", caption), head, body]), "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", caption);
  return box;
}

export function show(into: HTMLElement, verdict: Verdict, name: string, trusted: boolean): void {
  const [title, meaning] = SAID[verdict.verdict];
  const heading = el("h2", title);
  heading.id = "verdict";
  into.replaceChildren(el("div", [heading, el("p", own(name)), el("p", meaning)], `verdict ${verdict.verdict}`));
  if (verdict.problems.length) into.append(el("h3", "What does not hold"), el("ol", verdict.problems.map((each) => el("li", sentence(each)))));
  if (verdict.exit < 2) into.append(checks(verdict, trusted));
  if (verdict.trips && verdict.keys && verdict.ledger && verdict.recordings) story(into, verdict as Story, verdict.verdict === "does-not-hold");
  into.append(saved(verdict));
  into.hidden = false;
}

function sentence(problem: Problem): Content[] {
  return [problem.check && problem.check <= CHECKS.length ? `Check ${problem.check}: ` : "", own(problem.text)];
}

function checks(verdict: Verdict, trusted: boolean): HTMLElement {
  const rows = checked(verdict, trusted).map(([name, state], at) => [String(at + 1), name, state]);
  return el("details", [el("summary", "The checks, one by one"), table("Checks", ["No.", "Check", "Result"], rows)]);
}

/** Each check by its name, with what it found or why it was not done. */
export function checked(verdict: Verdict, trusted: boolean): [string, string][] {
  const failed = new Set(verdict.problems.map((each) => each.check));
  const stopped = verdict.problems.some((each) => each.check === 0 || FATAL.includes(each.check));
  const state = (check: number): string => {
    if (failed.has(check)) return "✗ fails";
    if (stopped) return "– not reached or not finished";
    if (check === 12 && !trusted) return "– no keys were given";
    if (check === 16 && !verdict.ledger?.by_network) return "– one signer made the blocks";
    if (check > 12 && verdict.format === 1) return "– not possible in format 1";
    const recordings = verdict.recordings ?? [];
    if (check === 8 && !recordings.length) return "– the named trips have no recording";
    if (check === 9 && !recordings.some((each) => each.leaf_hashes_checked)) return "– the file has no leaf hashes";
    if (check === 10 && !recordings.some((each) => each.blobs_checked)) return "– the file has no video";
    if (check === 11 && !recordings.some((each) => each.files.length)) return "– no video was given";
    return "✓ holds";
  };
  return CHECKS.map((each, at) => [each, state(at + 1)]);
}

function story(into: HTMLElement, told: Story, doubtful: boolean): void {
  into.append(el("h2", "What the file says"));
  if (doubtful) into.append(el("p", "Because the file does not hold, nothing of this is proved."));
  for (const each of told.trips) into.append(...trip(each));
  if (told.recordings.length) into.append(table("Recordings", ["SHA-256", "Bytes", "Checked"], told.recordings.map((each) => [id(each.sha256), String(each.size), checkedOf(each)])));
  into.append(el("h3", "The ledger"), facts([
    ["Blocks", String(told.ledger.blocks)], ["Last block", id(told.ledger.last_block_id)],
    ...sealedFacts(told),
    ["Last block begun", told.ledger.last_block_at ?? "not proved"], ["Latest signed time", told.ledger.last_signed_at ?? "none"],
    ...notShown(told).map((each) => ["Not shown", own(each)] as [string, Content]),
    ["Not judged here", "Whether agreed limits were kept, between two trips too, or were those of a draft; required certificates; recalled lots; transformations. Under rules of version 1.0 nobody judges silences. The command wayseal-verify tells all of it."],
  ]));
  into.append(el("h3", "Keys found, to compare"), facts([
    ["Genesis block", id(told.keys.genesis_block_id)], ...makers(told), ["Administrators", list(told.keys.admin_keys)],
  ]));
}

/** What the ledger or a video may hold that the file does not show. */
function notShown(told: Story): string[] {
  const also = new Set(told.trips.flatMap((trip) => trip.deliveries.flatMap((each) =>
    each.also_on_trip_ids.map((id) => `Trip ${id}, on which delivery ${each.delivery_id} went also: ask for its evidence.`))));
  return [
    ...(told.without_lots ? ["What the sources of the delivered lots were made from, and whether a source was recalled: the file was exported without lots."] : []),
    ...[...also].sort(),
    "What came after the last block: a dispute, a hold, the revocation of a key.",
  ];
}

/** Who made the blocks: signers, or a network as it began. */
function makers({ keys }: Story): [string, Content][] {
  if (!keys.network) return [["Block signers", list(keys.block_signers)]];
  const { chain_id, validators } = keys.network;
  return [["Network", own(chain_id)], ["Validators when it began", list(Object.entries(validators).map(([key, power]) => `${key} (${power})`))]];
}

function sealedFacts({ ledger }: Story): [string, Content][] {
  if (!ledger.sealed) return [];
  const { by, power, power_of_all, at } = ledger.sealed;
  return [["Sealed", `by ${by.length} validators with ${power} of ${power_of_all} of the voting power, ${at}`], ["Sealed by", list(by)]];
}

const list = (keys: readonly string[]): HTMLElement => el("span", keys.flatMap((each, at) => (at ? [document.createElement("br"), id(each)] : [id(each)])));

function checkedOf(each: RecordingStory): string {
  if (each.files.length) return `the video ${each.files.join(", ")} is this recording, all ${each.blobs} blobs`;
  return `${each.blobs_checked} of ${each.blobs} blobs are in the file${each.derived ? "; the device says that it is derived, not filmed then and there" : ""}`;
}

function trip(each: TripStory): Content[] {
  const left = Object.entries(each.left_out_findings).map(([rule, count]) => `${rule}: ${count}`).join(", ");
  const parts: Content[] = [el("h3", ["Trip ", id(each.trip_id)]), facts([
    ["Device", own([each.device_id, ...each.other_device_ids].join(", "))],
    ["Way", own([each.origin_site_id, ...each.via_site_ids, each.destination_site_id].join(" → "))],
    ["Readings", `${each.readings}, from ${each.first_reading_at ?? "–"} to ${each.last_reading_at ?? "–"}, as the devices claimed`],
    ...(each.corrections.length ? [["Corrected", `from ${each.first_reading_corrected_at ?? "–"} to ${each.last_reading_corrected_at ?? "–"}, by clocks that were right later`] as [string, Content]] : []),
    ...each.telling.map((one) => ["Faults", el("span", [own(one.device_id), `: ${tellingWords(one)}`])] as [string, Content]),
    ["Breaches, tampering", `${counted(each.breaches.length, "breach", "breaches")}, ${counted(each.tampers.length, "tamper event")}`],
    ["Closed by", own(each.closed_by ?? "nobody")],
    ...(each.readings_derived ? [["Derived", `${each.readings_derived} of ${each.readings} readings were replayed or shifted, not measured then and there`] as [string, Content]] : []),
    ["Signed by", list(each.device_keys.map((key) => (each.revoked_device_keys.includes(key) ? `${key}, which is revoked by now` : key)))],
    ...(left ? [["Not shown", `findings on strangers' batches that are left out: ${left}`] as [string, Content]] : []),
  ])];
  if (each.deliveries.length) parts.push(table("Deliveries", ["Delivery", "Status", "Payment", "With", "Breaches", "Tampering", "Silences"],
    each.deliveries.map((d) => [own(d.delivery_id), d.status, d.payment, own(d.custodian_id || "divided or nobody"), String(d.breaches), String(d.tampers), String(d.silences)])));
  if (each.breaches.length) parts.push(table("Breaches", ["Delivery", "Device", "What", "Extreme", "From", "To"],
    each.breaches.map((b) => [own(b.delivery_id), own(b.device_id), b.quantity, `${b.extreme} ${UNIT_SIGNS[b.unit] ?? b.unit}`, both(b.since, b.since_corrected), `${both(b.until, b.until_corrected)}${b.ended ? "" : ", not ended"}`])));
  if (each.tampers.length) parts.push(table("Tampering", ["Device", "Time", "Signs", "Ended"], each.tampers.map((t) => [own(t.device_id), both(t.time, t.corrected_time), t.signs.join(", "), t.ended.join(", ")])));
  if (each.remarks.length) parts.push(table("What devices said of themselves", ["Device", "Reading", "Time", "What", "Change", "Since"],
    each.remarks.map((r) => [own(r.device_id), String(r.sequence), both(r.time, r.corrected_time), own(r.says), r.change, r.since])));
  if (each.corrections.length) parts.push(table("Clocks that were right later", ["Device", "Right at", "Source", "Error, s", "Readings set right", "The first of them"],
    each.corrections.map((k) => [own(k.device_id), k.time, k.clock_origin, k.clock_error_s === null ? "unknown" : String(k.clock_error_s), String(k.readings), both(k.first_reading_at ?? "–", k.first_reading_corrected_at)])));
  if (each.findings.length) parts.push(table("Findings", ["Rule", "Device", "Reading", "What"], each.findings.map((f) => [f.rule, own(f.device_id), String(f.sequence), own(f.detail)])));
  if (each.holds.length) parts.push(table("Legal holds", ["Hold", "Party", "Reason", "Released"], each.holds.map((h) => [own(h.hold_id), own(h.party_id), own(h.reason), h.released_at ?? "in force"])));
  return parts;
}

/** A claimed time, and the time by a clock that was right later. */
const both = (claimed: string, corrected: string | null): string => (corrected === null ? claimed : `${claimed} claimed, ${corrected} corrected`);

/** The verdict as JSON, to keep. */
function saved(verdict: Verdict): HTMLElement {
  const link = el("a", "Keep the verdict as JSON") as HTMLAnchorElement;
  link.href = URL.createObjectURL(new Blob([JSON.stringify(verdict, null, 1)], { type: "application/json" }));
  link.download = "verdict.json";
  return el("p", link);
}
