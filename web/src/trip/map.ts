import { geoMercator, type GeoProjection } from "d3-geo";
import { request } from "../lib/api";

/** A part of the map, as web/cells.mjs writes it. */
export interface Cell {
  land: number[][];
  borders: number[][];
  places: [number, number, number, string][];
}

export type Point = [number, number];

const CELL = 10;
const SCALE = 1000;
const CELLS_MAX = 16;
const LABELS_MAX = 26;
const LEAST_SPAN = 0.02; // degrees: a truck that stood still gets a map of two kilometres, not of nothing

/** The projection that shows a track with a margin; `zoom` 1 fits it, 2 shows half of it around `centre`. */
export function fitted(track: readonly Point[], width: number, height: number, zoom: number, centre: Point | null): GeoProjection {
  const [west, south, east, north] = bounds(track);
  const [x, y] = [(west + east) / 2, (south + north) / 2];
  const [w, h] = [Math.max(east - west, LEAST_SPAN) / 2, Math.max(north - south, LEAST_SPAN) / 2];
  const corners: Point[] = [[x - w, Math.max(-85, y - h)], [x + w, Math.min(85, y + h)]];
  const margin = Math.min(width, height) * 0.12;
  const around = geoMercator().rotate([-x, 0]);
  around.fitExtent([[margin, margin], [width - margin, height - margin]], { type: "MultiPoint", coordinates: corners });
  if (zoom === 1) return around;
  const middle = (centre && around(centre)) ?? [width / 2, height / 2];
  const [tx, ty] = around.translate();
  return around.scale(around.scale() * zoom).translate([width / 2 + (tx - middle[0]) * zoom, height / 2 + (ty - middle[1]) * zoom]);
}

/** West, south, east, north. A track over 180 degrees has an east above 180. */
export function bounds(track: readonly Point[]): [number, number, number, number] {
  const first = track[0]?.[0] ?? 0;
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [longitude, y] of track) {
    const x = near(longitude, first);
    [west, east] = [Math.min(west, x), Math.max(east, x)];
    [south, north] = [Math.min(south, y), Math.max(north, y)];
  }
  return [west, south, east, north];
}

const near = (longitude: number, to: number): number => longitude + 360 * Math.round((to - longitude) / 360);

/** The names of the cells that a view shows, at most CELLS_MAX of them. */
export function cellsOf(projection: GeoProjection, width: number, height: number): string[] {
  const corners = [[0, 0], [width, 0], [0, height], [width, height]].map((corner) => projection.invert?.(corner as Point) ?? [0, 0]);
  const [west, south, east, north] = bounds(corners as Point[]);
  const names = new Set<string>();
  for (let x = Math.floor(west / CELL) * CELL; x <= east; x += CELL)
    for (let y = Math.floor(south / CELL) * CELL; y <= north; y += CELL) names.add(`${((x + 540) % 360) - 180}_${y}`);
  return [...names].slice(0, CELLS_MAX);
}

const kept = new Map<string, Promise<Cell | null>>();

/** A cell, or null where there is no land. It is asked for once. */
export function cell(name: string): Promise<Cell | null> {
  const asked = kept.get(name) ?? fetched(name);
  kept.set(name, asked);
  return asked;
}

async function fetched(name: string): Promise<Cell | null> {
  try {
    return (await (await request(`/map/${name}.json`)).json()) as Cell;
  } catch (error) {
    kept.delete(name);
    if ((error as { isMissing?: boolean }).isMissing) return null;
    throw error;
  }
}

/** The path of coded lines, as an SVG draws it. */
export function pathOf(lines: readonly number[][], projection: GeoProjection, close: boolean): string {
  return lines.map((flat) => one(flat, projection) + (close ? "Z" : "")).join("");
}

function one(flat: number[], projection: GeoProjection): string {
  let [x, y, path] = [0, 0, ""];
  for (let i = 0; i < flat.length; i += 2) {
    x += flat[i]!;
    y += flat[i + 1]!;
    const point = projection([x / SCALE, y / SCALE]);
    if (point) path += `${path ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
  }
  return path;
}

export interface Label {
  x: number;
  y: number;
  rank: number;
  name: string;
}

/** The places that fit into a view without one label over another, the largest first. */
export function labels(cells: readonly Cell[], projection: GeoProjection, width: number, height: number, size: number): Label[] {
  const shown: Label[] = [];
  const taken: [number, number, number, number][] = [];
  const places = cells.flatMap((each) => each.places).sort((a, b) => a[2] - b[2]);
  for (const [lon, lat, rank, name] of places) {
    const point = projection([lon / SCALE, lat / SCALE]);
    if (!point || point[0] < 6 || point[1] < 14 || point[0] > width - 10 || point[1] > height - 6) continue;
    const box: [number, number, number, number] = [point[0] - size / 2, point[1] - 1.4 * size, point[0] + size + name.length * 0.58 * size, point[1] + 0.6 * size];
    if (box[2] > width || taken.some((each) => box[0] < each[2] && box[2] > each[0] && box[1] < each[3] && box[3] > each[1])) continue;
    taken.push(box);
    shown.push({ x: point[0], y: point[1], rank, name });
    if (shown.length >= LABELS_MAX) break;
  }
  return shown;
}
