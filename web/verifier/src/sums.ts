// Sums of points of secp256k1, many at once. In affine coordinates an addition takes six multiplications and a
// division, the library's projective one takes fourteen; and one division serves all sums (Montgomery's trick).

import { normalizeZ } from "@noble/curves/abstract/curve.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";

const { Point } = secp256k1;
const { Fp, Fn } = Point;
const P = Fp.ORDER;
export type Place = InstanceType<typeof Point>;

/** Bits of a scalar that one addition takes. */
const BITS = 8;
const MOST = 1 << (BITS - 1);
/** One more than a scalar has bytes: digits reach from -127 to 128, so the last byte may carry. */
const WINDOWS = 33;

export interface Affine {
  x: bigint;
  y: bigint;
}

/** 1 to 128 times a point, then as many of its 256fold, and so on. */
export type Table = readonly Affine[];

/** How often a point is taken, which its table stands for. */
export interface Term {
  table: Table;
  scalar: bigint;
}

/** Makes the table of a point, in the time of some hundred signatures. */
export function tableOf(point: Place): Table {
  const made: Place[] = [];
  for (let window = 0, unit = point; window < WINDOWS; window++) {
    for (let each = unit, count = 0; count < MOST; count++, each = each.add(unit)) made.push(each);
    unit = (made.at(-1) as Place).double();
  }
  return normalizeZ(Point, made).map(({ x, y }) => ({ x, y }));
}

/** The points to add for a term: one of each window of its table, or none. */
function chosen({ table, scalar }: Term): (Affine | undefined)[] {
  const bytes = Fn.toBytes(scalar).reverse();
  let carry = 0;
  return Array.from({ length: WINDOWS }, (_, window) => {
    const digit = (bytes[window] ?? 0) + carry;
    carry = digit > MOST ? 1 : 0;
    const size = carry ? 2 * MOST - digit : digit;
    const point = size ? (table[window * MOST + size - 1] as Affine) : undefined;
    return point && carry ? { x: point.x, y: P - point.y } : point;
  });
}

/**
 * The sum of each list of terms; undefined if two points on the way have the same x, as equal and opposite points
 * do. Nobody meets that by chance, and the caller lets the library add then.
 */
export function sums(of: readonly (readonly Term[])[]): (Affine | undefined)[] {
  const points = of.map((terms) => terms.flatMap(chosen).filter((each) => each !== undefined));
  const found = points.map((each) => each[0]);
  const longest = Math.max(0, ...points.map((each) => each.length));
  for (let step = 1; step < longest; step++) addAll(found, points.map((each) => each[step]));
  return found;
}

/** Adds to each sum the point that is there for it. */
function addAll(found: (Affine | undefined)[], points: readonly (Affine | undefined)[]): void {
  const apart: bigint[] = [];
  const places: number[] = [];
  for (const [place, point] of points.entries()) {
    const sum = found[place];
    if (!sum || !point) continue;
    if (sum.x === point.x) found[place] = undefined;
    else {
      apart.push(point.x - sum.x);
      places.push(place);
    }
  }
  const inverses = invertAll(apart);
  for (const [index, place] of places.entries()) {
    found[place] = added(found[place] as Affine, points[place] as Affine, inverses[index] as bigint);
  }
}

/** Source: SEC 1, version 2.0, clause 2.2.1, addition of points with different x; `inverse` is of their distance. */
function added(a: Affine, b: Affine, inverse: bigint): Affine {
  const slope = ((b.y - a.y) * inverse) % P;
  const x = Fp.create(slope * slope - a.x - b.x);
  return { x, y: (slope * (a.x - x) - a.y) % P };
}

/** Source: Montgomery's trick: one inversion of the product, and three multiplications for each. */
function invertAll(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const each of values) {
    before.push(product);
    product = (product * each) % P;
  }
  let inverse = Fp.inv(Fp.create(product));
  for (let at = values.length - 1; at >= 0; at--) {
    const own = (inverse * (before[at] as bigint)) % P;
    inverse = (inverse * (values[at] as bigint)) % P;
    before[at] = own;
  }
  return before;
}
