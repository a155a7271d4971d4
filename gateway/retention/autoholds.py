"""Automatic holds: film of an excursion, of tampering or of a fault is kept until a person lets go.

A hold is not stored: it follows from the ledger, from the moment when ground and recording are both
known, whichever came first. Only its end is on record, by `holdends`: it lets go of what was known
at its block, and what becomes known later holds again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.hold_end import HELD_FOR_MAX, WHY_MAX
from contracts.proto.hold_end_pb2 import HoldEndBody
from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.sawtooth_pb2 import Batch
from contracts.rendered_remarks import claimed
from contracts.text import quoted
from gateway.intake.held import Offer
from gateway.intake.inbox import Inbox
from gateway.records.ground import Ground
from gateway.records.records import Records
from gateway.retention.holdends import HoldEnds, ReadHoldEnds, Signed

EVERYWHERE: Final = RecordVideo(duration_ms=(1 << 63) - 1)
"""Stands for a recording whose digest nobody can read: it may show anything."""

TRIPS_KEPT: Final = 64
"""Trips whose grounds are kept for the next question; a round of retention may ask for all."""


class Held(NamedTuple):
    """A ground for which a recording is held.

    Attributes:
        ground: What it is.
        end: What ended the hold; None while it is in force.
    """

    ground: Ground
    end: HoldEndBody | None


class Ender(NamedTuple):
    """Who ends a hold, and why."""

    who: str
    role: str
    why: str


@dataclass(frozen=True, slots=True)
class _Shown:
    """A recording on a trip: its digest, and the block with it; None: it is only announced."""

    digest: RecordVideo
    block_num: int | None


class GroundOnTrip(NamedTuple):
    """A ground, with the recordings that it holds, and those that a person let go of."""

    ground: Ground
    held: list[bytes]
    ended: list[bytes]


class _OnTrip(NamedTuple):
    grounds: list[Ground]
    ends: list[HoldEndBody]


class AutomaticHolds:
    """Says which recordings are held automatically, and why.

    It reads a trip when it is first asked about it, and remembers the answer. So make a new one for
    each request, and for each round of retention.

    Args:
        records: What the ledger says, as far as the reader may see it.
        ends: The ends on record.
        inbox: Has the digests that are announced; None: only those on the ledger count.
    """

    def __init__(self, records: Records, ends: ReadHoldEnds, inbox: Inbox | None = None) -> None:
        self._records = records
        self._ends = ends
        self._inbox = inbox
        self._trips: dict[str, _OnTrip] = {}

    def of_recording(self, recording_id: bytes) -> list[Held]:
        """Return what holds a recording, or held it, on each trip that has or announces it."""
        shown = self._shown(recording_id)
        return [held for each in shown for held in self._held(recording_id, each)]

    def of_digest(self, digest: RecordVideo, block_num: int) -> list[Held]:
        """Return what holds a recording, or held it, on the trip of one of its digests."""
        return list(self._held(digest.sha256, _Shown(digest, block_num)))

    def on_trip(self, trip_id: str, after: int, count: int) -> list[tuple[int, GroundOnTrip]]:
        """Return up to `count` grounds of a trip that follow a place, each with its place.

        Raises:
            NotOnLedgerError: There is no such trip.
        """
        self._records.trips.check_known(trip_id)
        grounds = self._on(trip_id).grounds[after : after + count]
        found = self._records.digests.of_trip(trip_id)
        shown = [(each.digest.sha256, _Shown(each.digest, each.block_num)) for each in found]
        return [
            (place, self._on_ground(ground, shown))
            for place, ground in enumerate(grounds, after + 1)
        ]

    def end(
        self,
        ends: HoldEnds,
        trip_id: str,
        recording_id: bytes | None,
        by: Ender,
        *,
        site_id: str,
        at_ms: int,
        seen: int | None = None,
    ) -> Signed:
        """End the holds on a trip's recordings, or on one of them; durable on return.

        What becomes known after the newest block of now, or after the block `seen` if that is
        older, holds on or again.

        Args:
            ends: Where the end is recorded.
            trip_id: The trip.
            recording_id: The recording; None for all of the trip.
            by: Who ends them, and why.
            site_id: The gateway's site.
            at_ms: The time, UTC milliseconds.
            seen: Number of the newest block that the person has seen; None for that of now.

        Raises:
            NotOnLedgerError: There is no such trip.
            RejectedError: Nothing is held, or no reason is given.
        """
        if not by.why.strip() or len(by.why) > WHY_MAX:
            raise RejectedError(
                f"expected a reason of 1..{WHY_MAX} characters, got {quoted(by.why, 40)}"
            )
        newest = self._records.blocks.upto(seen)
        self._records.trips.check_known(trip_id)
        known = [] if newest is None else self._in_force(trip_id, recording_id, newest.block_num)
        if newest is None or not known:
            what = "a recording" if recording_id is None else f"recording {recording_id.hex()}"
            by_then = "" if seen is None else f" by block {seen}"
            raise RejectedError(
                f"expected an automatic hold on {what} of trip {trip_id}{by_then}, "
                "got none in force"
            )
        reasons = list(dict.fromkeys(words(each) for each in known))
        return ends.add(
            HoldEndBody(
                site_id=site_id,
                trip_id=trip_id,
                recording_sha256=recording_id or b"",
                held_for=reasons[:HELD_FOR_MAX],
                held_for_count=len(reasons),
                who=by.who,
                role=by.role,
                why=by.why,
                ended_at_ms=at_ms,
                block_num=newest.block_num,
                block_id=newest.block_id,
                genesis_id=self._records.blocks.genesis_id() or "",
            )
        )

    def _shown(self, recording_id: bytes) -> list[_Shown]:
        """Return a recording on each trip that has or announces it."""
        found = self._records.digests.of_recording(recording_id)
        known = {each.digest.trip_id for each in found}
        offers = self._inbox.offers_of(recording_id) if self._inbox else []
        return [
            *(_Shown(each.digest, each.block_num) for each in found),
            *(self._announced(each) for each in offers if each.trip_id not in known),
        ]

    def _in_force(self, trip_id: str, recording_id: bytes | None, newest: int) -> list[Ground]:
        """Return what holds recordings of a trip, or one, of all that was known at a block."""
        if recording_id is None:
            found = self._records.digests.of_trip(trip_id)
            shown = [_Shown(each.digest, each.block_num) for each in found]
        else:
            shown = [e for e in self._shown(recording_id) if e.digest.trip_id == trip_id]
        return [
            held.ground
            for each in shown
            if (each.block_num or 0) <= newest
            for held in self._held(recording_id or each.digest.sha256, each)
            if held.end is None and held.ground.known_num(each.digest) <= newest
        ]

    def _on_ground(self, ground: Ground, shown: Sequence[tuple[bytes, _Shown]]) -> GroundOnTrip:
        held: list[bytes] = []
        ended: list[bytes] = []
        for recording_id, each in shown:
            if ground.holds(each.digest):
                end = self._end_of(ground, recording_id, each)
                (held if end is None else ended).append(recording_id)
        return GroundOnTrip(ground, held, ended)

    def _held(self, recording_id: bytes, shown: _Shown) -> Iterator[Held]:
        for ground in self._on(shown.digest.trip_id).grounds:
            if ground.holds(shown.digest):
                yield Held(ground, self._end_of(ground, recording_id, shown))

    def _end_of(self, ground: Ground, recording_id: bytes, shown: _Shown) -> HoldEndBody | None:
        """Return what let go of a recording that a ground holds, when that was known."""
        known_num = max(ground.known_num(shown.digest), shown.block_num or 0)
        for end in self._on(ground.trip_id).ends:
            of_all = not end.recording_sha256 and shown.block_num is not None
            if end.recording_sha256 != recording_id and not of_all:
                continue
            if known_num <= end.block_num:
                return end
        return None

    def _on(self, trip_id: str) -> _OnTrip:
        if trip_id not in self._trips:
            if len(self._trips) >= TRIPS_KEPT:
                del self._trips[next(iter(self._trips))]
            blocks = self._records.blocks
            # An end at a block that the ledger took back let go of something else.
            ends = [e for e in self._ends.of(trip_id) if blocks.has(e.block_num, e.block_id)]
            self._trips[trip_id] = _OnTrip(self._records.trips.grounds(trip_id), ends)
        return self._trips[trip_id]

    def _announced(self, offer: Offer) -> _Shown:
        """Return a recording by the digest that its device signed, which is not committed."""
        return _Shown(announced(self._inbox, offer), None)


def held_because(
    records: Records, holds: AutomaticHolds, digest: RecordVideo, block_num: int
) -> Iterator[str]:
    """Yield, in plain words, why a recording is not deleted on the trip of one of its digests."""
    for hold in records.trips.holds_in_force(digest.trip_id):
        placed = hold.placed
        yield f"legal hold {placed.hold_id} of {placed.party_id}: {placed.reason}"
    for held in holds.of_digest(digest, block_num):
        if held.end is None:
            yield words(held.ground)


def words(ground: Ground) -> str:
    """Return a ground in plain words, with its times as claimed and as corrected."""
    since = claimed(ground.since_ms, ground.since_corrected_ms)
    if ground.until_ms is None:
        return f"{ground.says}, device {ground.device_id}, from {since}, not ended"
    until = claimed(ground.until_ms, ground.until_corrected_ms)
    when = f"at {since}" if since == until else f"from {since} to {until}"
    return f"{ground.says}, device {ground.device_id}, {when}"


def announced(inbox: Inbox | None, offer: Offer) -> RecordVideo:
    """Return an announced recording by the digest that its device signed, if that can be read."""
    kept = inbox.batch(offer.batch_id) if inbox else None
    digest = _digest_in(kept.wire, offer) if kept else None
    if digest is None:
        digest = RecordVideo()
        digest.CopyFrom(EVERYWHERE)
        digest.trip_id = offer.trip_id
    return digest


def _digest_in(wire: bytes, offer: Offer) -> RecordVideo | None:
    """Return the offered digest in a batch; None if the batch is damaged or has another one."""
    try:
        actions = [decode(each.payload) for each in parse(Batch, wire).transactions]
    except RejectedError:
        return None
    for action in actions:
        if isinstance(action, RecordVideo) and action.trip_id == offer.trip_id:
            return action
    return None
