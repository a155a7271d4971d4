import type { Component } from "svelte";
import Board from "../pages/Board.svelte";

/**
 * A page: where it is, what it is called, and its code, which is loaded when it is first shown.
 *
 * The board's code comes with the first script: on a slow line each further file delays the first page.
 */
export interface Route {
  path: string;
  title: string;
  code: () => Promise<{ default: PageCode }>;
}

/** A page's component; one that has neither parameters nor a query takes no properties. */
export type PageCode = Component<PageProps> | Component<Record<string, never>> | Component;

export interface PageProps {
  parameters: Record<string, string>;
  query: URLSearchParams;
}

// gateway/api/pages.py serves the same paths; tests/unit/test_pages_served.py compares the two.
export const ROUTES: readonly Route[] = [
  { path: "/", title: "Board", code: () => Promise.resolve({ default: Board }) },
  { path: "/trips", title: "Trips", code: () => import("../pages/Trips.svelte") },
  { path: "/trips/:trip", title: "Trip", code: () => import("../pages/Trip.svelte") },
  { path: "/lots", title: "Lots", code: () => import("../pages/Lots.svelte") },
  { path: "/lot", title: "Lot", code: () => import("../pages/Lot.svelte") },
  { path: "/deliveries", title: "Deliveries", code: () => import("../pages/Deliveries.svelte") },
  { path: "/deliveries/:delivery", title: "Delivery", code: () => import("../pages/Delivery.svelte") },
  { path: "/parties", title: "Parties", code: () => import("../pages/Parties.svelte") },
  { path: "/devices", title: "Devices", code: () => import("../pages/Devices.svelte") },
  { path: "/storage", title: "Storage", code: () => import("../pages/Storage.svelte") },
  { path: "/ledger", title: "Ledger", code: () => import("../pages/Ledger.svelte") },
  { path: "/access", title: "Access", code: () => import("../pages/Access.svelte") },
  { path: "/search", title: "Search", code: () => import("../pages/Search.svelte") },
];

interface Place {
  route: Route | undefined;
  props: PageProps;
}

let place = $state.raw<Place>(find());

export const here = (): Place => place;

/** Go to a page of ours without loading the whole document again. */
export function go(url: string): void {
  history.pushState(null, "", url);
  place = find();
  scrollTo(0, 0);
}

function find(): Place {
  const query = new URLSearchParams(location.search);
  for (const route of ROUTES) {
    const parameters = match(route.path, location.pathname);
    if (parameters) return { route, props: { parameters, query } };
  }
  return { route: undefined, props: { parameters: {}, query } };
}

function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const got = path.split("/");
  if (wanted.length !== got.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [at, name] of wanted.entries()) {
    const text = got[at] ?? "";
    if (name.startsWith(":") && text) parameters[name.slice(1)] = decodeURIComponent(text);
    else if (name !== text) return undefined;
  }
  return parameters;
}

function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest("a");
  const url = link && new URL(link.getAttribute("href") ?? "", location.href);
  if (!link || !url || link.target || link.hasAttribute("download") || url.origin !== location.origin) return;
  if (url.hash && url.pathname === location.pathname) return;
  if (!ROUTES.some((route) => match(route.path, url.pathname))) return;
  event.preventDefault();
  go(url.pathname + url.search);
}

document.addEventListener("click", follow);
addEventListener("popstate", () => (place = find()));
