/** "0 breaches", "1 breach": as `wayseal-verify` writes them. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
