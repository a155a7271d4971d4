"""What this device recorded earlier, and how much of its source, in words for the user."""

from typing import Final

from contracts.records.clock import rfc3339
from device.journal.trip import Trip
from device.live.source import LiveSource
from device.tripsource import TripSource

AGAIN: Final = "`wayseal-device record --again` records all of it as one more trip"


def samples_in(source: TripSource) -> int:
    """Return how many readings a whole trip from `source` has; 0 if that is not known before."""
    if source.log is not None:
        return source.log.rows
    if isinstance(source.sensors, LiveSource):
        return 0
    return sum(1 for _ in source.sensors.samples())


def is_of_log(trip: Trip, sha256: bytes) -> bool:
    """Say whether this device began `trip` from the log with that SHA-256, 32 bytes."""
    files = {each.sha256 for each in trip.start.derived_from if each.role == "readings"}
    return trip.joined_at_ms is None and sha256 in files


def recorded(trip: Trip, of: int, name: str) -> str:
    """Say how much of the `of` readings of its source a sealed trip has.

    Args:
        trip: The trip.
        of: Readings of the whole source.
        name: The source, as the sentence names it.
    """
    began = f"trip {trip.trip_id}, which started at {rfc3339(trip.start.started_at_ms)}, was"
    if trip.readings < of:
        return f"{began} closed after {trip.readings} of {of} readings of {name}"
    return f"{began} recorded from {name} to its end, {trip.readings} readings"


def still_open(trip: Trip, source: TripSource) -> str:
    """Say what an open trip was begun from, which is not `source`, and what to do."""
    same_log = source.log is not None and is_of_log(trip, source.log.sha256)
    what = "of this log, begun with other options or files" if same_log else "of other input"
    return (
        f"trip {trip.trip_id} is still open with {trip.readings} readings {what}"
        f"{begun_from(trip)}: repeat the command that began it to go on, or "
        f"`wayseal-device close` seals it as it is"
    )


def begun_from(trip: Trip) -> str:
    """Return the trip's files in brackets; a joined trip's start names another device's files."""
    files = trip.start.derived_from if trip.joined_at_ms is None else ()
    names = ", ".join(f"{each.role} {each.name}" for each in files)
    return f" ({names})" if names else ""
