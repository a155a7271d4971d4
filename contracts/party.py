"""`wayseal-party`: a party's word on the ledger, signed with its key and submitted.

Makes that key, registers parties, sites and devices, signs deliveries and handovers.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from contracts.commands import FAILED, WORKED, WRONG_USAGE, complain, write_for_any_terminal
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from contracts.ledger import LedgerClient
from contracts.payload import Action, build
from contracts.proto.payload_pb2 import (
    HandOver,
    Limit,
    Lot,
    OpenDelivery,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
)
from contracts.records.clock import parse_rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.sawtooth.batches import Status, build_batch

COMMIT_TIMEOUT_S: Final = 60
_LIMITED: Final = {quantity.name: number for number, quantity in QUANTITIES.items()}

_EPILOG = """\
exit status: 0 committed, or the key is there; 1 refused or no answer; 2 wrong usage

examples:
  wayseal-party --key dairy.key make-key
  wayseal-party --key admin.key register-party dairy --name "Dairy Ltd" --public-key 02ab…
  wayseal-party --key dairy.key register-site dock-1 --party dairy --name "Dock 1"
  wayseal-party --key haulier.key register-device truck-7 --party haulier --public-key 03cd…
  wayseal-party --key dairy.key sign-delivery D1 --order 4711 --lot 00012345678905:L42 \\
      --product milk --quantity 100 --unit C62 --seller dairy --carrier haulier --buyer shop \\
      --limit temperature:2:8:600"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-party`; exit as its help says."""
    write_for_any_terminal()
    options = _parse(arguments)
    try:
        said = options.run(options)
    except _UsageError as error:
        complain("wayseal-party", error)
        sys.exit(WRONG_USAGE)
    except WaysealError as error:
        complain("wayseal-party", error)
        sys.exit(FAILED)
    print(json.dumps(said))
    sys.exit(WORKED)


class _UsageError(RejectedError):
    """The arguments, or the key file that they name, are not what they should be."""


def _make_key(options: argparse.Namespace) -> dict[str, object]:
    """Make the key file when there is none; return its public key."""
    try:
        signer = Signer.load_or_create(options.key)
    except RejectedError as error:
        raise _UsageError(str(error)) from error
    return {"public_key": signer.public_key}


def _commit(options: argparse.Namespace) -> dict[str, object]:
    """Sign the action that the arguments tell, and return once it is committed."""
    try:
        signer = Signer.load(options.key)
        action = options.action(options)
    except (RejectedError, ValueError) as error:  # of the second kind: beyond a field's range
        raise _UsageError(str(error)) from error
    return {"committed": True, "transaction_id": submit(signer, action, options.ledger)}


def submit(signer: Signer, action: Action, ledger_url: str) -> str:
    """Sign an action, submit it alone, and return its transaction id once it is committed.

    Raises:
        RejectedError: The rules refuse it.
        UnavailableError: The ledger does not answer, or does not commit it in time.
    """
    transaction = build(signer, action, nonce=str(time.time_ns()))
    batch = build_batch(signer, [transaction])
    ledger = LedgerClient(ledger_url)
    try:
        ledger.submit([batch])
        answer = ledger.statuses([batch.header_signature], wait_s=COMMIT_TIMEOUT_S)
    finally:
        ledger.close()
    status = answer[batch.header_signature]
    if status.status is Status.INVALID:
        raise RejectedError(status.reason)
    if status.status is not Status.COMMITTED:
        raise UnavailableError(f"not committed within {COMMIT_TIMEOUT_S} s: {status.status}")
    return transaction.header_signature


def _register_party(options: argparse.Namespace) -> Action:
    return RegisterParty(party_id=options.id, name=options.name, public_keys=options.public_key)


def _register_site(options: argparse.Namespace) -> Action:
    return RegisterSite(
        site_id=options.id,
        party_id=options.party,
        name=options.name,
        gln=options.gln,
        gateway_public_keys=options.gateway_key,
    )


def _register_device(options: argparse.Namespace) -> Action:
    until: str = options.calibrated_until
    return RegisterDevice(
        device_id=options.id,
        party_id=options.party,
        public_keys=options.public_key,
        calibrated_until_ms=parse_rfc3339(until) if until else 0,
    )


def _sign_delivery(options: argparse.Namespace) -> Action:
    return OpenDelivery(
        delivery_id=options.id,
        order_id=options.order,
        lots=[_lot(text) for text in options.lot],
        product=options.product,
        quantity=options.quantity,
        unit=options.unit,
        seller_id=options.seller,
        carrier_id=options.carrier,
        buyer_id=options.buyer,
        limits=[_limit(text) for text in options.limit],
    )


