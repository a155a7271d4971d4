// What a reader sees.

import { OwnPool, type Pool, WorkerPool } from "./pool.ts";
import { NotChecked } from "./problem.ts";
import { readTrust, type Trust } from "./trust.ts";
import { type Verdict, verify } from "./verify.ts";
import { show } from "./result.ts";

const MOST_WORKERS = 8;
const MOST_TRUST_BYTES = 1 << 20;

const by = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export interface Request {
  file: Blob;
  trust?: Blob | undefined;
  videos?: { name: string; file: Blob }[];
  trips?: string[];
  deliveries?: string[];
  lots?: string[];
  atLeastBlock?: number;
  acceptFormat1?: boolean;
}

let pool: Pool | undefined;

/** One pool for the page's life: starting workers costs more than small files. */
function workers(): Pool {
  if (!pool) {
    const count = Math.min(navigator.hardwareConcurrency || 1, MOST_WORKERS);
    try {
      pool = new WorkerPool(by("code").textContent ?? "", count);
    } catch {
      pool = new OwnPool(); // some browsers start no workers for a page on disk
    }
  }
  return pool;
}

async function trustOf(file: Blob | undefined): Promise<Trust | undefined> {
  if (!file) return undefined;
  if (file.size > MOST_TRUST_BYTES) throw new NotChecked(`trust file: ${file.size} bytes, at most ${MOST_TRUST_BYTES} are read`);
  return readTrust(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
}

/** Verifies, for programs that drive this page too: `await waysealVerify({file, trust})`. */
export async function verifyRequest(request: Request, progress?: (read: number, of: number) => void): Promise<Verdict> {
  let trust: Trust | undefined;
  try {
    trust = await trustOf(request.trust);
  } catch (error) {
    return { verdict: "not-checked", exit: 2, problems: [{ check: 0, text: error instanceof Error ? error.message : String(error) }] };
  }
  const question = { ...request, trust, pool: workers() };
  return verify(progress ? { ...question, progress } : question);
}

export function start(): void {
  (globalThis as unknown as { waysealVerify: typeof verifyRequest }).waysealVerify = verifyRequest;
  for (const id of ["evidence", "trust", "videos"]) prepare(id);
  by("question").addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
}

/** A drop zone: names what was chosen, and takes files that are dropped on it. */
function prepare(id: string): void {
  const input = by<HTMLInputElement>(id);
  const zone = input.closest("label") as HTMLElement;
  const name = by(`${id}-name`);
  const none = name.textContent;
  input.addEventListener("change", () => {
    name.textContent = [...(input.files ?? [])].map((each) => each.name).join(", ") || none;
  });
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (!event.dataTransfer?.files.length) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
}

const first = (id: string): File | undefined => by<HTMLInputElement>(id).files?.[0];
const words = (id: string): string[] => {
  const text = by<HTMLInputElement>(id).value.trim();
  return text ? [text] : [];
};

async function run(): Promise<void> {
  const file = first("evidence");
  const status = by("status");
  if (!file) {
    status.textContent = "Choose an evidence file first.";
    by("evidence").focus();
    return;
  }
  const [button, bar] = [by<HTMLButtonElement>("verify"), by<HTMLProgressElement>("progress")];
  button.disabled = true;
  bar.hidden = false;
  by("result").hidden = true;
  status.textContent = "Checking …";
  try {
    const verdict = await verifyRequest(asRequest(file), (read, of) => { bar.value = of ? read / of : 1; });
    show(by("result"), verdict, file.name, first("trust") !== undefined);
    status.textContent = "Checked. The verdict is below.";
  } catch (error) {
    status.textContent = `Not checked: ${error instanceof Error ? error.message : String(error)}. This is a fault of this page.`;
  } finally {
    button.disabled = false;
    bar.hidden = true;
  }
}

function asRequest(file: File): Request {
  const block = words("ask-block")[0];
  return {
    file,
    trust: first("trust"),
    videos: [...(by<HTMLInputElement>("videos").files ?? [])].map((each) => ({ name: each.name, file: each })),
    trips: words("ask-trip"), deliveries: words("ask-delivery"), lots: words("ask-lot"),
    ...(block === undefined ? {} : { atLeastBlock: Number(block) }),
    acceptFormat1: by<HTMLInputElement>("ask-format").checked,
  };
}
