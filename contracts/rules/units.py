"""Logistic units: pallets, cases and the like, what they hold, and in which unit they are."""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import CARRIER, MANUFACTURER, SELLER, PackUnit
from contracts.proto.state_pb2 import LogisticUnit
from contracts.rules.case import EVENT_UNIT, Case, Notes, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import require_role, require_site

DEPTH_MAX: Final = 8
"""Units in one another, the outermost included."""
WITHIN_MAX: Final = 4096
"""Units that one unit holds, at any depth: a ledger must bound what one transaction reads."""


def pack_unit(action: PackUnit, case: Case) -> None:
    """Say what a logistic unit holds from now on; without contents, it is unpacked.

    What is odd leads to a finding and not to a refusal: the goods lie in the world as they lie.
    """
    case.require_party(action.party_id)
    require_role(case, action.party_id, MANUFACTURER, SELLER, CARRIER)
    require_site(case, action.site_id)
    _check_no_circle(action, case)
    notes = Notes(case, sscc=action.sscc)
    entry = _unit(action.sscc, case)
    if entry.HasField("packed") and entry.packed.party_id != action.party_id:
        notes.add(
            Rule.UNIT_REPACKED,
            f"unit {action.sscc} was packed by {entry.packed.party_id}",
        )
    for sscc in sorted(set(entry.packed.units) - set(action.units)):
        _release(sscc, action.sscc, case)
    for sscc in action.units:
        _hold(sscc, action.sscc, notes)
    entry.packed.CopyFrom(action)
    del entry.findings[:]
    entry.findings.extend(notes.found)
    case.store(address.unit(action.sscc), entry)
    case.event(EVENT_UNIT, entry, sscc=action.sscc, party_id=action.party_id)
    notes.announce()


def _check_no_circle(action: PackUnit, case: Case) -> None:
    """Check that no unit holds itself, and that units are not nested too deep.

    Raises:
        InvalidTransactionError: One of the contents holds this unit, or the nesting is too deep.
    """
    outer, depth = action.sscc, 1 + _height(action, case)
    while outer:
        if outer in action.units:
            raise invalid(
                Rule.UNIT_IN_ITSELF, f"unit {outer} cannot hold {action.sscc}, it is in it"
            )
        outer = _unit(outer, case).held_by
        depth += bool(outer)
        if depth > DEPTH_MAX:
            raise invalid(Rule.FORM, f"at most {DEPTH_MAX} units in one another")


def _height(action: PackUnit, case: Case) -> int:
    """Return how many units will lie in one another within this one.

    A unit that was packed elsewhere since is where it was packed last. So each unit is met once.

    Raises:
        InvalidTransactionError: Too deep, or too many.
    """
    height, met = 0, 0
    level = [_unit(each, case) for each in action.units]
    while level:
        height, met = height + 1, met + len(level)
        inner = [(each.sscc, sscc) for each in level for sscc in each.packed.units]
        if height >= DEPTH_MAX or met + len(inner) > WITHIN_MAX:
            raise invalid(
                Rule.FORM,
                f"at most {DEPTH_MAX} units in one another, and {WITHIN_MAX} within one",
            )
        level = [unit for outer, sscc in inner if (unit := _unit(sscc, case)).held_by == outer]
    return height


def _unit(sscc: str, case: Case) -> LogisticUnit:
    return case.load(address.unit(sscc), LogisticUnit) or LogisticUnit(sscc=sscc)


def _release(sscc: str, outer: str, case: Case) -> None:
    """Take a unit out of the one that held it, unless another one holds it by now."""
    entry = _unit(sscc, case)
    if entry.held_by == outer:
        entry.held_by = ""
        case.store(address.unit(sscc), entry)


def _hold(sscc: str, outer: str, notes: Notes) -> None:
    entry = _unit(sscc, notes.case)
    if not entry.HasField("packed"):
        notes.add(Rule.UNIT_UNKNOWN, f"nobody is on record as the packer of unit {sscc}")
    if entry.held_by not in ("", outer):
        notes.add(Rule.UNIT_ELSEWHERE, f"unit {sscc} was in unit {entry.held_by}")
    entry.held_by = outer
    notes.case.store(address.unit(sscc), entry)
