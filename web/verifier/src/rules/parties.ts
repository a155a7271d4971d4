// RegisterParty, RotateKeys, RegisterSite, RegisterDevice, CertifyParty.

import { payload as p, type state as s } from "../messages.ts";
import * as at from "./address.ts";
import { type Case, create, partyWithRole, signedByParty } from "./case.ts";
import { mayRotate } from "./form.ts";
import { must } from "./refusal.ts";

const { PARTY, DEVICE } = { PARTY: 1, DEVICE: 2 };

function dutiesOf(named: readonly p.KeyDuties[], key: string): number[] {
  return [...(named.find((each) => each.public_key === key)?.duties ?? [])];
}

/** Checks that an owner may have a key; returns its entry, if it has one. */
function free(c: Case, key: string, owner: number, ownerId: string): s.Key | undefined {
  const found = c.store.read<s.Key>("Key", at.key(key));
  if (!found) return undefined;
  must(found.owner === owner && found.owner_id === ownerId, "key-taken", `key ${key} belongs to another owner`);
  must(!found.revoked, "key-was-revoked", `key ${key} was revoked`);
  return found;
}

function revoke(c: Case, key: string): void {
  const found = c.store.read<s.Key>("Key", at.key(key));
  if (found) c.store.write("Key", at.key(key), create<s.Key>("state.Key", { owner: found.owner, owner_id: found.owner_id, revoked: true }));
}

function give(c: Case, key: string, owner: number, ownerId: string, duties: number[], from: string): void {
  c.store.write("Key", at.key(key), create<s.Key>("state.Key", { owner, owner_id: ownerId, duties, descends_from: from }));
}

export function registerParty(c: Case, a: p.RegisterParty): void {
  must(c.admin(c.header.signer_public_key), "not-admin", `key ${c.header.signer_public_key} is not in wayseal.admin_keys`);
  const before = c.store.read<s.Party>("Party", at.party(a.party_id));
  for (const key of a.public_keys) free(c, key, PARTY, a.party_id);
  for (const key of before?.public_keys ?? []) if (!a.public_keys.includes(key)) revoke(c, key);
  for (const key of a.public_keys) give(c, key, PARTY, a.party_id, dutiesOf(a.key_duties, key), "");
  c.store.write("Party", at.party(a.party_id), create<s.Party>("state.Party", {
    party_id: a.party_id, name: a.name, public_keys: a.public_keys, roles: a.roles, key_duties: a.key_duties,
  }));
}

export function rotateKeys(c: Case, a: p.RotateKeys): void {
  const signer = signedByParty(c, a.party_id);
  const party = c.store.read<s.Party>("Party", at.party(a.party_id)) as s.Party;
  for (const key of a.revoked) must(party.public_keys.includes(key), "unknown-key", `key ${key} is not a current key of ${a.party_id}`);
  const stay = party.public_keys.filter((key) => !a.revoked.includes(key));
  const added = a.added.filter((key) => !party.public_keys.includes(key));
  const keys = [...stay, ...added];
  must(keys.length, "last-key", `party ${a.party_id} would keep no key`);
  must(keys.length <= 16, "form", `${keys.length} keys, at most 16 are allowed`);
  const duties = [...party.key_duties.filter((each) => stay.includes(each.public_key)), ...a.key_duties];
  const root = signer.descends_from || c.header.signer_public_key;
  if (c.version) {
    for (const each of a.key_duties) must(!party.public_keys.includes(each.public_key), "form", `key ${each.public_key} is current`);
    const others = party.public_keys.filter((key) => {
      const found = c.store.read<s.Key>("Key", at.key(key));
      return (found?.descends_from || key) !== root;
    });
    must(!others.length || others.some((key) => !a.revoked.includes(key)), "others-revoked", "one key would revoke all others");
    must(mayRotate(keys, duties), "last-key", `no key of party ${a.party_id} could rotate keys`);
  }
  for (const key of a.added) free(c, key, PARTY, a.party_id);
  for (const key of a.revoked) revoke(c, key);
  for (const key of added) give(c, key, PARTY, a.party_id, dutiesOf(a.key_duties, key), c.version ? root : "");
  c.store.write("Party", at.party(a.party_id), { ...party, public_keys: keys, key_duties: duties });
}

export function registerSite(c: Case, a: p.RegisterSite): void {
  signedByParty(c, a.party_id);
  const before = c.store.read<s.Site>("Site", at.site(a.site_id));
  must(!before?.site || before.site.party_id === a.party_id, "not-the-party", `site ${a.site_id} belongs to another party`);
  c.store.write("Site", at.site(a.site_id), create<s.Site>("state.Site", { site: a }));
}

export function registerDevice(c: Case, a: p.RegisterDevice): void {
  signedByParty(c, a.party_id);
  const before = c.store.read<s.Device>("Device", at.device(a.device_id));
  must(!before || before.party_id === a.party_id, "device-taken", `device ${a.device_id} belongs to another party`);
  for (const key of a.public_keys) free(c, key, DEVICE, a.device_id);
  for (const key of before?.public_keys ?? []) if (!a.public_keys.includes(key)) revoke(c, key);
  for (const key of a.public_keys) give(c, key, DEVICE, a.device_id, [], "");
  c.store.write("Device", at.device(a.device_id), create<s.Device>("state.Device", {
    device_id: a.device_id, party_id: a.party_id, calibrated_until_ms: a.calibrated_until_ms, public_keys: a.public_keys,
  }));
}

export function certifyParty(c: Case, a: p.CertifyParty): void {
  signedByParty(c, a.party_id);
  partyWithRole(c, a.party_id, p.Role.AUTHORITY);
  must(c.store.read("Party", at.party(a.holder_id)), "unknown-party", `party ${a.holder_id} is not registered`);
  const address = at.certificates(a.holder_id, a.kind);
  const before = c.store.read<s.Certificates>("Certificates", address)?.by_authority ?? [];
  const others = before.filter((each) => each.party_id !== a.party_id);
  must(!a.revoked || others.length < before.length, "certificate-unknown", `${a.party_id} gave ${a.holder_id} no certificate ${a.kind}`);
  must(others.length < 16, "form", "over 16 authorities certify the same");
  const latest = [...others, a];
  c.store.write("Certificates", address, create<s.Certificates>("state.Certificates", {
    holder_id: a.holder_id, kind: a.kind, by_authority: latest,
  }));
}
