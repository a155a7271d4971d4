// Where a device was when it sealed (docs/contract.md, "Places").

import type { payload as p } from "../messages.ts";
import type { Told } from "./chains.ts";

const DEGREE_M = 111_195n;
const E7 = 10n ** 7n;

export function arrived(t: Told): void {
  const { trip, chain, notes } = t;
  const site = trip.destination;
  if (!site?.position) return;
  const where = chain.last_position;
  if (!where) {
    if (trip.start?.device_id === chain.device_id) notes.add("position-missing", `no position; ${site.site_id} has a known place`);
    return;
  }
  const away = distance(where, site.position);
  if (away * 100n > BigInt(site.radius_m) * 100n + BigInt(where.accuracy_cm)) {
    notes.add("arrived-elsewhere", `${away} m from ${site.site_id}, which reaches ${site.radius_m} m`);
  }
}

export function distance(a: p.Position, b: p.Position): bigint {
  const [lat1, lat2] = [BigInt(a.latitude_e7), BigInt(b.latitude_e7)];
  let apart = size(BigInt(a.longitude_e7) - BigInt(b.longitude_e7));
  if (apart > 180n * E7) apart = 360n * E7 - apart;
  const north = (size(lat1 - lat2) * DEGREE_M) / E7;
  const middle = floor(lat1 + lat2, 2n);
  const whole = 32_400n * 10n ** 14n;
  const east = (apart * DEGREE_M * (whole - 4n * middle * middle)) / (E7 * (whole + middle * middle));
  return root(north * north + east * east);
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);
const floor = (value: bigint, by: bigint): bigint => (value >= 0n ? value / by : -((-value + by - 1n) / by));

/** The square root, rounded down. */
function root(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = BigInt(Math.floor(Math.sqrt(Number(value))));
  while (guess * guess > value) guess -= 1n;
  while ((guess + 1n) * (guess + 1n) <= value) guess += 1n;
  return guess;
}
