"""What the inbox keeps, in numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.runtime.sqlite import VersionedDatabase, used_bytes
from gateway.intake.held import State


@dataclass(frozen=True, slots=True)
class Numbers:
    """The inbox in numbers.

    Attributes:
        batches: Their number, by state; a state without any may be missing.
        bytes: Their bytes, by state.
        oldest_ms: When the oldest batch came in, ms since the epoch, by state: held ones without
            digests, which wait for their recordings, submitted and quarantined ones.
        open_visits_ms: When each visit without a final receipt began.
        used_bytes: Of the file.
    """

    batches: Mapping[State, int]
    bytes: Mapping[State, int]
    oldest_ms: Mapping[State, int]
    open_visits_ms: tuple[int, ...]
    used_bytes: int


def look(db: VersionedDatabase) -> Numbers:
    """Return the inbox of `db` in numbers.

    Raises:
        UnavailableError: It cannot be read.
    """
    usage = db.query("SELECT state, sum(amount), sum(bytes) FROM usage GROUP BY state")
    oldest = {
        state: db.query(
            "SELECT received_ms FROM batches WHERE state = ? AND recording IS NULL"
            " ORDER BY arrival LIMIT 1",
            state,
        )
        for state in (State.HELD, State.SUBMITTED, State.QUARANTINED)
    }
    visits = db.query(
        "SELECT since_ms FROM visits LEFT JOIN receipts USING (trip_id, device_id)"
        " WHERE final IS NOT 1"
    )
    return Numbers(
        {State(state): amount for state, amount, _ in usage},
        {State(state): size for state, _, size in usage},
        {state: rows[0][0] for state, rows in oldest.items() if rows},
        tuple(since_ms for (since_ms,) in visits),
        used_bytes(db.query),
    )
