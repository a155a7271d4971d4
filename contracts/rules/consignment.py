"""The goods that terms name: what is odd about them when both sides have signed. Version 1.1."""

from collections.abc import Iterator
from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import DeliveredLot, OpenDelivery
from contracts.proto.payload_pb2 import Lot as LotName
from contracts.proto.state_pb2 import Delivery, LogisticUnit, Lot
from contracts.rules.case import Case, Notes
from contracts.rules.certificates import standing_certificates
from contracts.rules.ids import Rule
from contracts.rules.lots import withheld

ODD_NAMED_MAX: Final = 8
"""Lots or units that one finding on a delivery names."""


def check_consignment(entry: Delivery, notes: Notes) -> None:
    """Add a finding for each way in which goods of signed terms are not as they should be.

    Nothing is refused: both sides agreed, and the goods may be on their way already.
    """
    odd: dict[Rule, list[str]] = {}
    for rule, text in (*_odd_lots(entry.terms, notes.case), *_odd_units(entry.terms, notes.case)):
        odd.setdefault(rule, []).append(text)
    for rule, texts in odd.items():
        more = len(texts) - ODD_NAMED_MAX
        named = "; ".join(texts[:ODD_NAMED_MAX])
        notes.add(rule, f"{named}; and {more} more" if more > 0 else named)
    entry.certificates.extend(standing_certificates(entry.terms, notes))


def places_of(terms: OpenDelivery) -> list[str]:
    """Return the addresses that the check reads."""
    return [
        *(address.lot(each.gtin, each.lot) for each in terms.lots),
        *map(address.unit, terms.units),
        *(address.certificate(each.holder_id, each.kind) for each in terms.required_certificates),
    ]


def _odd_lots(terms: OpenDelivery, case: Case) -> Iterator[tuple[Rule, str]]:
    items = {(each.lot.gtin, each.lot.lot): each for each in terms.items}
    for name in terms.lots:
        lot = case.load(address.lot(name.gtin, name.lot), Lot) or Lot()
        yield from _odd(name, lot, items.get((name.gtin, name.lot)))


def _odd(name: LotName, lot: Lot, item: DeliveredLot | None) -> Iterator[tuple[Rule, str]]:
    told = f"lot {name.gtin}:{name.lot}"
    if said := withheld(lot):
        yield Rule.LOT_WITHHELD, f"{told} is {said}"
    if not lot.party_id:
        yield Rule.LOT_UNKNOWN, f"nobody is on record as the maker of {told}"
    elif item is not None and item.unit != lot.unit:
        yield Rule.UNIT_MISMATCH, f"{told} counts in {lot.unit}, not in {item.unit}"
    elif item is not None and item.quantity > lot.made:
        yield (
            Rule.LOT_OVERDRAWN,
            f"{item.quantity} {item.unit} of {told} sold, {lot.made} made",
        )


def _odd_units(terms: OpenDelivery, case: Case) -> Iterator[tuple[Rule, str]]:
    for sscc in terms.units:
        unit = case.load(address.unit(sscc), LogisticUnit)
        if unit is None or not unit.HasField("packed"):
            yield Rule.UNIT_UNKNOWN, f"nobody is on record as the packer of unit {sscc}"
