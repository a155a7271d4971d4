"""Evidence of trips whose devices say what is wrong with them: honest, by chance, and hostile."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

from contracts.proto.payload_pb2 import RecordReading
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.records.recording import RecordingDigest
from contracts.records.remark import REMARKS_MAX, Remark, RemarkKind, Told
from contracts.rules.version import RulesVersion
from support.evidence.chain import Evidence, digest_of, evidence_of
from support.evidence.telling import FILM, LEFT_OUT, evidence
from support.network.world import START_MS, Trip, reading, registrations

_SEEDS: Final = 4
_READINGS: Final = 24
_BOOTS: Final = (b"\x01" * 16, b"\x02" * 16)
_EARLIER: Final = RulesVersion.V1_1


def told_by() -> Iterator[tuple[str, Evidence]]:
    """Yield evidence by name; only the first is asked under every kind of trust."""
    yield "remarks", evidence()
    yield "remarks-left-out", evidence((FILM[0], LEFT_OUT))
    for seed in range(_SEEDS):
        yield f"remarks-by-chance-{seed}", by_chance(seed)
    for name, (version, change) in HOSTILE.items():
        yield f"remarks-{name}", _hostile(version, change)


def by_chance(seed: int) -> Evidence:
    """Return evidence of a trip whose device says anything, now and then under version 1.1."""
    random = Random(seed)
    trip = Trip(version=RulesVersion.V1_2)
    made = [digest_of(bytes([each])) for each in range(6)]
    signed = [trip.sign(trip.start)]
    for number in range(_READINGS):
        trip.version = random.choice([RulesVersion.V1_2, RulesVersion.V1_2, _EARLIER])
        tells = trip.version is not _EARLIER
        value = _clocked(random, reading(number, random.choice([5000, 9000])), knows=tells)
        if tells:
            flags = Tamper(random.choice([0, 1, 64, 128, 256, 511]))
            value = replace(value, told=_told(random, made), tamper=flags)
        signed.append(trip.record(value))
    trip.version = random.choice([RulesVersion.V1_2, RulesVersion.V1_2, _EARLIER])
    named = [each for each in made if random.random() < 0.9]
    signed.append(trip.seal(named))
    batches = trip.batches(signed, 100)
    seal_id = batches[-1].transactions[-1].header_signature
    videos = [trip.video(each, seal_id) for each in named]
    return evidence_of([[each] for each in [*registrations(), *batches, *videos]], [trip.trip_id])


def _clocked(random: Random, value: Reading, *, knows: bool) -> Reading:
    """Return a reading of some boot, by a clock that may be wrong by years, and may know it."""
    at_ms = value.clock.monotonic_ms
    clock = Clock(
        random.choice([START_MS, START_MS, 0, START_MS + 3_600_000]) + at_ms,
        random.choice([at_ms, at_ms + 100_000, 2 * START_MS]),
        random.choice(_BOOTS),
        random.choice(list(ClockOrigin)),
        random.choice([None, 0, 80]) if knows else None,
    )
    return replace(value, clock=clock)


def _told(random: Random, made: list[RecordingDigest]) -> Told:
    remarks = [_remark(random) for _ in range(random.choice([0, 0, 1, 3]))]
    filmed = random.sample(made, random.choice([0, 0, 1, 2]))
    film = (("ab" * 16, random.randrange(10_000)),) if random.random() < 0.5 else ()
    return Told(tuple(remarks), tuple((each.sha256, each.size) for each in filmed), film)


def _remark(random: Random) -> Remark:
    kind = random.choice([*RemarkKind, RemarkKind.CLOCK_CORRECTED, RemarkKind.CLOCK_CORRECTED])
    subject = random.choice(["", "cargo", "hold-000001.mp4"])
    amount = random.choice([0, 1, 1900, 61_005, 172_800_000, (1 << 63) - 1])
    ended = not kind.happens_once and random.random() < 0.5
    return Remark(kind, START_MS, subject, ended, amount)


def _changing(**changed: object) -> Callable[[RecordReading], None]:
    def change(record: RecordReading) -> None:
        remark = record.remarks.add(kind="SENSOR_LOST", subject="cargo", since_ms=START_MS)
        for name, value in changed.items():
            setattr(remark, name, value)

    return change


def _many(record: RecordReading) -> None:
    for _ in range(REMARKS_MAX + 1):
        record.remarks.add(kind="CARD_FULL")


def _short(record: RecordReading) -> None:
    record.filmed.add(sha256=bytes(31), size=1)


def _late(record: RecordReading) -> None:
    record.film.add(pseudo_file_id="ab" * 16, offset_ms=1 << 60)


def _signs(flags: int) -> Callable[[RecordReading], None]:
    def change(record: RecordReading) -> None:
        record.tamper_flags = flags

    return change


def _error(record: RecordReading) -> None:
    record.clock.error_ms = 0


HOSTILE: Final[dict[str, tuple[RulesVersion, Callable[[RecordReading], None]]]] = {
    "unset-kind": (RulesVersion.V1_2, _changing(kind=0)),
    "unknown-kind": (RulesVersion.V1_2, _changing(kind=12)),
    "unknown-late-kind": (RulesVersion.V1_2, _changing(kind=38)),
    "end-of-a-moment": (RulesVersion.V1_2, _changing(kind="REBOOTED", ended=True)),
    "subject": (RulesVersion.V1_2, _changing(subject="a b")),
    "since": (RulesVersion.V1_2, _changing(since_ms=1 << 60)),
    "amount": (RulesVersion.V1_2, _changing(amount=1 << 63)),
    "too-many": (RulesVersion.V1_2, _many),
    "short-digest": (RulesVersion.V1_2, _short),
    "film-after-all-time": (RulesVersion.V1_2, _late),
    "unknown-sign": (RulesVersion.V1_2, _signs(512)),
    "later-sign": (_EARLIER, _signs(64)),
    "later-field": (_EARLIER, _changing()),
    "later-field-of-a-clock": (_EARLIER, _error),
}
"""One reading each that no ledger takes: the version that it names, and what is wrong with it."""


def _hostile(version: RulesVersion, change: Callable[[RecordReading], None]) -> Evidence:
    trip = Trip(version=version)
    record = trip.following(reading(0))
    change(record)
    signed = [trip.sign(trip.start), trip.sign(record), trip.seal()]
    batches = trip.batches(signed, 10)
    return evidence_of([[each] for each in [*registrations(), *batches]], [trip.trip_id])
