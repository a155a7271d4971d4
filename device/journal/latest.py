"""The signs of tampering in the latest reading of the trip that is recorded now."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.proto.payload_pb2 import RecordReading, RecordRun
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.records.reading import Tamper
from device.journal.database import Database

_OPEN: Final = "trip_id IN (SELECT trip_id FROM trips WHERE state = 'open') ORDER BY number DESC"


def signs_now(database: Database) -> Tamper:
    """Return the signs; none if no trip is recorded, or it has no reading yet.

    A reading waits unsigned for its run, signed for its batch, or stands in a batch.

    Raises:
        RejectedError: The journal is damaged.
        UnavailableError: The medium failed.
    """
    latest = next(chain(_waiting(database), _pending(database), _closed(database)), 0)
    return Tamper(latest)


def _waiting(database: Database) -> Iterator[int]:
    for (record,) in database.query(f"SELECT record FROM waiting WHERE {_OPEN} LIMIT 1"):  # noqa: S608
        yield parse(RecordReading, record).tamper_flags


def _pending(database: Database) -> Iterator[int]:
    for (wire,) in database.query(f"SELECT wire FROM pending WHERE {_OPEN} LIMIT 1"):  # noqa: S608
        yield from _flags([parse(Transaction, wire)])


def _closed(database: Database) -> Iterator[int]:
    for (wire,) in database.query(f"SELECT wire FROM batches WHERE {_OPEN} LIMIT 1"):  # noqa: S608
        yield from _flags(parse(Batch, wire).transactions)


def _flags(transactions: Iterable[Transaction]) -> Iterator[int]:
    """Yield the flags of the readings in transactions, latest first."""
    for each in reversed(list(transactions)):
        action = decode(each.payload)
        if isinstance(action, RecordReading):
            yield action.tamper_flags
        elif isinstance(action, RecordRun):
            yield action.readings[-1].tamper_flags
