"""Looks again at what a recording or a lot stands on: the ledger's batches and the stored bytes.

It says what holds, what does not, and what was not looked at. A limit that cuts something is named.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Final

from contracts.errors import RejectedError, WaysealError
from contracts.evidence.verify import Verdict
from contracts.proto.payload_pb2 import RecordVideo
from gateway.records.evidence import Audit
from gateway.records.records import Records
from gateway.records.tracing import LotId
from gateway.records.watch import UNWATCHED, StoppedError, Unit, Watch
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.recordings.verification import CopyReport, VerifyReport

TRIPS_MAX: Final = 20
"""Trips that one verification judges."""
VIDEO_BYTES_MAX: Final = 4 << 30
"""Bytes of stored video, all copies counted, that one verification of a lot reads."""
BEGIN_MAX_S: Final = 60.0
"""After this time no further trip or recording is begun."""
JOB_TRIPS_MAX: Final = 500
JOB_VIDEO_BYTES_MAX: Final = 1 << 40
JOB_BEGIN_MAX_S: Final = 21_600.0

_BEYOND: Final = (
    "copies at other sites, or in places that this gateway's settings no longer name",
    "each replica of a blob store by itself: the scrub reads those",
    "whether the ledger's keys are those that you trust: check evidence with wayseal-verify",
)
_BEYOND_LOT: Final = (
    "deliveries of the lot that the index does not have: which there are is the index's word",
    "lots that it was made from, or that were made from it: verify each lot of its trace",
)


class Outcome(StrEnum):
    """What a verification says in one word."""

    HOLDS = "holds"
    FAILS = "fails"
    INCOMPLETE = "incomplete"
    """Nothing that was looked at fails, and not everything was looked at."""


class LeftOutKind(StrEnum):
    """What was not looked at."""

    LOT = "lot"
    DELIVERY = "delivery"
    TRIP = "trip"
    RECORDING = "recording"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one verification looks at.

    Attributes:
        names: Begins the names of the limits, as the documentation has them.
        trips: Trips that it judges.
        video_bytes: Bytes of stored video, all copies counted, that it reads.
        begin_s: After this time it begins no further trip or recording, seconds.
    """

    names: str = ""
    trips: int = TRIPS_MAX
    video_bytes: int = VIDEO_BYTES_MAX
    begin_s: float = BEGIN_MAX_S


AT_ONCE: Final = Bounds()
"""While the client waits for the answer."""
AS_JOB: Final = Bounds("JOB_", JOB_TRIPS_MAX, JOB_VIDEO_BYTES_MAX, JOB_BEGIN_MAX_S)


