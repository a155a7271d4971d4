"""BEP-23's table of transactions: when each was sent, accepted and committed."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.report.savedrun import SavedRun
from storage.bench.run.document import Document

_NEEDED: Final = frozenset({"txid", "size", "ts_send", "ts_accept", "ts_commit", "ts_error"})
_IN_MS: Final = 1e11
"""Times since 1970 beyond this are milliseconds."""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Transactions:
    """One table; all times are seconds since the first was sent.

    Attributes:
        accepted_s: Of each that was accepted, and how long that took.
        committed_s: Of each that was committed, and how long that took after it was accepted:
            BEP-23 calls it to finalise.
        failed: How many ended with an error.
    """

    accepted_s: Sequence[tuple[float, float]]
    committed_s: Sequence[tuple[float, float]]
    failed: int


def transactions(run: SavedRun, execution: Document) -> Iterator[Transactions]:
    """Yield the tables of transactions that an execution left.

    Raises:
        RejectedError: One is damaged.
    """
    for path in sorted(run.inside(execution["folder"]).glob("*.csv")):
        if found := _read(path):
            yield found


def _read(path: Path) -> Transactions | None:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            if not set(reader.fieldnames or ()) >= _NEEDED:
                return None
            rows = [{name: _time(row[name]) for name in _TIMES} for row in reader]
    except (OSError, TypeError, ValueError) as error:
        raise RejectedError(f"expected a table of transactions in {path}: {error}") from error
    sent = [row["ts_send"] for row in rows if row["ts_send"] is not None]
    if not sent:
        return None
    began = min(sent)
    accepted, committed = [], []
    for row in rows:
        was_sent, was_accepted, was_committed = (row[name] for name in _TIMES[:3])
        if was_sent is None or was_accepted is None:
            continue
        accepted.append((was_accepted - began, was_accepted - was_sent))
        if was_committed is not None:
            committed.append((was_committed - began, was_committed - was_accepted))
    return Transactions(accepted, committed, sum(row["ts_error"] is not None for row in rows))


_TIMES: Final = ("ts_send", "ts_accept", "ts_commit", "ts_error")


def _time(cell: str) -> float | None:
    if not cell:
        return None
    value = float(cell)
    return value / _MS if value > _IN_MS else value
