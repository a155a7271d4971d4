"""Commands about a delivery: its terms, and how it ends."""

import re
from argparse import Namespace
from decimal import Decimal
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.party.command import AT, AT_BOTH, NEEDED, SOME, Command, signing, time_of
from contracts.party.commercial import check_commercial, commitments
from contracts.payload import Action
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
    Limit,
    Lot,
    OpenDelivery,
    Payment,
)
from contracts.records.quantity import QUANTITIES

_DECIMAL: Final = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
_PLACES: Final = ", ".join(f"{each.places} decimals ({each.name})" for each in QUANTITIES.values())
_LIMITED: Final = {quantity.name: number for number, quantity in QUANTITIES.items()}
_PAYMENTS: Final = {"released": Payment.RELEASED, "withheld": Payment.WITHHELD}


def _sign_delivery(options: Namespace) -> Action:
    lots, limits = map(_lot, options.lot), map(_limit, options.limit)
    terms = OpenDelivery(
        delivery_id=options.id,
        order_id=options.order,
        lots=lots,
        product=options.product,
        quantity=options.quantity,
        unit=options.unit,
        seller_id=options.seller,
        carrier_id=options.carrier,
        buyer_id=options.buyer,
        limits=limits,
    )
    # Last, since it may write a file: nothing is left behind by arguments that are wrong.
    commercial = commitments(
        options.id, options.commercial, price=options.price, payment_terms=options.payment_terms
    )
    terms.price_sha256, terms.payment_terms_sha256 = commercial.price, commercial.payment_terms
    return terms


def _accept(options: Namespace) -> Action:
    return AcceptDelivery(delivery_id=options.id, at_ms=time_of(options))


def _dispute(options: Namespace) -> Action:
    return DisputeDelivery(delivery_id=options.id, reason=options.reason, at_ms=time_of(options))


def _close_delivery(options: Namespace) -> Action:
    return CloseDelivery(
        delivery_id=options.id, payment=_PAYMENTS[options.payment], at_ms=time_of(options)
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
    except (ValueError, KeyError) as error:
        raise RejectedError(
            f"a limit is QUANTITY:MINIMUM:MAXIMUM:SECONDS with one of {', '.join(_LIMITED)}, "
            f"bounds of up to {_PLACES} as 2.5 or empty, and whole seconds, got {text[:80]!r}"
        ) from error


def _scaled(text: str, scale: int) -> int | None:
    """Return a bound in the unit that goes on the ledger; never rounded, since both sides sign it.

    Raises:
        ValueError: It is no plain decimal number, too long, or finer than that unit.
    """
    if not text:
        return None
    if not _DECIMAL.fullmatch(text):  # before Decimal, which would take 1e999999 and never end
        raise ValueError(text)
    scaled = Decimal(text) * scale
    if scaled != int(scaled):
        raise ValueError(text)
    return int(scaled)


COMMANDS: Final = [
    Command(
        "sign-delivery",
        "DELIVERY",
        "sign a delivery's terms; seller and buyer sign the same ones",
        {
            "--order": NEEDED,
            "--lot": SOME | {"required": True, "help": "GTIN:LOT"},
            "--product": NEEDED,
            "--quantity": NEEDED | {"type": int},
            "--unit": {"default": "C62", "help": "UN/ECE code (default: C62, pieces)"},
            "--seller": NEEDED,
            "--carrier": NEEDED,
            "--buyer": NEEDED,
            "--limit": SOME | {"help": "QUANTITY:MINIMUM:MAXIMUM:TOLERATED_SECONDS"},
            "--price": {"metavar": "TEXT", "help": "only its salted hash goes on the ledger"},
            "--payment-terms": {"metavar": "TEXT", "help": "likewise"},
            "--commercial": {
                "metavar": "FILE",
                "type": Path,
                "help": "price and payment terms with their salts: written by the first side, "
                "given to the second, read when it is there",
            },
        },
        signing(_sign_delivery),
        "sign-delivery D1 --order 4711 --lot 00012345678905:L42 --product milk \\\n"
        "      --quantity 100 --seller dairy --carrier haulier --buyer shop \\\n"
        '      --limit temperature:2:8:600 --price "1200 EUR" --commercial D1.json',
    ),
    Command(
        "check-commercial",
        "DELIVERY",
        "compare a file with price and payment terms with the ledger; needs no key",
        {"--commercial": NEEDED | {"metavar": "FILE", "type": Path}},
        check_commercial,
        "check-commercial D1 --commercial D1.json",
    ),
    Command(
        "accept",
        "DELIVERY",
        "accept a delivery, which releases the payment; the buyer signs",
        {"--at": AT},
        signing(_accept),
        "accept D1",
    ),
    Command(
        "dispute",
        "DELIVERY",
        "dispute a delivery, which withholds the payment; buyer or seller signs",
        {"--reason": NEEDED, "--at": AT},
        signing(_dispute),
        'dispute D1 --reason "thawed on the way"',
    ),
    Command(
        "close-delivery",
        "DELIVERY",
        "end a delivery; seller and buyer sign the same words",
        {
            "--payment": NEEDED | {"choices": list(_PAYMENTS), "help": "as both settled"},
            "--at": AT_BOTH,
        },
        signing(_close_delivery),
        "close-delivery D1 --payment released --at 2026-03-04T10:00:00Z",
    ),
]