def _hand_over(options: argparse.Namespace) -> Action:
    return HandOver(
        trip_id=options.trip,
        delivery_id=options.id,
        site_id=options.site,
        from_party_id=options.giver,
        to_party_id=options.taker,
        at_ms=parse_rfc3339(options.at),
    )


def _lot(text: str) -> Lot:
    gtin, separator, lot = text.partition(":")
    if not separator:
        raise RejectedError(f"a lot is GTIN:LOT, got {text[:80]!r}")
    return Lot(gtin=gtin, lot=lot)


def _limit(text: str) -> Limit:
    """Read QUANTITY:MINIMUM:MAXIMUM:SECONDS, in Cel, % or hPa, either bound may be empty."""
    try:
        name, minimum, maximum, tolerated_s = text.split(":")
        number = _LIMITED[name]
        scale = QUANTITIES[number].scale
        return Limit(
            quantity=Limit.Quantity.Name(number),
            minimum=_scaled(minimum, scale),
            maximum=_scaled(maximum, scale),
            tolerated_s=int(tolerated_s),
        )
    except (ValueError, KeyError, ArithmeticError) as error:
        raise RejectedError(
            f"a limit is QUANTITY:MINIMUM:MAXIMUM:SECONDS with one of {', '.join(_LIMITED)}, "
            f"got {text[:80]!r}"
        ) from error


def _scaled(text: str, scale: int) -> int | None:
    return int(Decimal(text) * scale) if text else None


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-party",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--key", metavar="FILE", type=Path, required=True, help="the party's private key"
    )
    parser.add_argument(
        "--ledger",
        metavar="URL",
        default=os.environ.get("WAYSEAL_LEDGER__URL", "http://127.0.0.1:8008"),
        help="Sawtooth REST API (default: $WAYSEAL_LEDGER__URL, else %(default)s)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    make_key = commands.add_parser(
        "make-key", help="make the key file when there is none, and print its public key"
    )
    make_key.set_defaults(run=_make_key)
    for name, action, text, arguments_of in _COMMANDS:
        command = commands.add_parser(name, help=text)
        command.add_argument("id", help="what it is called on the ledger")
        for flag, more in arguments_of.items():
            command.add_argument(flag, **more)
        command.set_defaults(run=_commit, action=action)
    return parser.parse_args(arguments)


_NEEDED: Final[dict[str, Any]] = {"required": True}
_SOME: Final[dict[str, Any]] = {"action": "append", "default": []}
_COMMANDS: Final[list[tuple[str, Callable[[argparse.Namespace], Action], str, dict[str, Any]]]] = [
    (
        "register-party",
        _register_party,
        "register a party or replace its keys; an administrator signs",
        {"--name": _NEEDED, "--public-key": _SOME},
    ),
    (
        "register-site",
        _register_site,
        "register a checkpoint; the party it belongs to signs",
        {
            "--party": _NEEDED,
            "--name": _NEEDED,
            "--gln": {"default": "", "help": "GS1 location number"},
            "--gateway-key": _SOME,
        },
    ),
    (
        "register-device",
        _register_device,
        "register a device or replace its keys; the party that owns it signs",
        {
            "--party": _NEEDED,
            "--public-key": _SOME,
            "--calibrated-until": {"default": "", "help": "RFC 3339"},
        },
    ),
    (
        "sign-delivery",
        _sign_delivery,
        "sign a delivery's terms; seller and buyer sign the same ones",
        {
            "--order": _NEEDED,
            "--lot": _SOME | {"required": True, "help": "GTIN:LOT"},
            "--product": _NEEDED,
            "--quantity": _NEEDED | {"type": int},
            "--unit": {"default": "C62", "help": "UN/ECE code (default: C62, pieces)"},
            "--seller": _NEEDED,
            "--carrier": _NEEDED,
            "--buyer": _NEEDED,
            "--limit": _SOME | {"help": "QUANTITY:MINIMUM:MAXIMUM:TOLERATED_SECONDS"},
        },
    ),
    (
        "hand-over",
        _hand_over,
        "sign that a delivery changed hands; both parties sign the same words",
        {
            "--trip": _NEEDED,
            "--site": _NEEDED,
            "--giver": _NEEDED,
            "--taker": _NEEDED,
            "--at": _NEEDED | {"help": "RFC 3339"},
        },
    ),
]