@dataclass(slots=True)
class Verification:
    """One look at trips and recordings.

    Attributes:
        records: What the reader may see.
        audit: Judges trips by what the ledger answers now.
        store: The stored bytes.
        may_judge: Says whether the reader may see all deliveries on a trip.
        absent: Says why the bytes of a recording are not here.
        bounds: How much it looks at.
        watch: Told how far it is.
        clock_s: A clock that never goes back, seconds.
        verdicts: On the trips that were judged.
        copies: Of the recordings whose bytes were read.
        problems: What does not hold, in words.
        left_out: What was not looked at: names by kind and reason.
    """

    records: Records
    audit: Audit
    store: RecordingStore
    may_judge: Callable[[str], bool]
    absent: Callable[[bytes], str]
    bounds: Bounds = AT_ONCE
    watch: Watch = UNWATCHED
    clock_s: Callable[[], float] = time.monotonic
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    copies: dict[bytes, VerifyReport] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    left_out: dict[tuple[LeftOutKind, str], list[str]] = field(default_factory=dict)
    _began_s: float = 0.0
    _read_bytes: int = 0
    _steps: int = 1

    def __post_init__(self) -> None:
        """Begin to count the time."""
        self._began_s = self.clock_s()

    @property
    def outcome(self) -> Outcome:
        """Return the outcome; where nothing was looked at, nothing holds."""
        if self.problems:
            return Outcome.FAILS
        looked = self.verdicts or self.copies
        return Outcome.HOLDS if looked and not self.left_out else Outcome.INCOMPLETE

    def lot(self, lot: LotId, *, video: bool) -> None:
        """Judge each trip of a lot's deliveries; with `video` read the recordings on them too.

        Raises:
            NotOnLedgerError: No record names the lot.
            UnavailableError: The index did not answer.
        """
        self.records.lots.check_known(lot)
        deliveries = self.records.deliveries.of_lot(*lot)
        if not deliveries:
            self._leave_out(
                LeftOutKind.LOT, "no delivery of it is on record, so no trip", [lot.lot]
            )
        for delivery in deliveries:
            if not delivery.trip_ids:
                reason = "it is on no trip so far"
                self._leave_out(LeftOutKind.DELIVERY, reason, [delivery.entry.terms.delivery_id])
        trip_ids = list(dict.fromkeys(name for each in deliveries for name in each.trip_ids))
        self._steps = len(trip_ids) + (self._count_films(trip_ids) if video else 0)
        for trip_id in trip_ids:
            verdict = self._judge(trip_id)
            for digest in _digests(verdict) if verdict else ():
                self._video_of_lot(digest, asked=video)

    def recording(self, sha256: bytes) -> None:
        """Read every byte of every copy of a recording, and judge the trips that claim it.

        Raises:
            NotOnLedgerError: No digest of it counts.
            UnavailableError: The index or the catalogue did not answer.
        """
        counting = self.records.digests.that_count(sha256, self.store.find)
        trip_ids = list(dict.fromkeys(each.digest.trip_id for each in counting.digests))
        self._steps = 1 + len(trip_ids)
        if counting.stored is None:
            self._leave_out(LeftOutKind.RECORDING, self.absent(sha256), [sha256.hex()])
        else:
            self._read(counting.stored)
        for trip_id in trip_ids:
            verdict = self._judge(trip_id)
            if verdict is not None:
                self._compare(trip_id, sha256, verdict, counting.stored)

    def _compare(
        self, trip_id: str, sha256: bytes, verdict: Verdict, stored: StoredRecording | None
    ) -> None:
        """Note if a trip's batches, as the ledger has them now, do not have the digest."""
        found = [each for each in _digests(verdict) if each.sha256 == sha256]
        if not found:
            self.problems.append(
                f"trip {trip_id}: expected a digest of recording {sha256.hex()} on the ledger, as "
                "the index has it, and found none"
            )
        for digest in found:
            self._check_fits(digest, stored)

    def _judge(self, trip_id: str) -> Verdict | None:
        most = self.bounds.trips
        if len(self.verdicts) >= most:
            reason = f"{self.bounds.names}TRIPS_MAX: at most {most} at once"
            self._leave_out(LeftOutKind.TRIP, reason, [trip_id])
        elif not self.may_judge(trip_id):
            reason = "it carries deliveries that you may not see"
            self._leave_out(LeftOutKind.TRIP, reason, [trip_id])
        elif self._in_time(LeftOutKind.TRIP, trip_id):
            self._begin(f"trip {trip_id}")
            try:
                verdict = self.audit.judge(trip_id, self.watch).verdict
            except StoppedError:
                raise
            except WaysealError as error:  # what was judged before still counts
                self._leave_out(LeftOutKind.TRIP, str(error), [trip_id])
            else:
                self.verdicts[trip_id] = verdict
                self._note(trip_id, verdict)
                return verdict
        return None

    def _note(self, trip_id: str, verdict: Verdict) -> None:
        self.problems += [f"trip {trip_id}: {each}" for each in verdict.problems]
        if not verdict.holds and not verdict.problems:
            self.problems.append(f"trip {trip_id}: its signatures do not end in the ledger's keys")

    def _video_of_lot(self, digest: RecordVideo, *, asked: bool) -> None:
        if digest.sha256 in self.copies:
            return
        name = digest.sha256.hex()
        if not asked:
            self._leave_out(LeftOutKind.RECORDING, "films were not asked for", [name])
            return
        try:
            stored = self.store.find(digest.sha256)
            if stored is None:
                self._leave_out(LeftOutKind.RECORDING, self.absent(digest.sha256), [name])
            elif self._check_fits(digest, stored) and self._has_room(stored, name):
                self._read(stored)
        except StoppedError:
            raise
        except RejectedError as error:
            self.problems.append(f"recording {name}: {error}")
        except WaysealError as error:
            self._leave_out(LeftOutKind.RECORDING, str(error), [name])

    def _check_fits(self, digest: RecordVideo, stored: StoredRecording | None) -> bool:
        if stored is None or stored.fits(digest.size, digest.tree_root):
            return True
        self.problems.append(
            f"recording {digest.sha256.hex()} on trip {digest.trip_id}: expected {digest.size} "
            f"bytes with tree root {digest.tree_root.hex()}, as signed, got {stored.size} with "
            f"{stored.tree_root.hex()}"
        )
        return False

    def _has_room(self, stored: StoredRecording, name: str) -> bool:
        more = stored.size * max(1, len(stored.copies))
        most = self.bounds.video_bytes
        if self._read_bytes + more > most:
            reason = f"{self.bounds.names}VIDEO_BYTES_MAX: at most {most} bytes of all copies"
            self._leave_out(LeftOutKind.RECORDING, reason, [name])
            return False
        if not self._in_time(LeftOutKind.RECORDING, name):
            return False
        self._read_bytes += more
        return True

    def _in_time(self, kind: LeftOutKind, name: str) -> bool:
        most_s = self.bounds.begin_s
        if self.clock_s() < self._began_s + most_s:
            return True
        reason = f"{self.bounds.names}BEGIN_MAX_S: none is begun after {most_s:g} s"
        self._leave_out(kind, reason, [name])
        return False

    def _read(self, stored: StoredRecording) -> None:
        name = stored.sha256.hex()
        self._begin(f"recording {name}")
        blobs, done = len(stored.leaves) * max(1, len(stored.copies)), count()
        report = self.store.verify(
            stored.sha256,
            lambda: self.watch.tell("reads every copy", next(done), blobs, Unit.BLOBS),
        )
        self.copies[stored.sha256] = report
        if not report.copies:
            self._leave_out(LeftOutKind.RECORDING, "no copy of it is whole here", [name])
        for copy in report.copies:
            self._note_copy(name, copy)

    def _note_copy(self, name: str, copy: CopyReport) -> None:
        flaws = {"rotten": copy.rotten, "missing": copy.missing}
        said = [f"{len(found)} blobs are {flaw}" for flaw, found in flaws.items() if found]
        if not copy.holds and not said and not copy.unread:
            said = ["its bytes have another SHA-256 or tree root"]
        if said:
            self.problems.append(f"recording {name}, copy {copy.copy}: {', '.join(said)}")
        if copy.unread:
            out = self.store.not_looked_at().get(copy.copy, "the medium or peer did not answer")
            reason = f"{copy.copy}: {len(copy.unread)} blobs could not be read: {out}"
            self._leave_out(LeftOutKind.COPY, reason, [name])

    def _begin(self, subject: str) -> None:
        before = len(self.verdicts) + len(self.copies)
        self.watch.begin(subject, before, max(self._steps, before + 1))

    def _count_films(self, trip_ids: Iterable[str]) -> int:
        """Return how many recordings the index has of trips; the ledger may have others."""
        digests = self.records.digests
        return len({each.digest.sha256 for name in trip_ids for each in digests.of_trip(name)})

    def _leave_out(self, kind: LeftOutKind, reason: str, names: Iterable[str]) -> None:
        self.left_out.setdefault((kind, reason), []).extend(names)


def beyond(*, lot: bool) -> list[str]:
    """Return what no verification at one gateway can tell, in words."""
    return [*_BEYOND, *(_BEYOND_LOT if lot else ())]


def _digests(verdict: Verdict) -> list[RecordVideo]:
    return [video.digest for video in verdict.videos]
