"""Automatic holds at a desk of retention: what is held, who ends it, and what is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts.proto.hold_end_pb2 import HoldEndBody
from gateway.records.ground import MARGIN_MS
from gateway.records.records import Records
from gateway.retention.autoholds import AutomaticHolds, Ender
from gateway.storagesettings import RetentionSettings
from support.gateways.grounds import named
from support.gateways.retention import VOLUME, Desk, recording, trip

TRIP = trip(1)
MARGIN_S = MARGIN_MS // 1000
FAR_S = 10 * MARGIN_S
BY = Ender("ada", "operator", "inquiry over")


@contextmanager
def desk_of_the_trip(folder: Path) -> Iterator[Desk]:
    """A desk that makes room and whose index knows the trip."""
    desk = Desk(folder, RetentionSettings(make_room=True, volume_days=10, partial_days=5))
    desk.block(named(TRIP))
    yield desk
    desk.close()


def holds(desk: Desk) -> AutomaticHolds:
    return AutomaticHolds(Records(desk.index), desk.deletions.hold_ends, desk.inbox)


def held(desk: Desk, number: int) -> list[str]:
    found = holds(desk).of_recording(recording(number))
    return [each.ground.says for each in found if each.end is None]


def ended(desk: Desk, by: Ender, trip_id: str, recording_id: bytes | None = None) -> HoldEndBody:
    ends, at_ms = desk.deletions.hold_ends, desk.now_ms
    return holds(desk).end(ends, trip_id, recording_id, by, site_id="site-b", at_ms=at_ms)[1]


def end(desk: Desk, trip_id: str = TRIP, recording_id: bytes | None = None) -> int:
    return ended(desk, BY, trip_id, recording_id).number


def run(desk: Desk) -> None:
    desk.steps()
    desk.days(11)
    desk.steps()


def is_kept(desk: Desk, recording_id: bytes) -> bool:
    return VOLUME in desk.store.copies[recording_id]
