"""Commands about a delivery: its terms, and how it ends."""

from argparse import Namespace
from pathlib import Path
from typing import Final

from contracts.actions.table import Action
from contracts.party.cli import AT, AT_BOTH, NEEDED, OPTIONAL, SOME, Command, signing, time_of
from contracts.party.commercial import check_commercial, commitments
from contracts.party.limits import LIMIT_FORM, limits_of
from contracts.party.terms import CERTIFICATE_FORM, ITEM_FORM, LOT_FORM, certificates_of, goods_of
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    AnnounceSettlement,
    CancelDelivery,
    CloseDelivery,
    DisputeDelivery,
    OpenDelivery,
    Payment,
    SettleDelivery,
)
from contracts.records.clock import parse_rfc3339

_PAYMENTS: Final = {"released": Payment.RELEASED, "withheld": Payment.WITHHELD}


def _sign_delivery(options: Namespace) -> Action:
    lots, items = goods_of(options)
    required = certificates_of(options.require_certificate)
    # After what needs no ledger: this may ask the ledger for a setting.
    limits = limits_of(options.limit, options.ledger)
    terms = OpenDelivery(
        delivery_id=options.id,
        order_id=options.order,
        lots=lots,
        items=items,
        units=options.sscc,
        required_certificates=required,
        product=options.product,
        quantity=options.quantity,
        unit=options.unit,
        seller_id=options.seller,
        carrier_id=options.carrier,
        other_carrier_ids=options.other_carrier,
        buyer_id=options.buyer,
        deadline_ms=parse_rfc3339(options.deadline) if options.deadline else 0,
        authority_id=options.authority,
        limits=limits,
    )
    # Last, since it may write a file: wrong arguments must leave nothing behind.
    commercial = commitments(
        options.id, options.commercial, price=options.price, payment_terms=options.payment_terms
    )
    terms.price_sha256, terms.payment_terms_sha256 = commercial.price, commercial.payment_terms
    return terms


def _accept(options: Namespace) -> Action:
    return AcceptDelivery(
        delivery_id=options.id, at_ms=time_of(options), received_quantity=options.received
    )


def _dispute(options: Namespace) -> Action:
    return DisputeDelivery(delivery_id=options.id, reason=options.reason, at_ms=time_of(options))


def _close_delivery(options: Namespace) -> Action:
    return CloseDelivery(
        delivery_id=options.id, payment=_PAYMENTS[options.payment], at_ms=time_of(options)
    )


def _cancel(options: Namespace) -> Action:
    return CancelDelivery(delivery_id=options.id, reason=options.reason, at_ms=time_of(options))


def _announce(options: Namespace) -> Action:
    return AnnounceSettlement(
        delivery_id=options.id,
        authority_id=options.authority,
        reason=options.reason,
        at_ms=time_of(options),
    )


def _settle(options: Namespace) -> Action:
    return SettleDelivery(
        delivery_id=options.id,
        authority_id=options.authority,
        payment=_PAYMENTS[options.payment],
        reason=options.reason,
        at_ms=time_of(options),
    )


COMMANDS: Final = [
    Command(
        "sign-delivery",
        "DELIVERY",
        "sign a delivery's terms; seller and buyer sign the same terms",
        {
            "--order": NEEDED,
            "--lot": SOME | {"help": f"{LOT_FORM}; may be repeated"},
            "--item": SOME
            | {
                "metavar": ITEM_FORM,
                "help": "a lot, and what the delivery holds of it; may be repeated, then for "
                "each lot",
            },
            "--sscc": SOME
            | {"help": "a logistic unit, such as a pallet, that is delivered; may be repeated"},
            "--require-certificate": SOME
            | {
                "metavar": CERTIFICATE_FORM,
                "help": "PARTY must hold it when a trip starts; may be repeated",
            },
            "--product": NEEDED,
            "--quantity": NEEDED | {"type": int},
            "--unit": {"default": "C62", "help": "UN/ECE code (default: C62, pieces)"},
            "--seller": NEEDED,
            "--carrier": NEEDED,
            "--other-carrier": SOME
            | {"metavar": "PARTY", "help": "may have the goods on the way too; may be repeated"},
            "--buyer": NEEDED,
            "--deadline": OPTIONAL
            | {
                "metavar": "TIME",
                "help": "RFC 3339: from then on an authority may settle, "
                "or 365 days after its notice, if that is earlier",
            },
            "--authority": OPTIONAL
            | {"metavar": "PARTY", "help": "the only one that may settle (default: any)"},
            "--limit": SOME | {"help": f"{LIMIT_FORM}; the last part may be left out"},
            "--price": {"metavar": "TEXT", "help": "only its salted hash goes on the ledger"},
            "--payment-terms": {"metavar": "TEXT", "help": "likewise"},
            "--commercial": {
                "metavar": "FILE",
                "type": Path,
                "help": "price and payment terms with their salts: written by the first side, "
                "given to the second side, read if it exists",
            },
        },
        signing(_sign_delivery),
        "sign-delivery D1 --order 4711 --lot 00012345678905:L42 --product milk \\\n"
        "      --quantity 100 --seller dairy --carrier haulier --buyer shop \\\n"
        '      --limit temperature:2:8:600:900 --price "1200 EUR" --commercial D1.json',
    ),
    Command(
        "check-commercial",
        "DELIVERY",
        "compare a file of price and payment terms with the ledger; needs no key",
        {"--commercial": NEEDED | {"metavar": "FILE", "type": Path}},
        check_commercial,
        "check-commercial D1 --commercial D1.json",
    ),
    Command(
        "accept",
        "DELIVERY",
        "accept a delivery, which releases the payment; the buyer signs",
        {
            "--received": {
                "metavar": "QUANTITY",
                "type": int,
                "default": 0,
                "help": "how much was received, in the unit of the terms (default: not said)",
            },
            "--at": AT,
        },
        signing(_accept),
        "accept D1 --received 98",
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
        "cancel-delivery",
        "DELIVERY",
        "cancel a delivery that is not accepted; seller and buyer sign the same action; a party "
        "that alone signed an offer withdraws it alone",
        {"--reason": NEEDED, "--at": AT_BOTH},
        signing(_cancel),
        'cancel-delivery D1 --reason "ordered twice" --at 2026-03-02T10:00:00Z',
    ),
    Command(
        "close-delivery",
        "DELIVERY",
        "close a delivery; seller and buyer sign the same action",
        {
            "--payment": NEEDED | {"choices": list(_PAYMENTS), "help": "what both sides agreed on"},
            "--at": AT_BOTH,
        },
        signing(_close_delivery),
        "close-delivery D1 --payment released --at 2026-03-04T10:00:00Z",
    ),
    Command(
        "announce-settlement",
        "DELIVERY",
        "give notice that a delivery will be settled: after 30 days, or after 365 days before its "
        "deadline; the authority signs",
        {"--authority": NEEDED, "--reason": NEEDED, "--at": AT},
        signing(_announce),
        'announce-settlement D1 --authority court --reason "case 17"',
    ),
    Command(
        "settle-delivery",
        "DELIVERY",
        "end a delivery that its parties did not end, after its deadline or some time after the "
        "notice; the authority signs",
        {
            "--authority": NEEDED,
            "--payment": NEEDED | {"choices": list(_PAYMENTS)},
            "--reason": NEEDED,
            "--at": AT,
        },
        signing(_settle),
        'settle-delivery D1 --authority court --payment withheld --reason "case 17"',
    ),
]
