// Writes verify.html, one file that needs nothing else, from src/.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { writeTypes } from "./types.mjs";

const here = import.meta.dirname;
const read = (name) => readFileSync(join(here, name), "utf8");
const pin = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

await writeTypes();
const made = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "inline",
  loader: { ".proto": "text" },
  absWorkingDir: here,
  write: false,
});
const code = made.outputFiles[0].text;
if (/<\/script|<!--/i.test(code)) throw new Error("the code would end its own script element");
const style = read("src/page.css");
const csp = [
  "default-src 'none'",
  `script-src ${pin(code)} blob:`,
  "worker-src blob:",
  `style-src ${pin(style)}`,
  "img-src data:",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
].join("; ");
const parts = { csp, style, code };
writeFileSync(join(here, "verify.html"), read("src/page.html").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]));
