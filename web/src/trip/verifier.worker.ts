// Runs the second verifier beside the page, so that the page answers while it works.

import { OwnPool } from "../../verifier/src/pool.ts";
import { checked, SAID } from "../../verifier/src/result.ts";
import { readTrust } from "../../verifier/src/trust.ts";
import { verify } from "../../verifier/src/verify.ts";

/** An evidence file, and the text of a trust file, or null. */
export interface Asked {
  file: Blob;
  trust: string | null;
}

/** How far it is, then the verdict: by its name, with what it means, what fails, and check by check. */
export type Told =
  | { read: number; of: number }
  | { verdict: string; title: string; means: string; problems: string[]; checks: [string, string][] };

self.onmessage = async ({ data }: MessageEvent<Asked>) => {
  const tell = (told: Told): void => self.postMessage(told);
  try {
    const trust = data.trust === null ? undefined : readTrust(data.trust);
    const progress = (read: number, of: number): void => tell({ read, of });
    const found = await verify({ file: data.file, trust, pool: new OwnPool(), progress });
    const [title, means] = SAID[found.verdict];
    const checks = found.exit < 2 ? checked(found, trust !== undefined) : [];
    tell({ verdict: found.verdict, title, means, problems: found.problems.map((each) => each.text), checks });
  } catch (error) {
    const [title, means] = SAID["not-checked"];
    tell({ verdict: "not-checked", title, means, problems: [error instanceof Error ? error.message : String(error)], checks: [] });
  }
};
