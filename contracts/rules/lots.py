"""Lots made from lots, so that what went wrong with one is traced to its sources and on."""

from contracts import address
from contracts.proto.payload_pb2 import PROCESSOR, SELLER, LotQuantity, TransformLots
from contracts.proto.state_pb2 import Lot, Transformation
from contracts.rules.case import EVENT_TRANSFORMATION, Case, Notes, invalid
from contracts.rules.form import LOT_QUANTITY_MAX
from contracts.rules.ids import Rule
from contracts.rules.parties import require_role
from contracts.rules.sites import require_site


def transform_lots(action: TransformLots, case: Case) -> None:
    """Use up lots and make others of them, or begin lots that nothing of ours went into."""
    case.require_party(action.party_id)
    require_role(case, action.party_id, PROCESSOR, SELLER)
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


def _use(used: LotQuantity, notes: Notes) -> None:
    """Take from a lot, be it unknown or used up: that is found, not refused.

    Whoever processed the goods did so in the world, and a trace must not end because somebody
    before them kept no books.
    """
    lot = _lot(used, notes)
    if not lot.party_id:
        notes.add(Rule.LOT_UNKNOWN, f"nobody is on record as the maker of {_name(used)}")
    if lot.unit != used.unit:
        notes.add(Rule.UNIT_MISMATCH, f"{_name(used)} counts in {lot.unit}, not in {used.unit}")
    else:
        lot.used = min(lot.used + used.quantity, LOT_QUANTITY_MAX)
    _keep(lot, used, notes)


def _make(made: LotQuantity, party_id: str, notes: Notes) -> None:
    """Add to a lot; whoever makes it first owns it, and says in which unit it counts."""
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
    return found or Lot(gtin=named.gtin, lot=named.lot, unit=named.unit)


def _keep(lot: Lot, named: LotQuantity, notes: Notes) -> None:
    if lot.party_id and lot.used > lot.made:
        notes.add(
            Rule.LOT_OVERDRAWN, f"{lot.used} {lot.unit} of {_name(named)} used, {lot.made} made"
        )
    notes.case.store(address.lot(lot.gtin, lot.lot), lot)


def _name(named: LotQuantity) -> str:
    return f"lot {named.gtin}:{named.lot}"
