"""The form of what version 1.1 says of goods, places and the duties of keys."""

from collections.abc import Sequence
from typing import Final

from contracts.actions.fields import all_differ, check_hash, check_lot, check_quantity, check_text
from contracts.actions.form import check_terms_1_1
from contracts.errors import RejectedError
from contracts.ids import check_id, check_sscc
from contracts.proto.payload_pb2 import (
    CertifyParty,
    KeyDuties,
    OpenDelivery,
    PackUnit,
    Position,
    RegisterParty,
    RegisterSite,
    RotateKeys,
    SetLotStatus,
)
from contracts.records.clock import check_utc_ms
from contracts.records.reading import LATITUDE_E7, LONGITUDE_E7
from contracts.rules.custody import parties_of
from contracts.rules.lots import LOT_QUANTITY_MAX

RADIUS_M_MAX: Final = 100_000
"""Largest reach of a site; further away the distance is less exact."""
CERTIFICATES_MAX: Final = 16
"""Certificates that the terms of a delivery require."""
CONTENTS_MAX: Final = 100
"""Lots, and other units, in one logistic unit."""


def check_party_duties(action: RegisterParty) -> None:
    """Check the duties of a party's keys."""
    _check_duties(action.key_duties, action.public_keys)
    _check_some_may_rotate(action.key_duties, action.public_keys)


def check_added_duties(action: RotateKeys) -> None:
    """Check the duties of the keys that a rotation adds."""
    _check_duties(action.key_duties, action.added)


def _check_duties(named: Sequence[KeyDuties], keys: Sequence[str]) -> None:
    public_keys = [each.public_key for each in named]
    if not all_differ(public_keys, len(keys)) or not set(keys).issuperset(public_keys):
        raise RejectedError("duties are given to keys of this action, to each key at most once")
    known = KeyDuties.Duty.values()[1:]
    for each in named:
        duties = list(each.duties)
        if not duties or not all_differ(duties, len(known)) or not set(known).issuperset(duties):
            raise RejectedError(f"a key has known duties, each once, at least one: {duties}")


def _check_some_may_rotate(named: Sequence[KeyDuties], keys: Sequence[str]) -> None:
    bound = {each.public_key for each in named if KeyDuties.KEYS not in each.duties}
    if keys and bound.issuperset(keys):
        raise RejectedError("at least one key of a party must be allowed to rotate its keys")


def check_place(action: RegisterSite) -> None:
    """Check where a site is: a position and a reach, or neither."""
    if action.HasField("position") != bool(action.radius_m) or action.radius_m > RADIUS_M_MAX:
        raise RejectedError(
            f"a site has a position and a radius of 1..{RADIUS_M_MAX} m, or neither, "
            f"got {action.radius_m} m"
        )
    _check_position(action.position)


def _check_position(position: Position) -> None:
    if abs(position.latitude_e7) > LATITUDE_E7 or abs(position.longitude_e7) > LONGITUDE_E7:
        raise RejectedError(
            "a position lies within 90 degrees of latitude and 180 of longitude, got "
            f"{position.latitude_e7}, {position.longitude_e7} (1e-7 degrees)"
        )


def check_terms(terms: OpenDelivery) -> None:
    """Check what version 1.1 adds to the terms of a delivery."""
    check_terms_1_1(terms)
    lots = [(each.gtin, each.lot) for each in terms.lots]
    named = [(each.lot.gtin, each.lot.lot) for each in terms.items]
    if named and sorted(named) != sorted(set(lots)):
        raise RejectedError("the items name each lot of the delivery once, or there are none")
    for item in terms.items:
        check_text("product", item.product)
        check_quantity(item.quantity, item.unit)
    if not all_differ(terms.units, CONTENTS_MAX):
        raise RejectedError(f"a delivery names up to {CONTENTS_MAX} logistic units, each once")
    for sscc in terms.units:
        check_sscc(sscc)
    required = [(each.holder_id, each.kind) for each in terms.required_certificates]
    if not all_differ(required, CERTIFICATES_MAX):
        raise RejectedError(f"terms require up to {CERTIFICATES_MAX} certificates, each once")
    for holder_id, kind in required:
        check_text("certificate", kind)
        if holder_id not in parties_of(terms):
            raise RejectedError(
                f"a certificate is required of a party of the delivery, got {holder_id!r}"
            )


def check_certificate(action: CertifyParty) -> None:
    """Check a certificate of a party."""
    check_id("party", action.party_id)
    check_id("party", action.holder_id)
    check_text("certificate", action.kind)
    check_hash("the hash of the document", action.document_sha256)
    for name in ("valid_from_ms", "valid_until_ms", "at_ms"):
        check_utc_ms(name, getattr(action, name))
    if action.valid_from_ms > action.valid_until_ms:
        raise RejectedError(
            f"a certificate ends after it begins, got {action.valid_from_ms} to "
            f"{action.valid_until_ms}"
        )


def check_lot_status(action: SetLotStatus) -> None:
    """Check the status of a lot."""
    check_id("party", action.party_id)
    check_lot(action.gtin, action.lot)
    check_text("reason", action.reason)
    check_utc_ms("at_ms", action.at_ms)
    if action.status not in SetLotStatus.Status.values():
        raise RejectedError(f"expected a known status of a lot, got {action.status}")


def check_packing(action: PackUnit) -> None:
    """Check the contents of a logistic unit."""
    check_id("party", action.party_id)
    check_sscc(action.sscc)
    check_utc_ms("at_ms", action.at_ms)
    for sscc in action.units:
        check_sscc(sscc)
    for lot in action.lots:
        check_lot(lot.gtin, lot.lot)
        check_quantity(lot.quantity, lot.unit)
        if lot.quantity > LOT_QUANTITY_MAX:
            raise RejectedError(f"a lot's quantity is at most {LOT_QUANTITY_MAX}: {lot.quantity}")
    names = [(lot.gtin, lot.lot) for lot in action.lots]
    if not all_differ(names, CONTENTS_MAX) or not all_differ(action.units, CONTENTS_MAX):
        raise RejectedError(f"a unit holds up to {CONTENTS_MAX} lots and units, each once")
