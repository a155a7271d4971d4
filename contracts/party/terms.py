"""The goods and certificates in a delivery's terms, as a party writes them."""

import re
from argparse import Namespace
from collections.abc import Iterable
from typing import Final

from contracts.party.cli import UsageError
from contracts.proto.payload_pb2 import DeliveredLot, Lot, RequiredCertificate

LOT_FORM: Final = "GTIN:LOT"
ITEM_FORM: Final = "GTIN:LOT=QUANTITY:UNIT:PRODUCT"
CERTIFICATE_FORM: Final = "PARTY=KIND"
_AMOUNT: Final = re.compile(r"=([0-9]+):([A-Z0-9]{1,3}):", re.ASCII)


def goods_of(options: Namespace) -> tuple[list[Lot], list[DeliveredLot]]:
    """Return a delivery's lots and what it holds of them. Items name lots too.

    Raises:
        UsageError: A text is invalid, or no lot is named.
    """
    lots, items = list(map(_lot, options.lot)), list(map(_item, options.item))
    if not lots and not items:
        raise UsageError(f"a delivery needs lots: --lot {LOT_FORM}, or --item {ITEM_FORM}")
    lots += [item.lot for item in items if item.lot not in lots]
    return lots, items


def certificates_of(texts: Iterable[str]) -> list[RequiredCertificate]:
    """Return the certificates that terms require.

    Raises:
        UsageError: A text is invalid.
    """
    return list(map(_certificate, texts))


def _lot(text: str) -> Lot:
    gtin, colon, lot = text.partition(":")
    if not colon:
        raise UsageError(f"a lot is {LOT_FORM}, got {text[:80]!r}")
    return Lot(gtin=gtin, lot=lot)


def _item(text: str) -> DeliveredLot:
    """Read one item. A lot and a product may contain `=` and `:`, so the amount must be clear."""
    amounts = list(_AMOUNT.finditer(text))
    if len(amounts) != 1:
        raise UsageError(
            f"an item is {ITEM_FORM}, with one amount such as =60:C62:, got {text[:160]!r}"
        )
    (amount,) = amounts
    return DeliveredLot(
        lot=_lot(text[: amount.start()]),
        product=text[amount.end() :],
        quantity=int(amount[1]),
        unit=amount[2],
    )


def _certificate(text: str) -> RequiredCertificate:
    holder_id, equals, kind = text.partition("=")
    if not (holder_id and equals and kind):
        raise UsageError(f"a required certificate is {CERTIFICATE_FORM}, got {text[:80]!r}")
    return RequiredCertificate(holder_id=holder_id, kind=kind)
