// The page, and, in a worker that runs the same text, the checking of signatures.

import { serve } from "./pool.ts";
import { start } from "./page.ts";

if (typeof document === "undefined") serve();
else start();
