"""Rows of the table of actions: trips, what devices record on them, and holds on that."""

from collections.abc import Callable
from typing import Final, TypeVar

from contracts import address
from contracts.actions import form
from contracts.actions.kind import ActionKind, SignedBy, blocks, party
from contracts.proto.payload_pb2 import (
    CloseTrip,
    HandOver,
    KeyDuties,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    ReleaseHold,
    SealTrip,
    StartTrip,
)
from contracts.records.placed import placed
from contracts.rules import handovers, holds, readings, seals, tripend, trips
from contracts.rules.case import Case

_OfTrip = RecordReading | RecordRun | SealTrip | RecordVideo | CloseTrip | PlaceHold | ReleaseHold
_ReadingsT = TypeVar("_ReadingsT", RecordReading, RecordRun)
_HoldT = TypeVar("_HoldT", PlaceHold, ReleaseHold)


def _trip(action: _OfTrip) -> list[str]:
    return [address.trip_prefix(action.trip_id)]


def _about_trip(action: _OfTrip) -> list[str]:
    return [f"trip {action.trip_id}"]


def _about_whole_trip(action: _OfTrip) -> list[str]:
    return [f"trip {action.trip_id}", f"whole {action.trip_id}"]


def _device(action: RecordReading | RecordRun) -> list[str]:
    return [address.device(action.device_id)]


def _readings(message: type[_ReadingsT]) -> ActionKind[_ReadingsT]:
    """Return the row of readings, which come alone or in a run."""
    return ActionKind(
        message,
        SignedBy.DEVICE,
        check=placed,
        reads=_device,
        reads_1_1=blocks,
        writes=_trip,
        rule=readings.record_readings,
        subjects=_about_trip,
    )


def _hold(
    message: type[_HoldT], check: Callable[[_HoldT], None], rule: Callable[[_HoldT, Case], None]
) -> ActionKind[_HoldT]:
    """Return the row of an action about a hold on what a trip recorded."""
    return ActionKind(
        message,
        SignedBy.PARTY,
        duty=KeyDuties.EVIDENCE,
        check=check,
        reads=party,
        writes=_trip,
        rule=rule,
        subjects=_about_whole_trip,
    )


ROWS: Final = (
    ActionKind(
        StartTrip,
        SignedBy.DEVICE,
        check=form.check_start,
        reads=lambda start: [
            address.device(start.device_id),
            *map(address.site, trips.route_of(start)),
        ],
        reads_1_1=blocks,
        writes=lambda start: [
            address.trip_prefix(start.trip_id),
            *map(address.delivery, start.delivery_ids),
        ],
        rule=trips.start_trip,
        subjects=lambda start: [
            f"trip {start.trip_id}",
            f"start {start.trip_id}",
            *(f"delivery {delivery_id}" for delivery_id in start.delivery_ids),
        ],
        check_1_1=form.check_start_1_1,
        in_series=True,
    ),
    _readings(RecordReading),
    _readings(RecordRun),
    ActionKind(
        SealTrip,
        SignedBy.DEVICE,
        check=form.check_seal,
        reads_1_1=lambda seal: [address.device(seal.device_id), *blocks(seal)],
        writes=_trip,
        rule=seals.seal_trip,
        subjects=_about_trip,
        in_series=True,
    ),
    ActionKind(
        RecordVideo,
        SignedBy.DEVICE,
        check=form.check_video,
        writes=_trip,
        rule=seals.record_video,
        subjects=_about_whole_trip,
    ),
    ActionKind(
        HandOver,
        SignedBy.TWO_PARTIES,
        duty=KeyDuties.CUSTODY,
        check=form.check_trip_time,
        check_1_1=form.check_goods,
        reads=lambda hands: [address.site(hands.site_id)],
        writes=lambda hands: [
            address.trip_prefix(hands.trip_id),
            address.delivery(hands.delivery_id),
        ],
        rule=handovers.hand_over,
        subjects=lambda hands: [f"trip {hands.trip_id}", f"delivery {hands.delivery_id}"],
    ),
    ActionKind(
        CloseTrip,
        SignedBy.PARTY,
        duty=KeyDuties.CUSTODY,
        check=form.check_trip_time,
        reads=party,
        writes=_trip,
        rule=tripend.close_trip,
        subjects=_about_whole_trip,
    ),
    _hold(PlaceHold, form.check_hold, holds.place_hold),
    _hold(ReleaseHold, form.check_release, holds.release_hold),
)
