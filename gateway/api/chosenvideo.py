"""Which video an evidence file carries: all, that of a time or a recording, or some blobs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Query

from contracts.chunktree import blob_count
from contracts.errors import RejectedError
from contracts.text import quoted
from gateway.api.paging import PAGE_MAX, Time, span_between
from gateway.api.parts import DeletionsPart, RecordsPart, StorePart
from gateway.api.problems import NotFoundError
from gateway.api.recordings import digest_of_bytes
from gateway.records.evidence import Blobs, all_video, no_video
from gateway.records.pages import EVERYTHING, Span
from gateway.records.records import Records
from gateway.retention.deletions import Deletions
from storage.recordings.store import RecordingStore

RECORDINGS_MAX: Final = 100
"""Recordings that one query names."""
_BLOBS_CHARS_MAX: Final = 4000
_BLOBS: Final = re.compile(r"[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?)*")

_All = Annotated[
    bool,
    Query(
        description="with the videos that this gateway has; the verdict names what the file lacks"
    ),
]
_Named = Annotated[
    list[str] | None,
    Query(
        max_length=RECORDINGS_MAX,
        description="with only the video of this recording; repeat it for several",
    ),
]
_Part = Annotated[
    str | None,
    Query(
        max_length=_BLOBS_CHARS_MAX,
        description="with only these blobs of the one `recording`, such as 0,3-7; the first is 0",
    ),
]
_From = Annotated[Time, Query(alias="from", description="with only the video from this time on")]
_To = Annotated[Time, Query(alias="to", description="with only the video before this time")]


@dataclass(frozen=True, slots=True)
class _These:
    """Blobs: those of some recordings."""

    recordings: frozenset[bytes]
    blobs: tuple[int, ...] | None = None

    def __call__(self, recording: bytes, count: int) -> Iterable[int]:
        if recording not in self.recordings:
            return ()
        return range(count) if self.blobs is None else self.blobs


@dataclass(frozen=True, slots=True)
class VideoChoice:
    """Which video a query names, and where to look it up.

    Attributes:
        records: What the caller may see.
        store: The bytes.
        deletions: What was deleted.
        video: Whether all of it is meant.
        recordings: Recordings, each by the 64 digits of its SHA-256.
        blobs: Some blobs of the one recording, as the query has them.
        span: A time.
    """

    records: Records
    store: RecordingStore
    deletions: Deletions
    video: bool
    recordings: Sequence[str]
    blobs: str | None
    span: Span

    def of_trips(self, trip_ids: Sequence[str]) -> Blobs:
        """Return which blobs an evidence file about trips carries.

        Raises:
            NotOnLedgerError: A named recording is not on the ledger.
            NotFoundError: It is on none of the trips, its bytes are not here, or none of that time.
            GoneError: They were deleted here.
            RejectedError: The recording does not have these blobs.
        """
        if self.recordings:
            return self._named(trip_ids)
        if self.span != EVERYTHING:
            return self._filmed(trip_ids)
        return all_video if self.video else no_video

    def _named(self, trip_ids: Sequence[str]) -> Blobs:
        digests = [
            digest_of_bytes(self.records, self.store, self.deletions, each)
            for each in self.recordings
        ]
        for each in digests:
            if not self.records.digests.trip_ids(each.sha256).intersection(trip_ids):
                name = each.sha256.hex()
                raise NotFoundError(f"recording {name} is on none of the trips asked for")
        chosen = frozenset(each.sha256 for each in digests)
        if self.blobs is None:
            return _These(chosen)
        return _These(chosen, _numbers(self.blobs, blob_count(digests[0].size)))

    def _filmed(self, trip_ids: Sequence[str]) -> Blobs:
        filmed = {
            sha256 for trip_id in trip_ids for sha256 in _within(self.records, trip_id, self.span)
        }
        here = frozenset(each for each in filmed if self.store.find(each) is not None)
        if not here:
            raise NotFoundError(
                f"{len(filmed)} recordings were filmed in that time, but their bytes are not at "
                "this gateway"
            )
        return _These(here)


async def _choice(
    records: RecordsPart,
    store: StorePart,
    deletions: DeletionsPart,
    *,
    video: _All = False,
    recording: _Named = None,
    blobs: _Part = None,
    begin: _From = None,
    end: _To = None,
) -> VideoChoice:
    span, recordings = span_between(begin, end), recording or []
    if recordings and span != EVERYTHING:
        raise RejectedError("query: expected either recording, or from and to, got both")
    if blobs is not None and len(recordings) != 1:
        raise RejectedError(
            f"query: expected blobs together with one recording, got {len(recordings)} recordings"
        )
    return VideoChoice(records, store, deletions, video, recordings, blobs, span)


ChosenVideo = Annotated[VideoChoice, Depends(_choice)]


def _within(records: Records, trip_id: str, span: Span) -> Iterator[bytes]:
    """Yield the recordings of a trip that overlap a time, by their signed times."""
    after = 0
    while page := records.trips.digests(trip_id, after, PAGE_MAX, span):
        yield from (each.digest.sha256 for _, each in page)
        after = page[-1][0]


def _numbers(text: str, count: int) -> tuple[int, ...]:
    """Return the numbers of blobs that a query names, ascending, each once."""
    if not _BLOBS.fullmatch(text):
        raise RejectedError(f"query.blobs: expected blob numbers such as 0,3-7, got {quoted(text)}")
    numbers: set[int] = set()
    for each in text.split(","):
        first, _, last = each.partition("-")
        begin, end = int(first), int(last or first)
        if not begin <= end < count:
            raise RejectedError(
                f"query.blobs: expected blobs 0 to {count - 1}, the first before the last, "
                f"got {each}"
            )
        numbers.update(range(begin, end + 1))
    return tuple(sorted(numbers))
