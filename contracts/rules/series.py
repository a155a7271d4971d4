"""Trips in a row: a device numbers its trips, and each start names the seal before it.

So a trip that somebody deletes on the truck leaves a gap that shows. The numbers belong to a key
of the device: a new key begins again at 1, and only the device's owner can register one.

Trips are committed in any order, since a truck may offload one trip at two sites. So a seal is
compared with the start after it as soon as both are on the ledger, whichever comes second.
"""

import hashlib
from typing import Final

from contracts import address
from contracts.encoding import canonical
from contracts.proto.payload_pb2 import SealTrip, StartTrip
from contracts.proto.state_pb2 import Findings, NumberedTrip, TripSeries
from contracts.rules.case import Case, Notes
from contracts.rules.ids import Rule

SERIES_RULES: Final[frozenset[str]] = frozenset(
    {Rule.TRIP_NUMBER_GAP, Rule.TRIP_NUMBER_REPEATED, Rule.PREVIOUS_SEAL_MISMATCH}
)
"""Findings that depend on other trips of the same key."""
REMEMBERED: Final = 16
"""Trips that an entry keeps, those with the highest numbers."""


def seal_digest(seal: SealTrip) -> bytes:
    """Return the SHA-256 of a seal, which the next start names."""
    return hashlib.sha256(canonical(seal)).digest()


def number_trip(start: StartTrip, case: Case) -> None:
    """Put a trip into the row of its key's trips, and add findings on what does not fit."""
    series = _series(case)
    if not (start.trip_number or series.last_number):
        return  # a device that numbers no trips
    notes = Notes(case, start.trip_id, start.device_id)
    if _takes(series, start.trip_number, notes):
        _compare_with_seal_before(series, start, notes)
        _insert(series, start)
        case.store(address.series(case.signer), series)
    _record(notes)


def seal_numbered(seal: SealTrip, case: Case) -> None:
    """Keep the seal of a numbered trip, and add a finding if the next start names another one."""
    series = _series(case)
    trip = next((each for each in series.trips if each.trip_id == seal.trip_id), None)
    if trip is None:
        return
    trip.seal_sha256 = seal_digest(seal)
    notes = Notes(case, seal.trip_id, seal.device_id)
    after = _numbered(series, trip.number + 1)
    if after is not None and after.previous_seal_sha256 != trip.seal_sha256:
        notes.add(
            Rule.PREVIOUS_SEAL_MISMATCH,
            f"trip {after.number} names {_name(after.previous_seal_sha256)} as the seal before it, "
            f"this is {_name(trip.seal_sha256)}",
        )
    case.store(address.series(case.signer), series)
    _record(notes)


def _takes(series: TripSeries, number: int, notes: Notes) -> bool:
    """Say whether a trip's number gets a place in the row, and add a finding if it is not due."""
    due = series.last_number + 1
    if not number:
        notes.add(Rule.TRIP_NUMBER_GAP, f"the trip has no number, {due} was expected next")
        return False
    if number > due:
        notes.add(Rule.TRIP_NUMBER_GAP, f"this is trip {number}, {due} was expected next")
    elif number < due:  # late, or the device has forgotten its trips
        known = [each.number for each in series.trips]
        if number in known or (len(known) == REMEMBERED and number < min(known)):
            notes.add(
                Rule.TRIP_NUMBER_REPEATED,
                f"this is trip {number} again or very late, {due} was expected next",
            )
            return False
        if number > 1 and number - 1 not in known:  # a far number before must hide no gap
            notes.add(
                Rule.TRIP_NUMBER_GAP,
                f"this is trip {number}, trip {number - 1} before it is not on the ledger",
            )
    return True


def _compare_with_seal_before(series: TripSeries, start: StartTrip, notes: Notes) -> None:
    """Add a finding if a start names another seal than the one on record, if that is known."""
    before = _numbered(series, start.trip_number - 1)
    known = before.seal_sha256 if before is not None else b""
    if start.trip_number > 1 and not known:
        return  # the seal's own transaction compares them
    if start.previous_seal_sha256 != known:
        notes.add(
            Rule.PREVIOUS_SEAL_MISMATCH,
            f"names {_name(start.previous_seal_sha256)} as the seal before it, on record is "
            f"{_name(known)}",
        )


def _insert(series: TripSeries, start: StartTrip) -> None:
    series.last_number = max(series.last_number, start.trip_number)
    trip = NumberedTrip(
        number=start.trip_number,
        trip_id=start.trip_id,
        previous_seal_sha256=start.previous_seal_sha256,
    )
    trips = sorted([*series.trips, trip], key=lambda each: each.number)[-REMEMBERED:]
    del series.trips[:]
    series.trips.extend(trips)


def _series(case: Case) -> TripSeries:
    found = case.load(address.series(case.signer), TripSeries)
    return found or TripSeries(public_key=case.signer)


def _numbered(series: TripSeries, number: int) -> NumberedTrip | None:
    return next((each for each in series.trips if each.number == number), None)


def _name(sha256: bytes) -> str:
    return sha256.hex()[:16] or "none"


def _record(notes: Notes) -> None:
    """Write the findings apart from others: they depend on trips that evidence need not hold."""
    if notes.found:
        place = address.series_findings(notes.trip_id, notes.case.transaction_id)
        notes.case.store(place, Findings(findings=notes.found))
    notes.announce()
