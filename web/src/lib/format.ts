const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC" });
const SHORT_CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
const WHOLE = new Intl.NumberFormat("en-GB");
const UNITS: Record<string, string> = { CEL: "°C", P1: "%", A97: "hPa" };
const SIZES = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

export const date = (ms: number): string => DATE.format(ms);
export const clock = (ms: number): string => CLOCK.format(ms);
export const shortClock = (ms: number): string => SHORT_CLOCK.format(ms);
export const dateTime = (ms: number): string => `${date(ms)}, ${clock(ms)}`;
export const whole = (value: number): string => WHOLE.format(value);

/** The sign of a UN/ECE unit code, or the code itself. */
export const unitSign = (code: string): string => UNITS[code] ?? code;

export function bytes(count: number): string {
  let value = count;
  let step = 0;
  while (value >= 1000 && step < SIZES.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${step && value < 100 ? value.toFixed(1) : Math.round(value)} ${SIZES[step]}`;
}

/** A length of time in its two largest units: 45 s, 14 min 40 s, 2 h 5 min, 3 d 4 h. */
export function lasting(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return two(whole, 60, "min", 1, "s");
  if (whole < 86400) return two(whole, 3600, "h", 60, "min");
  return two(whole, 86400, "d", 3600, "h");
}

function two(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)} ${bigName}${rest ? ` ${rest} ${smallName}` : ""}`;
}

/** How long ago something was, in words. */
export const ago = (ms: number, now: number): string => `${lasting((now - ms) / 1000)} ago`;

/** "1 breach", "2 breaches", "no breach". */
export function counted(count: number, one: string, many = `${one}s`): string {
  if (count === 0) return `no ${one}`;
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** A word of the API as text: door-open becomes "door open". */
export const words = (name: string): string => name.replace(/[-_]/g, " ");

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
