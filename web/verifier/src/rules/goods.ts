// TransformLots, SetLotStatus.

import { payload as p, type state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, create, Notes, partyWithRole, signedByParty } from "./case.ts";
import { must } from "./refusal.ts";

export const MOST = 10n ** 15n;
const STATUS = ["cleared", "quarantined", "recalled"];
const sum = (a: bigint, b: bigint): bigint => (a + b > MOST ? MOST : a + b);
const nameOf = (lot: { gtin: string; lot: string }): string => `lot ${lot.gtin}:${lot.lot}`;
/** What was said of a lot, and by which party. */
export const withheld = (status: p.SetLotStatus): string => `${STATUS[status.status]} by ${status.party_id}`;
export { nameOf as lotName };

export function transformLots(c: Case, a: p.TransformLots): void {
  signedByParty(c, a.party_id);
  partyWithRole(c, a.party_id, p.Role.MANUFACTURER, p.Role.SELLER);
  must(c.store.has(at.site(a.site_id)), "unknown-site", `site ${a.site_id} is not registered`);
  const address = at.transformation(a.transformation_id);
  must(!c.store.has(address), "transformation-exists", `transformation ${a.transformation_id} is on record`);
  const notes = new Notes({ transformation_id: a.transformation_id, transaction_id: c.id });
  for (const each of a.inputs) use(c, each, notes);
  for (const each of a.outputs) make(c, each, a.party_id, notes);
  c.store.write("Transformation", address, create<s.Transformation>("state.Transformation", { terms: a, findings: notes.found }));
}

function lotAt(c: Case, of: p.LotQuantity): s.Lot {
  return c.store.read<s.Lot>("Lot", at.lot(of.gtin, of.lot)) ?? create<s.Lot>("state.Lot", { gtin: of.gtin, lot: of.lot });
}

function use(c: Case, of: p.LotQuantity, notes: Notes): void {
  const lot = { ...lotAt(c, of) };
  if (c.version && lot.status && lot.status.status !== p.SetLotStatus_Status.CLEARED) {
    notes.add("lot-withheld", `${nameOf(of)} is ${withheld(lot.status)}`);
  }
  if (!lot.party_id) {
    notes.add("lot-unknown", `nobody is on record as the maker of ${nameOf(of)}`);
    lot.unit ||= of.unit;
  }
  if (lot.unit !== of.unit) notes.add("unit-mismatch", `${nameOf(of)} counts in ${lot.unit}, not in ${of.unit}`);
  else lot.used = sum(lot.used, of.quantity);
  if (lot.party_id && lot.used > lot.made) notes.add("lot-overdrawn", `${lot.used} ${lot.unit} of ${nameOf(of)} used, ${lot.made} made`);
  c.store.write("Lot", at.lot(of.gtin, of.lot), lot);
}

function make(c: Case, of: p.LotQuantity, maker: string, notes: Notes): void {
  const lot = { ...lotAt(c, of) };
  if (lot.party_id) {
    must(lot.party_id === maker, "lot-taken", `${nameOf(of)} is made by ${lot.party_id}`);
    must(lot.unit === of.unit, "unit-differs", `${nameOf(of)} is made in ${lot.unit}`);
  } else if (lot.unit && lot.unit !== of.unit) {
    notes.add("unit-mismatch", `${nameOf(of)} was used in ${lot.unit}, is made in ${of.unit}`);
    lot.used = 0n;
  }
  lot.party_id = maker;
  lot.unit = of.unit;
  lot.made = sum(lot.made, of.quantity);
  if (lot.used > lot.made) notes.add("lot-overdrawn", `${lot.used} ${lot.unit} of ${nameOf(of)} used, ${lot.made} made`);
  c.store.write("Lot", at.lot(of.gtin, of.lot), lot);
}

export function setLotStatus(c: Case, a: p.SetLotStatus): void {
  signedByParty(c, a.party_id);
  const party = c.store.read<s.Party>("Party", at.party(a.party_id));
  const authority = party?.roles.includes(p.Role.AUTHORITY) ?? false;
  const found = c.store.read<s.Lot>("Lot", at.lot(a.gtin, a.lot));
  must(found || authority, "unknown-lot", `${nameOf(a)} is not on record`);
  must(authority || found?.party_id === a.party_id, "not-the-party", `${nameOf(a)} is made by ${found?.party_id}`);
  const lot = { ...(found ?? create<s.Lot>("state.Lot", { gtin: a.gtin, lot: a.lot })) };
  if (lot.status && !authority) {
    must(lot.status.party_id === a.party_id, "not-the-party", `${lot.status.party_id} spoke of ${nameOf(a)}`);
  }
  lot.status = a;
  c.store.write("Lot", at.lot(a.gtin, a.lot), lot);
}
