"""What a device tells of itself under version 1.2: remarks, corrections, whole recordings."""

from dataclasses import replace

import pytest

from contracts import address
from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordReading, Remark, RunReading, SealTrip
from contracts.proto.sawtooth_pb2 import Batch, Event
from contracts.proto.state_pb2 import Chain, Delivery, Remarked
from contracts.records import remark as remarks
from contracts.records.corrections import BEFORE_READINGS, CORRECTIONS_MAX, Corrections
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.records.recording import RecordingDigest
from contracts.records.remark import REMARKS_MAX, RemarkKind, Told
from contracts.rules.case import EVENT_REMARK
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found, tampers
from support.network.world import BOOT, START_MS, Trip, one, reading, registrations

LOST = remarks.Remark(RemarkKind.SENSOR_LOST, START_MS, "cargo")
FOUND = replace(LOST, ended=True, since_ms=START_MS + 5000)
REBOOT = remarks.Remark(RemarkKind.REBOOTED, START_MS, amount=90_000)
MADE = RecordingDigest(b"\x01" * 32, 10, b"\x02" * 32)
OTHER = RecordingDigest(b"\x03" * 32, 11, b"\x04" * 32)


def telling(number: int, *said: remarks.Remark, film: bool = False) -> Reading:
    moments = (("ab" * 16, 2500),) if film else ()
    return replace(reading(number), told=Told(said, film=moments))


def filming(number: int, *made: RecordingDigest) -> Reading:
    named = tuple((each.sha256, each.size) for each in made)
    return replace(reading(number), told=Told(filmed=named))


def ready(host: Host) -> Trip:
    trip = Trip(version=RulesVersion.V1_2)
    apply_all(host, [*registrations(), told_by(trip, trip.start)])
    return trip


def told_by(trip: Trip, action: Action) -> Batch:
    """Return a batch of one transaction under version 1.2."""
    return one(trip.signer, action, version=RulesVersion.V1_2)


def said(events: list[Event]) -> list[Remarked]:
    return [Remarked.FromString(each.data) for each in events if each.event_type == EVENT_REMARK]


def chain(host: Host, trip: Trip) -> Chain:
    return Chain.FromString(host.state(address.chain(trip.trip_id, "truck-1")) or b"")


def commit(host: Host, trip: Trip, *values: Reading, run: bool = False) -> list[Event]:
    signed = [trip.run(values)] if run else [trip.record(value) for value in values]
    return apply_all(host, trip.batches(signed, 10))


@pytest.mark.parametrize("run", [False, True])
def test_each_remark_is_told_once_with_its_reading(host: Host, run: bool) -> None:  # noqa: FBT001
    trip = ready(host)
    values = [reading(0), telling(1, LOST, REBOOT, film=True), reading(2), telling(3, FOUND)]
    events = commit(host, trip, *values, run=run)
    told = said(events)
    assert [(each.sequence, each.remark.kind, each.remark.ended) for each in told] == [
        (1, Remark.SENSOR_LOST, False),
        (1, Remark.REBOOTED, False),
        (3, Remark.SENSOR_LOST, True),
    ]
    assert told[0].remark.subject == "cargo"
    assert told[1].remark.amount == 90_000
    assert [each.offset_ms for each in told[0].film] == [2500]
    assert told[0].clock == trip.records[1].clock
    assert (chain(host, trip).telling, chain(host, trip).remarks) == (4, 3)
    assert rules_found(events) == []


def test_a_reading_that_does_not_join_tells_nothing(host: Host) -> None:
    trip = ready(host)
    commit(host, trip, reading(0))
    repeated = trip.records[0]
    repeated.remarks.append(LOST.message())
    events = host.apply(told_by(trip, repeated))
    assert rules_found(events) == [Rule.SEQUENCE_REPEATED]
    assert said(events) == []
    assert chain(host, trip).remarks == 0


