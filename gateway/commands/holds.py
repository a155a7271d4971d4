"""`wayseal-gateway holds`: lists what may not be deleted, and who let go of what."""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeVar

from contracts.proto.hold_end_pb2 import HoldEndBody
from contracts.records.clock import rfc3339
from contracts.runtime.commands import complain
from gateway.coldplace import cold_files
from gateway.index.looked import looking_at_index
from gateway.records.digests import DigestRecord
from gateway.records.records import Records
from gateway.retention.autoholds import AutomaticHolds, held_because
from gateway.retention.deletions import SCHEMA
from gateway.retention.holdends import ReadHoldEnds
from gateway.settings import Settings
from storage.checked.look import looking_at

_AT_ONCE: Final = 1000
_T = TypeVar("_T")


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Print a line of JSON for each recording under a hold, or for each hold that was ended.

    Raises:
        NotOnLedgerError: There is no such trip.
        RejectedError: A file is damaged, or of another version.
        UnavailableError: There is no such file, or it cannot be read.
    """
    with looking_at(settings.data / "deletions.db", SCHEMA) as db:
        ends = ReadHoldEnds(db.query, partial(complain, "wayseal-gateway"))
        if options.ended:
            for _, body in _pages(ends.listed):
                if options.trip in (None, body.trip_id):
                    print(json.dumps(_ended(body)))
            return
        with looking_at_index(settings.index_file, cold_files(settings)) as index:
            records = Records(index)
            holds = AutomaticHolds(records, ends)
            for each in _digests(records, options.trip):
                because = list(held_because(records, holds, each.digest, each.block_num))
                if because:
                    print(json.dumps(_held(each, because)))


def _digests(records: Records, trip_id: str | None) -> Iterator[DigestRecord]:
    if trip_id is None:
        yield from _pages(records.digests.listed)
        return
    records.trips.check_known(trip_id)
    yield from records.digests.of_trip(trip_id)


def _pages(listed: Callable[[int, int], list[tuple[int, _T]]]) -> Iterator[_T]:
    after = 0
    while page := listed(after, _AT_ONCE):
        yield from (each for _, each in page)
        after = page[-1][0]


def _held(record: DigestRecord, because: list[str]) -> dict[str, object]:
    digest = record.digest
    return {
        "recording_id": digest.sha256.hex(),
        "trip_id": digest.trip_id,
        "started_at": rfc3339(digest.started_at_ms),
        "held_because": because,
    }


def _ended(body: HoldEndBody) -> dict[str, object]:
    return {
        "number": body.number,
        "trip_id": body.trip_id,
        "recording_id": body.recording_sha256.hex() or None,
        "who": body.who,
        "role": body.role,
        "why": body.why,
        "ended_at": rfc3339(body.ended_at_ms),
        "held_for": list(body.held_for),
        "block_num": body.block_num,
    }
