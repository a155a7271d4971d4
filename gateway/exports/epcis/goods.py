"""Events of deliveries, handovers, transformations and lots.

A delivery's terms are an event once both sides have signed them and the time of that is known, a
handover once both parties have signed it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from contracts.proto.payload_pb2 import LotQuantity, RegisterSite, SetLotStatus
from contracts.proto.state_pb2 import Delivery, HandOverState, Lot, Transformation
from contracts.records.clock import rfc3339
from contracts.rules.custody import carriers_of, quantity_of
from gateway.exports.epcis.eventhash import Event, with_id
from gateway.exports.epcis.ids import lot_uri, own, site_uri, unit_uri

Sites = dict[str, RegisterSite]
"""Sites by id; one that is not registered is missing."""
_UOM: Final = re.compile("[A-Z0-9]{2,3}")
_STATUS: Final = {
    SetLotStatus.CLEARED: "conformant",
    SetLotStatus.QUARANTINED: "non_sellable_other",
    SetLotStatus.RECALLED: "recalled",
}


def base(kind: str, utc_ms: int, **fields: object) -> Event:
    """Return the beginning of an event."""
    return {
        "type": kind,
        "eventTime": rfc3339(utc_ms),
        "eventTimeZoneOffset": "+00:00",
        **fields,
    }


def quantity_element(gtin: str, lot: str, quantity: int = 0, unit: str = "") -> Event:
    """Return how much of a lot; no quantity if it is not known, or its unit has no code."""
    element: Event = {"epcClass": lot_uri(gtin, lot)}
    if quantity and _UOM.fullmatch(unit):
        element |= {"quantity": quantity, "uom": unit}
    return element


def goods_of(entry: Delivery, share: float = 1.0) -> Event:
    """Return what a delivery holds, as members of an event.

    Args:
        entry: The delivery.
        share: How much of it; only of all of it are the quantities of single lots known.
    """
    terms = entry.terms
    if terms.items and share == 1.0:
        lots = [
            quantity_element(each.lot.gtin, each.lot.lot, each.quantity, each.unit)
            for each in terms.items
        ]
    elif len(terms.lots) == 1:
        (lot,) = terms.lots
        lots = [quantity_element(lot.gtin, lot.lot, round(terms.quantity * share), terms.unit)]
    else:
        lots = [quantity_element(each.gtin, each.lot) for each in terms.lots]
    found: Event = {"epcList": [unit_uri(sscc) for sscc in terms.units]} if terms.units else {}
    return found | ({"quantityList": lots} if lots else {})


def order_of(entry: Delivery) -> list[Event]:
    """Return the order and the delivery, as transactions of an event."""
    terms = entry.terms
    found = [{"type": "desadv", "bizTransaction": own("delivery", terms.delivery_id)}]
    if terms.order_id:
        found.append({"type": "po", "bizTransaction": own("order", terms.order_id)})
    return found


def delivery_events(entry: Delivery) -> Iterator[Event]:
    """Yield the agreement on a delivery, and its dispute."""
    terms = entry.terms
    if entry.agreed_at_s:
        yield with_id(
            base(
                "TransactionEvent",
                entry.agreed_at_s * 1000,
                action="ADD",
                bizStep="accepting",
                bizTransactionList=order_of(entry),
                **goods_of(entry),
                sourceList=[_source("owning_party", own("party", terms.seller_id))],
                destinationList=[_destination("owning_party", own("party", terms.buyer_id))],
            )
        )
    if entry.HasField("dispute"):
        yield with_id(
            base(
                "TransactionEvent",
                entry.dispute.at_ms,
                action="OBSERVE",
                bizStep="inspecting",
                disposition="non_conformant",
                bizTransactionList=order_of(entry),
                **goods_of(entry),
            )
        )


def handover_events(
    entry: Delivery, handovers: Iterable[HandOverState], sites: Sites
) -> Iterator[Event]:
    """Yield the handovers of a delivery that both parties have signed."""
    for each in handovers:
        terms = each.terms
        if not {terms.from_party_id, terms.to_party_id} <= set(each.signed_by):
            continue
        loading = terms.to_party_id in carriers_of(entry.terms)
        whole = entry.terms.quantity
        share = quantity_of(terms, entry.terms) / whole if whole else 1.0
        yield with_id(
            base(
                "ObjectEvent",
                terms.at_ms,
                action="OBSERVE",
                bizStep="loading" if loading else "unloading",
                disposition="returned" if terms.returned else "in_transit",
                readPoint={"id": site_uri(sites.get(terms.site_id), terms.site_id)},
                **goods_of(entry, share),
                bizTransactionList=order_of(entry),
                sourceList=[_source("possessing_party", own("party", terms.from_party_id))],
                destinationList=[_destination("possessing_party", own("party", terms.to_party_id))],
            )
        )


def transformation_event(entry: Transformation, sites: Sites) -> Event:
    """Return lots made from lots; lots that began without a source are a commissioning."""
    terms = entry.terms
    place = {"id": site_uri(sites.get(terms.site_id), terms.site_id)}
    step = {"bizStep": "commissioning", "readPoint": place}
    if not terms.inputs:
        made = {"action": "ADD", **step, "quantityList": _elements(terms.outputs)}
        return with_id(base("ObjectEvent", terms.at_ms, **made))
    return with_id(
        base(
            "TransformationEvent",
            terms.at_ms,
            inputQuantityList=_elements(terms.inputs),
            **({"outputQuantityList": _elements(terms.outputs)} if terms.outputs else {}),
            transformationID=own("transformation", terms.transformation_id),
            **step,
        )
    )


def lot_events(entry: Lot) -> Iterator[Event]:
    """Yield what was said last on whether a lot may be used and sold."""
    if entry.HasField("status"):
        said = entry.status
        yield with_id(
            base(
                "ObjectEvent",
                said.at_ms,
                action="OBSERVE",
                bizStep="inspecting",
                disposition=_STATUS[said.status],
                quantityList=[quantity_element(entry.gtin, entry.lot)],
            )
        )


def _elements(lots: Iterable[LotQuantity]) -> list[Event]:
    return [quantity_element(each.gtin, each.lot, each.quantity, each.unit) for each in lots]


def _source(kind: str, uri: str) -> Event:
    return {"type": kind, "source": uri}


def _destination(kind: str, uri: str) -> Event:
    return {"type": kind, "destination": uri}
