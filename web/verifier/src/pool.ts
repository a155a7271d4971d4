// Checks signatures on all cores: workers run the text of this same page.

import { areSigned, type Signed } from "./signatures.ts";

/** Remembers the first signature, in the order of the file, that does not hold. */
export interface Pool {
  /** Checks a signature some time later; `fail` says what it means. */
  check(signed: Signed, fail: () => Error): void;
  /** Waits for all signatures; throws what the first bad one means. */
  settle(): Promise<void>;
  close(): void;
}

/** So many share the inversions of their sums, and the workers their number. */
const GROUP = 256;

interface Group {
  signed: Signed[];
  fails: (() => Error)[];
}

abstract class Grouped implements Pool {
  #open: Group = { signed: [], fails: [] };
  #pending: Promise<(() => Error) | undefined>[] = [];

  protected abstract run(signed: Signed[]): Promise<boolean[]>;
  abstract close(): void;

  check(signed: Signed, fail: () => Error): void {
    this.#open.signed.push(signed);
    this.#open.fails.push(fail);
    if (this.#open.signed.length >= GROUP) this.#send();
  }

  #send(): void {
    const group = this.#open;
    this.#open = { signed: [], fails: [] };
    if (!group.signed.length) return;
    this.#pending.push(this.run(group.signed).then((held) => group.fails[held.indexOf(false)]));
  }

  async settle(): Promise<void> {
    this.#send();
    const pending = this.#pending;
    this.#pending = [];
    const fail = (await Promise.all(pending)).find((each) => each !== undefined);
    if (fail) throw fail();
  }
}

/** Checks them here and now. */
export class OwnPool extends Grouped {
  protected override run(signed: Signed[]): Promise<boolean[]> {
    return Promise.resolve(areSigned(signed));
  }

  override close(): void {}
}

/** Hands them out to workers. */
export class WorkerPool extends Grouped {
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, (held: boolean[]) => void>();
  #count = 0;

  constructor(code: string, count: number) {
    super();
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.#workers = Array.from({ length: count }, () => {
      const worker = new Worker(url);
      worker.onmessage = (event: MessageEvent<{ id: number; held: boolean[] }>) => {
        this.#waiting.get(event.data.id)?.(event.data.held);
        this.#waiting.delete(event.data.id);
      };
      return worker;
    });
    URL.revokeObjectURL(url);
  }

  protected override run(signed: Signed[]): Promise<boolean[]> {
    const id = this.#count++;
    this.#workers[id % this.#workers.length]?.postMessage({ id, signed });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  override close(): void {
    for (const each of this.#workers) each.terminate();
  }
}

/** What a worker does. */
export function serve(): void {
  self.onmessage = (event: MessageEvent<{ id: number; signed: Signed[] }>) => {
    self.postMessage({ id: event.data.id, held: areSigned(event.data.signed) });
  };
}
