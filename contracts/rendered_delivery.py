"""Deliveries and handovers in JSON words, beside contracts/rendered.py."""

from contracts.proto import payload_pb2, state_pb2
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.rendered import Words, certificate, finding
from contracts.rules.deliveries import payment_name, status_name
from contracts.rules.silence import longest_silence_s


def delivery(entry: state_pb2.Delivery) -> Words:
    """Return a delivery as it stands."""
    terms = entry.terms
    return {
        "delivery_id": terms.delivery_id,
        "order_id": terms.order_id,
        "status": status_name(entry.status),
        "product": terms.product,
        "quantity": terms.quantity,
        "unit": terms.unit,
        "lots": [{"gtin": lot.gtin, "lot": lot.lot} for lot in terms.lots],
        "items": [_item(each) for each in terms.items],
        "units": list(terms.units),
        "required_certificates": required_certificates(entry),
        "seller_id": terms.seller_id,
        "carrier_id": terms.carrier_id,
        "other_carrier_ids": list(terms.other_carrier_ids),
        "buyer_id": terms.buyer_id,
        "deadline": rfc3339(terms.deadline_ms) if terms.deadline_ms else None,
        "authority_id": terms.authority_id or None,
        "signed_by": list(entry.signed_by),
        "price_sha256": terms.price_sha256.hex() or None,
        "payment_terms_sha256": terms.payment_terms_sha256.hex() or None,
        "payment": payment_name(entry.payment),
        "custodian_id": entry.custodian_id or None,
        "holdings": [
            {"party_id": each.party_id, "quantity": each.quantity}
            for each in entry.holdings
            if each.quantity
        ],
        "sent_quantity": entry.sent_quantity,
        "received_quantity": entry.received_quantity,
        "returned_quantity": entry.returned_quantity,
        "accepted_quantity": entry.accepted_quantity or None,
        "awaited_trip_ids": list(dict.fromkeys(each.trip_id for each in entry.early)),
        "dispute": _dispute(entry),
        "cancelling": _cancelling(entry),
        "closing": _closing(entry),
        "notices": [_notice(each) for each in entry.announced],
        "settlement": _settlement(entry),
        "findings": [finding(each) for each in entry.findings],
        "limits": [_limit(limit) for limit in terms.limits],
        "breaches": entry.breaches,
        "tampers": entry.tampers,
        "silences": entry.silences,
    }


def handover(entry: state_pb2.HandOverState) -> Words:
    """Return a handover, with the parties that have signed it."""
    terms = entry.terms
    return {
        "trip_id": terms.trip_id,
        "site_id": terms.site_id,
        "from_party_id": terms.from_party_id,
        "to_party_id": terms.to_party_id,
        "at": rfc3339(terms.at_ms) if terms.at_ms else None,
        "quantity": terms.quantity or None,
        "seal_numbers": list(terms.seal_numbers),
        "returned": terms.returned,
        "signed_by": list(entry.signed_by),
    }


def _item(item: payload_pb2.DeliveredLot) -> Words:
    return {
        "gtin": item.lot.gtin,
        "lot": item.lot.lot,
        "product": item.product,
        "quantity": item.quantity,
        "unit": item.unit,
    }


def required_certificates(entry: state_pb2.Delivery) -> list[Words]:
    """Return the required certificates with what was held; None until both sides have signed."""
    agreed = len(entry.signed_by) > 1
    return [
        {
            "holder_id": each.holder_id,
            "kind": each.kind,
            "held": [
                certificate(held)
                for held in entry.certificates
                if (held.holder_id, held.kind) == (each.holder_id, each.kind)
            ]
            if agreed
            else None,
        }
        for each in entry.terms.required_certificates
    ]


def _dispute(entry: state_pb2.Delivery) -> Words | None:
    if not entry.HasField("dispute"):
        return None
    return {
        "party_id": entry.disputed_by,
        "reason": entry.dispute.reason,
        "at": rfc3339(entry.dispute.at_ms),
    }


def _cancelling(entry: state_pb2.Delivery) -> Words | None:
    if not entry.HasField("cancelling"):
        return None
    return {
        "reason": entry.cancelling.reason,
        "at": rfc3339(entry.cancelling.at_ms),
        "signed_by": list(entry.cancelling_signed_by),
    }


def _notice(action: payload_pb2.AnnounceSettlement) -> Words:
    return {
        "authority_id": action.authority_id,
        "reason": action.reason,
        "at": rfc3339(action.at_ms),
    }


def _settlement(entry: state_pb2.Delivery) -> Words | None:
    if not entry.HasField("settlement"):
        return None
    settled = entry.settlement
    return {
        "authority_id": settled.authority_id,
        "payment": payment_name(settled.payment),
        "reason": settled.reason,
        "at": rfc3339(settled.at_ms),
    }


def _closing(entry: state_pb2.Delivery) -> Words | None:
    if not entry.HasField("closing"):
        return None
    return {
        "payment": payment_name(entry.closing.payment),
        "at": rfc3339(entry.closing.at_ms),
        "signed_by": list(entry.closing_signed_by),
    }


def _limit(limit: payload_pb2.Limit) -> Words:
    quantity = QUANTITIES[limit.quantity]
    return {
        "quantity": quantity.name,
        "unit": quantity.unit_code,
        "minimum": limit.minimum / quantity.scale if limit.HasField("minimum") else None,
        "maximum": limit.maximum / quantity.scale if limit.HasField("maximum") else None,
        "tolerated_s": limit.tolerated_s,
        "longest_silence_s": longest_silence_s(limit),
    }