def test_readings_of_1_1_are_counted_as_those_that_could_not_tell(host: Host) -> None:
    trip = ready(host)
    first, second = trip.following(reading(0)), trip.following(telling(1, LOST))
    host.apply(one(trip.signer, first, version=RulesVersion.V1_1))
    assert refused(host, one(trip.signer, second, version=RulesVersion.V1_1)) is Rule.FORM
    host.apply(told_by(trip, second))
    assert (chain(host, trip).count, chain(host, trip).telling) == (2, 1)


@pytest.mark.parametrize("version", [RulesVersion.V1_0, RulesVersion.V1_1])
def test_an_earlier_version_has_no_later_signs(host: Host, version: RulesVersion) -> None:
    trip = Trip()
    apply_all(host, [*registrations(version), one(trip.signer, trip.start, version=version)])
    record = trip.following(reading(0, tamper=Tamper.SENSOR_UNPLUGGED))
    assert refused(host, one(trip.signer, record, version=version)) is Rule.FORM


def test_an_estimated_error_is_of_1_2(host: Host) -> None:
    trip = ready(host)
    value = reading(0)
    record = trip.following(replace(value, clock=replace(value.clock, error_ms=0)))
    assert record.clock.HasField("error_ms")
    assert refused(host, one(trip.signer, record, version=RulesVersion.V1_1)) is Rule.FORM
    host.apply(told_by(trip, record))


def test_a_sign_that_ends_is_an_event_that_counts_nothing(host: Host) -> None:
    trip = ready(host)
    values = [
        reading(0),
        reading(1, tamper=Tamper.CLOCK_SET_BACK | Tamper.DOOR_OPEN),
        reading(2, tamper=Tamper.DOOR_OPEN | Tamper.SENSOR_UNPLUGGED),
        reading(3),
    ]
    events = commit(host, trip, *values)
    assert [(each.sequence, each.flags, each.ended_flags) for each in tampers(events)] == [
        (1, Tamper.CLOCK_SET_BACK | Tamper.DOOR_OPEN, 0),
        (2, Tamper.SENSOR_UNPLUGGED, Tamper.CLOCK_SET_BACK),
        (3, 0, Tamper.DOOR_OPEN | Tamper.SENSOR_UNPLUGGED),
    ]
    entry = Delivery.FromString(host.state(address.delivery("delivery-1")) or b"")
    assert entry.tampers == 2


def damaged(**changed: object) -> RecordReading:
    record = Trip().following(telling(0, LOST))
    for name, value in changed.items():
        setattr(record.remarks[0], name, value)
    return record


@pytest.mark.parametrize(
    "record",
    [
        damaged(kind=0),
        damaged(kind=12),
        damaged(kind=38),
        damaged(subject="a b"),
        damaged(subject="x" * 65),
        damaged(since_ms=1 << 60),
        damaged(amount=1 << 63),
        damaged(kind=Remark.REBOOTED, ended=True),
    ],
)
def test_a_remark_that_cannot_be_does_not_decode(host: Host, record: RecordReading) -> None:
    ready(host)
    assert refused(host, told_by(Trip(), record)) is Rule.FORM


@pytest.mark.parametrize("field", ["remarks", "filmed", "film"])
def test_a_reading_tells_so_much_and_no_more(host: Host, field: str) -> None:
    ready(host)
    record = Trip().following(telling(0, LOST, film=True))
    record.filmed.add(sha256=bytes(32), size=1)
    there = getattr(record, field)
    there.extend([there[0]] * (REMARKS_MAX - 1))
    within = RecordReading.FromString(record.SerializeToString())
    there.extend([there[0]])
    assert refused(host, told_by(Trip(), record)) is Rule.FORM
    host.apply(told_by(Trip(), within))


def test_told_and_its_remarks_come_back_as_they_went() -> None:
    told = Told((LOST, FOUND, REBOOT), ((b"\x01" * 32, 10),), (("ab" * 16, 2500),))
    record = Trip().following(replace(reading(0), told=told))
    run = RunReading(remarks=record.remarks, filmed=record.filmed, film=record.film)
    assert Told.from_messages(run.remarks, run.filmed, run.film) == told
    with pytest.raises(RejectedError, match="32 bytes"):
        Told(filmed=((b"short", 1),))


