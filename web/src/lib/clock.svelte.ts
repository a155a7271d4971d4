let now = $state(Date.now());
setInterval(() => (now = Date.now()), 1000);

/** The time now, in ms; what reads it is drawn again each second. */
export function ticking(): number {
  return now;
}
