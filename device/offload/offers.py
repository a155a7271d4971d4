"""Offers: ask the gateway about everything that waits here, in messages of limited size."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, TypeVar

from contracts.proto.wire_pb2 import Offer, RecordingOffer
from contracts.wire import OFFER_BATCHES_MAX, OFFER_RECORDINGS_MAX
from device.journal.outbox import Announced, Outbox

SESSION_BYTES: Final = 16
_ItemT = TypeVar("_ItemT")


@dataclass(frozen=True, slots=True)
class Question:
    """One offer, and the batches that its answer covers."""

    message: Offer
    batch_ids: Sequence[str]


def questions(outbox: Outbox) -> Iterator[Question]:
    """Yield the offers that cover everything in `outbox`, each with its own session."""
    batches = _parts(outbox.batch_ids(), OFFER_BATCHES_MAX)
    recordings = _parts(outbox.announced(), OFFER_RECORDINGS_MAX)
    for ids, announced in zip_longest(batches, recordings, fillvalue=()):
        message = Offer(
            session=os.urandom(SESSION_BYTES),
            batch_ids=ids,
            recordings=[_recording_offer(item) for item in announced],
        )
        yield Question(message, [*ids, *(item.batch_id for item in announced)])


def _recording_offer(item: Announced) -> RecordingOffer:
    digest = item.recording.digest
    return RecordingOffer(
        sha256=digest.sha256,
        size=digest.size,
        trip_id=item.recording.trip_id,
        digest_batch=item.digest_batch,
    )


def _parts(items: Sequence[_ItemT], size: int) -> list[Sequence[_ItemT]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
