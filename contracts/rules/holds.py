"""Legal holds: nobody may delete evidence of a trip while a hold is in force."""

from contracts import address
from contracts.proto.payload_pb2 import AUTHORITY, PlaceHold, ReleaseHold
from contracts.proto.state_pb2 import Hold
from contracts.rules.case import EVENT_HOLD, Case, invalid
from contracts.rules.ids import Rule
from contracts.rules.parties import known_party


def place_hold(action: PlaceHold, case: Case) -> None:
    """Put a trip's evidence under legal hold; a party of the trip or an authority signs."""
    case.require_party(action.party_id)
    trip = case.trip(action.trip_id)
    if (
        action.party_id not in trip.party_ids
        and AUTHORITY not in known_party(case, action.party_id).roles
    ):
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"{action.party_id} is neither a party of trip {action.trip_id} nor an authority",
        )
    if case.context.get(address.hold(action.trip_id, action.hold_id)) is not None:
        raise invalid(Rule.HOLD_EXISTS, f"hold {action.hold_id} was placed before")
    _keep(case, Hold(placed=action))


def release_hold(action: ReleaseHold, case: Case) -> None:
    """Release a hold; the party that placed it signs."""
    case.require_party(action.party_id)
    case.trip(action.trip_id)
    hold = case.load(address.hold(action.trip_id, action.hold_id), Hold)
    if hold is None:
        raise invalid(Rule.UNKNOWN_HOLD, f"hold {action.hold_id} was never placed")
    if action.party_id != hold.placed.party_id:
        raise invalid(
            Rule.NOT_THE_PARTY, f"hold {action.hold_id} was placed by {hold.placed.party_id}"
        )
    if hold.HasField("released"):
        raise invalid(Rule.HOLD_RELEASED, f"hold {action.hold_id} was released before")
    hold.released.CopyFrom(action)
    _keep(case, hold)


def _keep(case: Case, hold: Hold) -> None:
    placed = hold.placed
    case.store(address.hold(placed.trip_id, placed.hold_id), hold)
    standing = "false" if hold.HasField("released") else "true"
    case.event(EVENT_HOLD, hold, trip_id=placed.trip_id, hold_id=placed.hold_id, on=standing)
