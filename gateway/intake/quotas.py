"""What each device may take of the inbox, so that one device cannot fill it for all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.runtime.connection import Connection
from gateway.intake.held import HeldBatch, State

DEVICE_BYTES_MAX: Final = 1 << 30
DEVICE_BATCHES_MAX: Final = 50_000
DEVICE_QUARANTINE_BYTES_MAX: Final = 16 << 20
DEVICE_VISITS_MAX: Final = 500

_WAITING: Final = (State.HELD, State.SUBMITTED, State.QUARANTINED)
_COMES_AGAIN: Final = (State.LOST, State.DROPPED)


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """The share of one device.

    Attributes:
        bytes_max: Bytes of batches, in any state.
        batches_max: Batches that are not committed.
        quarantine_bytes_max: Bytes of quarantined batches.
        visits_max: Trips without a final receipt.
    """

    bytes_max: int = DEVICE_BYTES_MAX
    batches_max: int = DEVICE_BATCHES_MAX
    quarantine_bytes_max: int = DEVICE_QUARANTINE_BYTES_MAX
    visits_max: int = DEVICE_VISITS_MAX


@dataclass(slots=True)
class _Usage:
    """What a device takes at the moment."""

    bytes: int
    waiting: int
    quarantined: int
    trips: set[str]


class Sieve:
    """Takes the batches of one transaction that are within the limits.

    Args:
        db: The transaction's connection.
        quarantine_bytes_max: Bytes of all quarantined batches.
        of_device: The share of each device.
    """

    def __init__(self, db: Connection, quarantine_bytes_max: int, of_device: DeviceLimits) -> None:
        self._db = db
        self._quarantine_bytes_max = quarantine_bytes_max
        self._limits = of_device
        self._usages: dict[str, _Usage] = {}
        self._new: set[str] = set()
        self._quarantined = 0
        for (size,) in db.execute(
            "SELECT coalesce(sum(bytes), 0) FROM usage WHERE state = ?", (State.QUARANTINED,)
        ):
            self._quarantined = size

    def sift(self, batches: Sequence[HeldBatch]) -> dict[str, str]:
        """Return the ids of the batches that do not fit, each with the reason."""
        refused: dict[str, str] = {}
        for batch in batches:
            if batch.batch_id in self._new or self._is_kept(batch.batch_id):
                continue
            usage = self._usages.get(batch.device_id) or self._usage(batch.device_id)
            self._usages[batch.device_id] = usage
            why = self._excess(batch, usage)
            if why and forget_receipted(self._db, batch.device_id):
                usage = self._usages[batch.device_id] = self._usage(batch.device_id)
                why = self._excess(batch, usage)
            if why:
                refused[batch.batch_id] = why
            else:
                self._count(batch, usage)
        return refused

    def _is_kept(self, batch_id: str) -> bool:
        """Say whether a batch takes its room already."""
        rows = self._db.execute("SELECT state FROM batches WHERE batch_id = ?", (batch_id,))
        return any(state not in _COMES_AGAIN for (state,) in rows)

    def _usage(self, device_id: str) -> _Usage:
        rows = self._db.execute(
            "SELECT state, amount, bytes FROM usage WHERE device_id = ?", (device_id,)
        ).fetchall()
        trips = self._db.execute(
            "SELECT trip_id FROM visits WHERE device_id = ? AND NOT EXISTS (SELECT 1 FROM receipts"
            " WHERE receipts.trip_id = visits.trip_id"
            " AND receipts.device_id = visits.device_id AND receipts.final)",
            (device_id,),
        ).fetchall()
        return _Usage(
            sum(size for _, _, size in rows),
            sum(amount for state, amount, _ in rows if state in _WAITING),
            sum(size for state, _, size in rows if state == State.QUARANTINED),
            {trip_id for (trip_id,) in trips},
        )

    def _excess(self, batch: HeldBatch, usage: _Usage) -> str:
        """Return why a batch does not fit, or ""."""
        limits, device_id, more = self._limits, batch.device_id, len(batch.wire)
        if batch.trip_id and len(usage.trips | {batch.trip_id}) > limits.visits_max:
            return (
                f"{device_id} has {len(usage.trips)} visits without a final receipt, "
                f"at most {limits.visits_max} allowed"
            )
        if usage.waiting >= limits.batches_max:
            return (
                f"{usage.waiting} batches of {device_id} wait here, "
                f"at most {limits.batches_max} allowed"
            )
        why = check_limit(f"inbox of {device_id}", limits.bytes_max, usage.bytes, more)
        if why or batch.state is not State.QUARANTINED:
            return why
        return check_limit(
            f"quarantine of {device_id}", limits.quarantine_bytes_max, usage.quarantined, more
        ) or check_limit("quarantine", self._quarantine_bytes_max, self._quarantined, more)

    def _count(self, batch: HeldBatch, usage: _Usage) -> None:
        size = len(batch.wire)
        self._new.add(batch.batch_id)
        usage.bytes += size
        usage.waiting += 1
        if batch.trip_id:
            usage.trips.add(batch.trip_id)
        if batch.state is State.QUARANTINED:
            usage.quarantined += size
            self._quarantined += size


def forget_receipted(db: Connection, device_id: str | None = None) -> bool:
    """Drop the bytes of batches whose visit has a final receipt: the ledger has them.

    A final receipt has waited for its confirmations. Before that a fork may remove the batches
    from the ledger, and the saga needs their bytes to submit them again.

    Args:
        db: The transaction's connection.
        device_id: The device whose batches are meant; None for all.

    Returns:
        Whether there were any.
    """
    return (
        db.execute(
            "UPDATE batches SET wire = x'' WHERE state = ?1 AND wire <> x''"
            " AND (?2 IS NULL OR device_id = ?2) AND EXISTS (SELECT 1 FROM receipts"
            " WHERE receipts.trip_id = batches.trip_id"
            " AND receipts.device_id = batches.device_id AND receipts.final)",
            (State.COMMITTED, device_id),
        ).rowcount
        > 0
    )


def check_limit(name: str, limit: int, used: int, more: int) -> str:
    """Return why `more` bytes do not fit, or ""."""
    if used + more <= limit:
        return ""
    return f"{name} is full: {used} of {limit} bytes are used, {more} more do not fit"