def test_a_seal_names_what_readings_named_as_whole(host: Host) -> None:
    trip = ready(host)
    commit(host, trip, filming(0, MADE), filming(1, MADE, OTHER))
    assert chain(host, trip).filmed == 2
    events = apply_all(host, trip.batches([trip.seal([MADE, OTHER])], 1))
    assert rules_found(events) == []


@pytest.mark.parametrize("size", [None, OTHER.size + 1])
def test_a_seal_that_leaves_out_a_recording_is_found(host: Host, size: int | None) -> None:
    trip = ready(host)
    commit(host, trip, filming(0, MADE), filming(1, OTHER), run=True)
    made = [MADE] if size is None else [MADE, replace(OTHER, size=size)]
    events = apply_all(host, trip.batches([trip.seal(made)], 1))
    assert rules_found(events) == [Rule.RECORDING_LEFT_OUT]
    assert findings(events)[0].detail == (
        "readings named 2 recordings as whole, the seal has 1 of them"
    )


def test_a_seal_of_1_1_is_not_asked_what_readings_named(host: Host) -> None:
    trip = ready(host)
    commit(host, trip, filming(0, MADE))
    seal: SealTrip = trip.sealing([])
    events = host.apply(one(trip.signer, seal, version=RulesVersion.V1_1))
    assert Rule.RECORDING_LEFT_OUT not in rules_found(events)


def clock(utc_ms: int, monotonic_ms: int, boot: bytes = BOOT) -> Clock:
    return Clock(utc_ms, monotonic_ms, boot, ClockOrigin.NTP, 100)


def right(sequence: int, at: Clock, device_id: str = "truck-1") -> Remarked:
    message = remarks.Remark(RemarkKind.CLOCK_CORRECTED, at.utc_ms).message()
    return Remarked(device_id=device_id, sequence=sequence, clock=at.message(), remark=message)


def test_the_first_correction_of_the_boot_that_follows_counts() -> None:
    found = Corrections(
        [
            Remarked(device_id="truck-1", remark=LOST.message()),
            right(5, clock(START_MS, 50_000)),
            right(9, clock(START_MS + 100_000, 90_000)),
            right(7, clock(1, 1, b"\x09" * 16)),
        ]
    )
    claimed = clock(1000, 20_000).message()
    at = found.corrected_ms
    assert at("truck-1", 2, claimed) == START_MS - 30_000
    assert at("truck-1", BEFORE_READINGS, claimed) == START_MS - 30_000
    assert at("truck-1", 6, clock(0, 60_000).message()) == START_MS + 70_000
    assert at("truck-1", 5, clock(START_MS, 50_000).message()) is None
    assert at("truck-1", 10, claimed) is None
    assert at("truck-2", 2, claimed) is None
    assert at("truck-1", 2, clock(5, 5, b"\x07" * 16).message()) is None
    assert at("truck-1", 2, clock(5, 10, b"\x09" * 16).message()) == 10
    assert at("truck-1", 2, clock(5, 0, b"\x09" * 16).message()) == 0


def test_a_corrected_time_that_cannot_be_is_none_and_a_flood_of_corrections_does_not_count() -> (
    None
):
    early = Corrections([right(5, clock(10, 50_000))])
    assert early.corrected_ms("truck-1", 1, clock(0, 20_000).message()) is None
    flood = [right(each, clock(START_MS, 50_000)) for each in range(CORRECTIONS_MAX)]
    twice = Corrections([each for each in flood[:-1] for _ in range(2)] + [right(900, clock(8, 8))])
    assert twice.corrected_ms("truck-1", 800, clock(0, 8).message()) == 8
    found = Corrections([*flood, right(900, clock(1, 1))])
    assert found.corrected_ms("truck-1", 800, clock(0, 20_000).message()) is None
