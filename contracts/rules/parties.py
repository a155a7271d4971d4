"""Parties, their sites and devices, and the owner of each key."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.proto.payload_pb2 import (
    KeyDuties,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    Role,
    RotateKeys,
)
from contracts.proto.sawtooth_pb2 import Setting
from contracts.proto.state_pb2 import Device, Key, Party, Site
from contracts.rules.case import Case, invalid
from contracts.rules.ids import Rule
from contracts.text import WHITESPACE

KEYS_MAX: Final = 16
"""Current public keys of one party, device or site."""


def register_party(action: RegisterParty, case: Case) -> None:
    """Register a party, or replace its name, keys and roles; an administrator signs."""
    if case.signer not in _admin_keys(case):
        raise invalid(Rule.NOT_ADMIN, f"key {case.signer} is not in {ADMIN_KEYS_SETTING}")
    before = case.load(address.party(action.party_id), Party) or Party()
    owner = Key(owner=Key.PARTY, owner_id=action.party_id)
    granted = _with_duties(owner, action.key_duties)
    _replace_keys(case, owner, before.public_keys, action.public_keys, granted)
    case.store(
        address.party(action.party_id),
        Party(
            party_id=action.party_id,
            name=action.name,
            public_keys=action.public_keys,
            roles=action.roles,
            key_duties=action.key_duties,
        ),
    )


def rotate_keys(action: RotateKeys, case: Case) -> None:
    """Replace keys of a party; the party signs with a current key, which it may revoke."""
    case.require_party(action.party_id)
    party = known_party(case, action.party_id)
    for public_key in action.revoked:
        if public_key not in party.public_keys:
            raise invalid(
                Rule.UNKNOWN_KEY, f"key {public_key} is not a current key of {action.party_id}"
            )
    after = [each for each in party.public_keys if each not in action.revoked]
    after += [each for each in action.added if each not in after]
    if not after:
        raise invalid(Rule.LAST_KEY, f"{action.party_id} must keep at least one key")
    if len(after) > KEYS_MAX:
        raise invalid(Rule.FORM, f"at most {KEYS_MAX} current keys, would be {len(after)}")
    owner = Key(owner=Key.PARTY, owner_id=action.party_id)
    granted: dict[str, Key] = {}
    if case.version:
        kept = _kept_keys(case, party.public_keys)
        granted = kept | _added_keys(case, kept, owner, action)
        _check_remaining(case, kept, granted, after)
    _replace_keys(case, owner, party.public_keys, after, granted)
    named = {each.public_key for each in party.key_duties}
    added = [each for each in action.key_duties if each.public_key not in named]
    duties = [each for each in (*party.key_duties, *added) if each.public_key in after]
    del party.key_duties[:]
    party.key_duties.extend(duties)
    party.public_keys[:] = after
    case.store(address.party(action.party_id), party)


def register_site(action: RegisterSite, case: Case) -> None:
    """Register a site, or change it; the party it belongs to signs."""
    case.require_party(action.party_id)
    before = case.load(address.site(action.site_id), Site)
    if before is not None and before.site.party_id != action.party_id:
        raise invalid(
            Rule.NOT_THE_PARTY, f"site {action.site_id} belongs to {before.site.party_id}"
        )
    case.store(address.site(action.site_id), Site(site=action))


def register_device(action: RegisterDevice, case: Case) -> None:
    """Register a device, or replace its keys; the party that owns it signs."""
    case.require_party(action.party_id)
    before = case.load(address.device(action.device_id), Device)
    if before is not None and before.party_id != action.party_id:
        raise invalid(Rule.DEVICE_TAKEN, f"device {action.device_id} is owned by {before.party_id}")
    owner = Key(owner=Key.DEVICE, owner_id=action.device_id)
    _replace_keys(case, owner, before.public_keys if before else (), action.public_keys, {})
    case.store(
        address.device(action.device_id),
        Device(
            device_id=action.device_id,
            party_id=action.party_id,
            calibrated_until_ms=action.calibrated_until_ms,
            public_keys=action.public_keys,
        ),
    )


def known_party(case: Case, party_id: str) -> Party:
    """Return the party `party_id`.

    Raises:
        InvalidTransactionError: It is not registered.
    """
    party = case.load(address.party(party_id), Party)
    if party is None:
        raise invalid(Rule.UNKNOWN_PARTY, f"party {party_id!r} is not registered")
    return party


def require_role(case: Case, party_id: str, *roles: Role) -> None:
    """Check that an administrator granted a party one of `roles`.

    Raises:
        InvalidTransactionError: The party has none of them, or is not registered.
    """
    if not set(roles) & set(known_party(case, party_id).roles):
        wanted = " or ".join(Role.Name(role).lower() for role in roles)
        raise invalid(Rule.ROLE_MISSING, f"party {party_id!r} is not a {wanted}")


def is_site_registered(case: Case, site_id: str) -> bool:
    """Say whether the ledger knows a site."""
    return case.context.get(address.site(site_id)) is not None


def require_site(case: Case, site_id: str) -> None:
    """Check that a site is registered.

    Raises:
        InvalidTransactionError: The site is not registered.
    """
    if not is_site_registered(case, site_id):
        raise invalid(Rule.UNKNOWN_SITE, f"site {site_id!r} is not registered")


def _admin_keys(case: Case) -> list[str]:
    setting = case.load(address.setting(ADMIN_KEYS_SETTING), Setting)
    entries = setting.entries if setting else ()
    for entry in entries:
        if entry.key == ADMIN_KEYS_SETTING:
            return [public_key.strip(WHITESPACE) for public_key in entry.value.split(",")]
    return []


def _with_duties(owner: Key, named: Iterable[KeyDuties]) -> dict[str, Key]:
    """Return the entries of the keys that have duties, by public key."""
    return {
        each.public_key: Key(owner=owner.owner, owner_id=owner.owner_id, duties=each.duties)
        for each in named
    }


def _kept_keys(case: Case, public_keys: Iterable[str]) -> dict[str, Key]:
    found = {each: case.load(address.key(each), Key) for each in public_keys}
    return {public_key: key for public_key, key in found.items() if key is not None}


def _added_keys(
    case: Case, kept: Mapping[str, Key], owner: Key, action: RotateKeys
) -> dict[str, Key]:
    """Return the entries of the keys that a rotation adds; each descends from its signer."""
    granted = _with_duties(owner, action.key_duties)
    if current := sorted(granted.keys() & kept.keys()):
        raise invalid(Rule.FORM, f"key {current[0]} is current, a rotation keeps its duties")
    origin = _origin(case.signer, kept[case.signer])
    added = {each: granted.get(each, owner) for each in action.added if each not in kept}
    for public_key, entry in added.items():
        new = Key()
        new.CopyFrom(entry)
        new.descends_from = origin
        added[public_key] = new
    return added


def _origin(public_key: str, key: Key) -> str:
    return key.descends_from or public_key


def _check_remaining(
    case: Case, before: Mapping[str, Key], entries: Mapping[str, Key], after: Sequence[str]
) -> None:
    """Check that a rotation leaves keys that can answer it.

    A thief with one key must not lock the party out. So one key never revokes all keys that do not
    descend from the same key as itself; an administrator can, since it registers the party.
    """
    origin = _origin(case.signer, before[case.signer])
    others = {each for each, key in before.items() if _origin(each, key) != origin}
    if others and not others & set(after):
        raise invalid(
            Rule.OTHERS_REVOKED,
            f"key {case.signer} alone cannot revoke all other keys of the party; "
            "an administrator can",
        )
    may_rotate = (
        not entries[each].duties or KeyDuties.KEYS in entries[each].duties for each in after
    )
    if not any(may_rotate):
        raise invalid(Rule.LAST_KEY, "the party must keep a key that may rotate its keys")


def _replace_keys(
    case: Case,
    owner: Key,
    before: Sequence[str],
    after: Sequence[str],
    granted: Mapping[str, Key],
) -> None:
    """Make `after` the current keys; keys that it leaves out are revoked for ever.

    Args:
        case: The transaction.
        owner: The entry of a key about which nothing else is to be said.
        before: Public keys that were current until now.
        after: Public keys that are current from now on.
        granted: Entries of keys that have duties or an origin, by public key.
    """
    for public_key in after:
        known = case.load(address.key(public_key), Key)
        if known is not None and (known.owner, known.owner_id) != (owner.owner, owner.owner_id):
            raise invalid(Rule.KEY_TAKEN, f"key {public_key} belongs to {known.owner_id}")
        if known is not None and known.revoked:
            raise invalid(Rule.KEY_WAS_REVOKED, f"key {public_key} was revoked")
        case.store(address.key(public_key), granted.get(public_key, owner))
    for public_key in sorted(set(before) - set(after)):  # the same order in every host
        revoked = Key(owner=owner.owner, owner_id=owner.owner_id, revoked=True)
        case.store(address.key(public_key), revoked)
