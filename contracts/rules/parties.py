"""Who takes part: parties, their sites and their devices, and whose each key is."""

from collections.abc import Sequence

from contracts import address
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.payload_pb2 import (
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    Role,
    RotateKeys,
)
from contracts.proto.sawtooth_pb2 import Setting
from contracts.proto.state_pb2 import Device, Key, Party, Site
from contracts.rules.case import Case, invalid
from contracts.rules.fields import KEYS_MAX
from contracts.rules.ids import Rule


def register_party(action: RegisterParty, case: Case) -> None:
    """Register a party, or replace its name, keys and roles; an administrator signs."""
    if case.signer not in _admin_keys(case):
        raise invalid(Rule.NOT_ADMIN, f"key {case.signer} is not in {ADMIN_KEYS_SETTING}")
    before = case.load(address.party(action.party_id), Party)
    _replace_keys(
        case, Key.PARTY, action.party_id, before.public_keys if before else (), action.public_keys
    )
    case.store(
        address.party(action.party_id),
        Party(
            party_id=action.party_id,
            name=action.name,
            public_keys=action.public_keys,
            roles=action.roles,
        ),
    )


def rotate_keys(action: RotateKeys, case: Case) -> None:
    """Replace keys of a party, which signs with a current one, be it for the last time."""
    case.require_party(action.party_id)
    party = known_party(case, action.party_id)
    for public_key in action.revoked:
        if public_key not in party.public_keys:
            raise invalid(
                Rule.UNKNOWN_KEY, f"key {public_key} is no current key of {action.party_id}"
            )
    after = [each for each in party.public_keys if each not in action.revoked]
    after += [each for each in action.added if each not in after]
    if not after:
        raise invalid(Rule.LAST_KEY, f"{action.party_id} must keep at least one key")
    if len(after) > KEYS_MAX:
        raise invalid(Rule.FORM, f"at most {KEYS_MAX} current keys, would be {len(after)}")
    _replace_keys(case, Key.PARTY, action.party_id, party.public_keys, after)
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
    _replace_keys(
        case, Key.DEVICE, action.device_id, before.public_keys if before else (), action.public_keys
    )
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
        InvalidTransactionError: It has none of them, or is not registered.
    """
    if not set(roles) & set(known_party(case, party_id).roles):
        wanted = " or ".join(Role.Name(role).lower() for role in roles)
        raise invalid(Rule.ROLE_MISSING, f"party {party_id!r} is no {wanted}")


def _admin_keys(case: Case) -> list[str]:
    setting = case.load(address.setting(ADMIN_KEYS_SETTING), Setting)
    entries = setting.entries if setting else ()
    for entry in entries:
        if entry.key == ADMIN_KEYS_SETTING:
            return [public_key.strip() for public_key in entry.value.split(",")]
    return []


def _replace_keys(
    case: Case, owner: Key.Owner, owner_id: str, before: Sequence[str], after: Sequence[str]
) -> None:
    """Make `after` the current keys; those left out are revoked, and stay so."""
    for public_key in after:
        known = case.load(address.key(public_key), Key)
        if known is not None and (known.owner, known.owner_id) != (owner, owner_id):
            raise invalid(Rule.KEY_TAKEN, f"key {public_key} belongs to {known.owner_id}")
        if known is not None and known.revoked:
            raise invalid(Rule.KEY_WAS_REVOKED, f"key {public_key} was revoked")
        case.store(address.key(public_key), Key(owner=owner, owner_id=owner_id))
    for public_key in sorted(set(before) - set(after)):  # every host in the same order
        case.store(address.key(public_key), Key(owner=owner, owner_id=owner_id, revoked=True))
