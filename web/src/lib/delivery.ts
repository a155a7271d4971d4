import type { Tone } from "../parts/Badge.svelte";
import type { Delivery } from "./types";

/** How a delivery's status looks: a problem, an end, or on its way. */
export function toneOf(delivery: Delivery): Tone {
  if (delivery.dispute || delivery.status === "disputed") return "bad";
  if (["accepted", "closed", "delivered", "settled"].includes(delivery.status)) return "ok";
  return delivery.status === "cancelled" ? "none" : "info";
}
