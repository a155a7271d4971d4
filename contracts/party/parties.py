"""Commands about who takes part: keys, parties, sites, devices."""

from argparse import Namespace
from typing import Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.party.command import NEEDED, OPTIONAL, SOME, Command, UsageError, signing
from contracts.payload import Action
from contracts.proto.payload_pb2 import (
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    Role,
    RotateKeys,
)
from contracts.records.clock import parse_rfc3339

ROLES: Final = [name.lower() for name, number in Role.items() if number != Role.ROLE_UNSET]


def make_key(options: Namespace) -> dict[str, object]:
    """Make the key file when there is none; return its public key."""
    if options.key is None:
        raise UsageError("--key FILE is needed: where the private key shall be")
    if not options.key.parent.is_dir():  # a slip must not put a key where nobody looks for it
        raise UsageError(
            f"key file {options.key}: {options.key.parent} is no directory that is there"
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
    )


def _rotate_keys(options: Namespace) -> Action:
    if not options.add and not options.revoke:
        raise UsageError("a rotation needs --add KEY, --revoke KEY, or both")
    return RotateKeys(party_id=options.id, added=options.add, revoked=options.revoke)


def _register_site(options: Namespace) -> Action:
    return RegisterSite(
        site_id=options.id,
        party_id=options.party,
        name=options.name,
        gln=options.gln,
        gateway_public_keys=options.gateway_key,
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
            "--role": SOME | {"choices": ROLES, "help": "what it may be; may be repeated"},
        },
        signing(_register_party),
        'register-party dairy --name "Dairy Ltd" --public-key 02ab… --role seller',
    ),
    Command(
        "rotate-keys",
        "PARTY",
        "replace keys of a party; the party signs, with a key that it has",
        {
            "--add": SOME | {"metavar": "PUBLIC_KEY"},
            "--revoke": SOME | {"metavar": "PUBLIC_KEY", "help": "for ever"},
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
]
