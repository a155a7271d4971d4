import dagre from "@dagrejs/dagre";
import type { Lot, TraceSide } from "../lib/types";

/** A lot or a transformation in the graph. */
export interface Node {
  id: string;
  kind: "lot" | "step";
  text: string;
  sub: string;
  href: string | null;
  /** Something is wrong: recalled, or an excursion on one of its trips. */
  bad: string;
  isStart: boolean;
  /** Nobody is on record as its maker: the way back ends here, and not because it began here. */
  isUnknown: boolean;
}

export interface Laid extends Node {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Picture {
  width: number;
  height: number;
  nodes: Laid[];
  edges: { key: string; path: string }[];
}

const SIZE = { lot: [176, 54], step: [132, 40] } as const;
const SHOWN_CHARACTERS = 18;

export const lotId = (lot: Lot): string => `lot ${lot.gtin} ${lot.lot}`;
export const lotHref = (lot: Lot): string => `/lot?gtin=${encodeURIComponent(lot.gtin)}&lot=${encodeURIComponent(lot.lot)}`;

/** Lots and the transformations between them, from sources on the left to products on the right. */
export function draw(start: Lot, sides: readonly TraceSide[], stepsMax: number): Picture {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, [string, string]>();
  const near = new Set(sides.flatMap((side) => side.lots.filter((each) => each.steps <= stepsMax).map(lotId)));
  for (const side of sides) {
    const troubled = new Map(side.deliveries.map((each) => [each.delivery_id, each.breaches + each.tampers] as const));
    for (const lot of side.lots) {
      if (!near.has(lotId(lot))) continue;
      const trouble = lot.delivery_ids.some((each) => troubled.get(each));
      const status = lot.status && lot.status.status !== "cleared" ? lot.status.status : "";
      nodes.set(lotId(lot), {
        id: lotId(lot),
        kind: "lot",
        text: cut(`Lot ${lot.lot}`),
        sub: lot.party_id ? cut(lot.party_id) : "maker unknown",
        href: lotId(lot) === lotId(start) ? null : lotHref(lot),
        bad: [status, trouble && "excursion or tampering"].filter(Boolean).join(", "),
        isStart: lotId(lot) === lotId(start),
        isUnknown: lot.party_id === null,
      });
    }
    for (const each of side.transformations) {
      const id = `step ${each.transformation_id}`;
      const inputs = each.inputs.filter((lot) => near.has(lotId(lot)));
      const outputs = each.outputs.filter((lot) => near.has(lotId(lot)));
      if (!outputs.length && !inputs.length) continue;
      if (!(inputs.length && outputs.length) && each.inputs.length) continue;
      nodes.set(id, { id, kind: "step", text: each.inputs.length ? "made" : "origin", sub: each.at.slice(0, 10), href: null, bad: each.findings.length ? "findings" : "", isStart: false, isUnknown: false });
      for (const lot of inputs) edges.set(`${lotId(lot)} > ${id}`, [lotId(lot), id]);
      for (const lot of outputs) edges.set(`${id} > ${lotId(lot)}`, [id, lotId(lot)]);
    }
  }
  return laid([...nodes.values()], edges);
}

function laid(nodes: readonly Node[], edges: ReadonlyMap<string, [string, string]>): Picture {
  const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR", nodesep: 18, ranksep: 44, marginx: 6, marginy: 6 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const each of nodes) graph.setNode(each.id, { width: SIZE[each.kind][0], height: SIZE[each.kind][1] });
  for (const [from, to] of edges.values()) graph.setEdge(from, to);
  dagre.layout(graph);
  const size = graph.graph();
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: nodes.map((each) => {
      const { x = 0, y = 0, width = 0, height = 0 } = graph.node(each.id);
      return { ...each, x: x - width / 2, y: y - height / 2, width, height };
    }),
    edges: graph.edges().map((edge) => ({ key: `${edge.v} > ${edge.w}`, path: curve(graph.edge(edge).points ?? []) })),
  };
}

/** A line through dagre's points that leaves and arrives level. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let [path, before] = [`M${first.x} ${first.y}`, first];
  for (const point of rest) {
    const middle = (before.x + point.x) / 2;
    path += `C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    before = point;
  }
  return path;
}

const cut = (text: string): string => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text);
