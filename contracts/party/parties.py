"""Commands for keys, parties, their certificates, sites and devices."""

import re
from argparse import Namespace
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.party.cli import AT, NEEDED, OPTIONAL, SOME, Command, UsageError, signing, time_of
from contracts.proto.payload_pb2 import (
    CertifyParty,
    KeyDuties,
    Position,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    Role,
    RotateKeys,
)
from contracts.records.clock import parse_rfc3339

_POSITION: Final = re.compile(r"(-?[0-9]{1,2}(?:\.[0-9]{1,7})?),(-?[0-9]{1,3}(?:\.[0-9]{1,7})?)")
DUTIES: Final = [name.lower() for name, number in KeyDuties.Duty.items() if number]
_DUTY: Final = {
    "metavar": "PUBLIC_KEY=DUTY,…",
    "help": f"what that key may sign: {', '.join(DUTIES)} (default: everything)",
}
ROLES: Final = [name.lower() for name, number in Role.items() if number != Role.ROLE_UNSET]


def make_key(options: Namespace) -> dict[str, object]:
    """Make the key file if it is missing; return its public key."""
    if options.key is None:
        raise UsageError("--key FILE is needed: the file for the private key")
    if not options.key.parent.is_dir():  # a slip must not put a key where nobody looks for it
        raise UsageError(
            f"key file {options.key}: {options.key.parent} is not an existing directory"
        )
    try:
        signer = Signer.load_or_create(options.key)
    except RejectedError as error:
        raise UsageError(str(error)) from error
    return {"public_key": signer.public_key}


def _register_party(options: Namespace) -> Action:
    return RegisterParty(
        party_id=options.id,
        name=options.name,
        public_keys=options.public_key,
        roles=[name.upper() for name in options.role],
        key_duties=_duties(options.duty),
    )


def _rotate_keys(options: Namespace) -> Action:
    if not options.add and not options.revoke:
        raise UsageError("a rotation needs --add KEY, --revoke KEY, or both")
    return RotateKeys(
        party_id=options.id,
        added=options.add,
        revoked=options.revoke,
        key_duties=_duties(options.duty),
    )


def _duties(given: Iterable[str]) -> list[KeyDuties]:
    """Return the duties in texts such as `02ab…=trade,custody`."""
    made = []
    for text in given:
        public_key, equals, names = text.partition("=")
        duties = names.split(",")
        if not equals or not set(DUTIES).issuperset(duties):
            raise UsageError(
                f"duties are PUBLIC_KEY=DUTY,… of {', '.join(DUTIES)}, got {text[:160]!r}"
            )
        made.append(KeyDuties(public_key=public_key, duties=[each.upper() for each in duties]))
    return made


def _register_site(options: Namespace) -> Action:
    return RegisterSite(
        site_id=options.id,
        party_id=options.party,
        name=options.name,
        gln=options.gln,
        gateway_public_keys=options.gateway_key,
        position=_position(options.position) if options.position else None,
        radius_m=options.radius,
    )


def _position(text: str) -> Position:
    """Return the position in a text such as `52.6291,-8.6617`, in degrees."""
    match = _POSITION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"a position is LATITUDE,LONGITUDE in degrees, with up to 7 decimals, got {text[:80]!r}"
        )
    latitude, longitude = (int(Decimal(each) * 10**7) for each in match.groups())
    return Position(latitude_e7=latitude, longitude_e7=longitude)


def _certify(options: Namespace) -> Action:
    return CertifyParty(
        party_id=options.party,
        holder_id=options.id,
        kind=options.kind,
        document_sha256=bytes.fromhex(options.document_sha256),
        valid_from_ms=parse_rfc3339(options.valid_from),
        valid_until_ms=parse_rfc3339(options.valid_until),
        revoked=options.revoke,
        at_ms=time_of(options),
    )


def _register_device(options: Namespace) -> Action:
    until: str = options.calibrated_until
    return RegisterDevice(
        device_id=options.id,
        party_id=options.party,
        public_keys=options.public_key,
        calibrated_until_ms=parse_rfc3339(until) if until else 0,
    )


COMMANDS: Final = [
    Command(
        "register-party",
        "PARTY",
        "register a party or replace its name, keys and roles; an administrator signs",
        {
            "--name": NEEDED,
            "--public-key": SOME,
            "--role": SOME | {"choices": ROLES, "help": "a role that it may have; may be repeated"},
            "--duty": SOME | _DUTY,
        },
        signing(_register_party),
        'register-party dairy --name "Dairy Ltd" --public-key 02ab… --role seller',
    ),
    Command(
        "rotate-keys",
        "PARTY",
        "replace keys of a party; the party signs with a current key",
        {
            "--add": SOME | {"metavar": "PUBLIC_KEY"},
            "--revoke": SOME | {"metavar": "PUBLIC_KEY", "help": "for ever"},
            "--duty": SOME | _DUTY,
        },
        signing(_rotate_keys),
        "rotate-keys dairy --add 03cd… --revoke 02ab…",
    ),
    Command(
        "register-site",
        "SITE",
        "register a checkpoint; the party it belongs to signs",
        {
            "--party": NEEDED,
            "--name": NEEDED,
            "--gln": OPTIONAL | {"help": "GS1 location number"},
            "--gateway-key": SOME,
            "--position": OPTIONAL
            | {"metavar": "LATITUDE,LONGITUDE", "help": "its middle, in degrees"},
            "--radius": {
                "type": int,
                "default": 0,
                "metavar": "METRES",
                "help": "how far it reaches: a trip that ends outside gets a finding",
            },
        },
        signing(_register_site),
        'register-site dock-1 --party dairy --name "Dock 1"',
    ),
    Command(
        "register-device",
        "DEVICE",
        "register a device or replace its keys; the party that owns it signs",
        {
            "--party": NEEDED,
            "--public-key": SOME,
            "--calibrated-until": OPTIONAL | {"help": "RFC 3339"},
        },
        signing(_register_device),
        "register-device truck-7 --party haulier --public-key 03cd…",
    ),
    Command(
        "certify",
        "PARTY",
        "certify a party, or revoke the own certificate; an authority signs",
        {
            "--party": NEEDED | {"help": "the authority"},
            "--kind": NEEDED | {"help": "what is certified, such as GDP"},
            "--document-sha256": OPTIONAL,
            "--valid-from": NEEDED | {"help": "RFC 3339"},
            "--valid-until": NEEDED | {"help": "RFC 3339"},
            "--revoke": {"action": "store_true"},
            "--at": AT,
        },
        signing(_certify),
        "certify haulier --party agency --kind GDP \\\n"
        "      --valid-from 2026-01-01T00:00:00Z --valid-until 2027-01-01T00:00:00Z",
    ),
]
