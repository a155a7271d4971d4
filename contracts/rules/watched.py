"""What a device's readings on a trip are compared with, prepared once for all of them."""

from functools import lru_cache
from typing import Final, NamedTuple, Self

from contracts.proto.state_pb2 import Trip
from contracts.rules.blocktimes import agreed_ms
from contracts.rules.case import Case
from contracts.rules.excursions import Bound, bounds_of
from contracts.rules.silence import Listened, listened_of
from contracts.rules.trips import devices_of

_REMEMBERED: Final = 128
"""Trips that are kept prepared, since a ledger commits their readings a few at a time."""


class Watched(NamedTuple):
    """A trip, and what follows from it, as plain values.

    Attributes:
        trip: The trip's entry. Several transactions share it, so it must not be changed.
        devices: The devices that record on the trip.
        bounds: The limits of its deliveries, in the trip's order.
        listened: The quantities that they limit.
        agreed_ms: Time of the latest block when both sides had signed each of them; 0 if unknown.
    """

    trip: Trip
    devices: frozenset[str]
    bounds: tuple[Bound, ...]
    listened: tuple[Listened, ...]
    agreed_ms: int

    @classmethod
    def of(cls, trip: Trip) -> Self:
        """Prepare a trip."""
        return cls(
            trip,
            frozenset(devices_of(trip.start)),
            bounds_of(trip),
            listened_of(trip),
            agreed_ms(trip),
        )


def watched_trip(trip_id: str, case: Case) -> Watched:
    """Return the trip `trip_id`, prepared.

    Raises:
        InvalidTransactionError: The trip does not exist, or a later version of the rules wrote it.
    """
    found = _watched(case.trip_wire(trip_id))
    case.check_written(found.trip)
    return found


@lru_cache(maxsize=_REMEMBERED)
def _watched(wire: bytes) -> Watched:
    return Watched.of(Trip.FromString(wire))
