"""Transformations: lots made from lots, so that a fault is traced to sources and products."""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    MANUFACTURER,
    SELLER,
    LotQuantity,
    SetLotStatus,
    TransformLots,
)
from contracts.proto.state_pb2 import Lot, Transformation
from contracts.rules.case import EVENT_LOT, EVENT_TRANSFORMATION, Case, Notes, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import known_party, require_role, require_site

LOT_QUANTITY_MAX: Final = 10**15
"""Largest quantity of a lot; sums stop here too. Every JSON parser reads it exactly."""


def transform_lots(action: TransformLots, case: Case) -> None:
    """Use up lots and make others from them; without inputs, begin new lots."""
    case.require_party(action.party_id)
    require_role(case, action.party_id, MANUFACTURER, SELLER)
    require_site(case, action.site_id)
    place = address.transformation(action.transformation_id)
    if case.context.get(place) is not None:
        raise invalid(
            Rule.TRANSFORMATION_EXISTS, f"transformation {action.transformation_id} is on record"
        )
    notes = Notes(case, transformation_id=action.transformation_id)
    for used in action.inputs:
        _use(used, notes)
    for made in action.outputs:
        _make(made, action.party_id, notes)
    entry = Transformation(terms=action, findings=notes.found)
    case.store(place, entry)
    case.event(
        EVENT_TRANSFORMATION,
        entry,
        transformation_id=action.transformation_id,
        party_id=action.party_id,
    )
    notes.announce()


def set_lot_status(action: SetLotStatus, case: Case) -> None:
    """Clear, quarantine or recall a lot; its maker or an authority signs.

    An authority may speak of a lot that has no maker on record. What an authority said, only an
    authority takes back.
    """
    case.require_party(action.party_id)
    is_authority = AUTHORITY in known_party(case, action.party_id).roles
    place = address.lot(action.gtin, action.lot)
    lot = case.load(place, Lot)
    if lot is None and not is_authority:
        raise invalid(Rule.UNKNOWN_LOT, f"{_name(action)} is not on record")
    lot = lot or Lot(gtin=action.gtin, lot=action.lot)
    if action.party_id != lot.party_id and not is_authority:
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"{action.party_id} is neither the maker of {_name(action)} nor an authority",
        )
    before = lot.status.party_id
    if before not in ("", lot.party_id) and not is_authority:
        raise invalid(Rule.NOT_THE_PARTY, f"the status of {_name(action)} was set by {before}")
    lot.status.CopyFrom(action)
    case.store(place, lot)
    case.event(EVENT_LOT, lot, gtin=lot.gtin, lot=lot.lot, status=lot_status_name(action.status))


def lot_status_name(status: SetLotStatus.Status) -> str:
    """Return a lot's status as events and messages show it, such as `recalled`."""
    return SetLotStatus.Status.Name(status).lower()


def withheld(lot: Lot) -> str:
    """Return who quarantined or recalled a lot, such as `recalled by dairy`; "" if nobody did."""
    said = lot.status
    if said.status == SetLotStatus.CLEARED:
        return ""
    return f"{lot_status_name(said.status)} by {said.party_id}"


def _use(used: LotQuantity, notes: Notes) -> None:
    """Take from a lot. A lot that is unknown or used up leads to a finding, not to a refusal.

    The goods were processed in the world, and a trace must not end because an earlier party kept
    no books.
    """
    lot = _lot(used, notes)
    if said := withheld(lot):
        notes.add(Rule.LOT_WITHHELD, f"{_name(used)} is {said}")
    if not lot.party_id:
        notes.add(Rule.LOT_UNKNOWN, f"nobody is on record as the maker of {_name(used)}")
    if lot.unit != used.unit:
        notes.add(Rule.UNIT_MISMATCH, f"{_name(used)} counts in {lot.unit}, not in {used.unit}")
    else:
        lot.used = min(lot.used + used.quantity, LOT_QUANTITY_MAX)
    _keep(lot, used, notes)


def _make(made: LotQuantity, party_id: str, notes: Notes) -> None:
    """Add to a lot; its first maker owns it and sets its unit."""
    lot = _lot(made, notes)
    if not lot.party_id:
        lot.party_id = party_id
        if lot.unit != made.unit:
            notes.add(
                Rule.UNIT_MISMATCH, f"{_name(made)} was used in {lot.unit}, is made in {made.unit}"
            )
            lot.unit, lot.used = made.unit, 0
    if lot.party_id != party_id:
        raise invalid(Rule.LOT_TAKEN, f"{_name(made)} is made by {lot.party_id}")
    if lot.unit != made.unit:
        raise invalid(Rule.UNIT_DIFFERS, f"{_name(made)} counts in {lot.unit}, not in {made.unit}")
    lot.made = min(lot.made + made.quantity, LOT_QUANTITY_MAX)
    _keep(lot, made, notes)


def _lot(named: LotQuantity, notes: Notes) -> Lot:
    found = notes.case.load(address.lot(named.gtin, named.lot), Lot)
    if found is None:
        return Lot(gtin=named.gtin, lot=named.lot, unit=named.unit)
    found.unit = found.unit or named.unit  # an authority spoke of it before anyone counted it
    return found


def _keep(lot: Lot, named: LotQuantity, notes: Notes) -> None:
    if lot.party_id and lot.used > lot.made:
        notes.add(
            Rule.LOT_OVERDRAWN, f"{lot.used} {lot.unit} of {_name(named)} used, {lot.made} made"
        )
    notes.case.store(address.lot(lot.gtin, lot.lot), lot)


def _name(named: Lot | LotQuantity | SetLotStatus) -> str:
    return f"lot {named.gtin}:{named.lot}"
