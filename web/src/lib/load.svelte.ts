import { Problem, unreachable } from "./problem";

type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** Something that is asked of the gateway: its value, or why it is missing. */
export interface Load<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  /** When the value came, ms since 1970. */
  readonly at: number;
  again(): void;
}

/**
 * Ask when a component begins, again when what `asked` reads changes, and then every `everyMs`.
 *
 * A hidden page does not ask. A value stays while a later question fails: `problem` and `at`
 * then say that it is old.
 */
export function load<T>(asked: () => Ask<T>, everyMs = 0): Load<T> {
  let value = $state.raw<T>();
  let problem = $state.raw<Problem>();
  let at = $state(0);
  let turn = $state(0);
  let last: Ask<T> | undefined;

  $effect(() => {
    const asking = asked();
    void turn;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (last && last !== asking) value = problem = undefined;
    last = asking;
    const go = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          value = await asking(abort.signal);
          at = Date.now();
          problem = undefined;
        } catch (error) {
          if (abort.signal.aborted) return;
          problem = error instanceof Problem ? error : unreachable(error);
        }
      }
      if (everyMs && !abort.signal.aborted) timer = setTimeout(() => void go(), everyMs);
    };
    void go();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  });

  return {
    get value() {
      return value;
    },
    get problem() {
      return problem;
    },
    get at() {
      return at;
    },
    again: () => (turn += 1),
  };
}
