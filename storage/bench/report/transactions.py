"""BEP-23's table of transactions: times of sending, acceptance and commit."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.run.document import Document
from storage.bench.run.savedrun import SavedRun

_NEEDED: Final = frozenset({"txid", "size", "ts_send", "ts_accept", "ts_commit", "ts_error"})
_IN_MS: Final = 1e11
"""Larger times since 1970 are milliseconds."""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Transactions:
    """One table; all times are seconds since the first was sent.

    Attributes:
        accepted_s: Time and duration of each acceptance.
        committed_s: Time of each commit, and its duration from acceptance: BEP-23 calls this to
            finalise.
        failed: Number that ended with an error.
    """

    accepted_s: Sequence[tuple[float, float]]
    committed_s: Sequence[tuple[float, float]]
    failed: int


def transactions(run: SavedRun, execution: Document) -> Iterator[Transactions]:
    """Yield the tables of transactions that an execution left.

    Raises:
        RejectedError: A table is damaged.
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
