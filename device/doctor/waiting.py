"""What waits on the truck for an offload, and what a gateway would not take."""

from collections.abc import Iterator
from typing import Final

from contracts.runtime.checks import Finding, ok, warning
from contracts.text import counted
from device.journal.status import Status, TripStatus
from device.journal.trip import TripState

_LOST_JOURNAL: Final = (
    "if this device recorded trips before, tell the auditors of them: the ledger shows that their "
    "numbers come again"
)


def findings(status: Status) -> Iterator[Finding]:
    """Yield what the journal says about its trips."""
    if status.journal_is_younger:
        yield warning("journal", "it is younger than the device's key", _LOST_JOURNAL)
    waiting = [trip for trip in status.trips if trip.state is not TripState.RECEIPTED]
    if not waiting:
        yield ok("offload", "nothing waits: each trip has its final receipt")
    for trip in waiting:
        yield _waiting(trip)
        if trip.batches.refused:
            reason = next(iter(trip.refusals.values()))
            yield warning(
                f"trip {trip.trip}",
                f"a gateway refused {counted(trip.batches.refused, 'batch', 'batches')}: {reason}",
                "wayseal-device status names each; the reason says what to do, or ask the site",
            )


def _waiting(trip: TripStatus) -> Finding:
    recordings = counted(len(trip.recordings), "recording")
    words = f"{trip.state}: {counted(trip.readings, 'reading')} and {recordings} wait here"
    if trip.receipt is not None:
        words += f"; the receipt from {trip.receipt['site']} is provisional"
    for lacking in trip.lacking[:1]:
        words += f": {lacking}"
    return ok(f"trip {trip.trip}", words)
