"""`wayseal-device doctor`: each fault is named with a remedy, and is gone once it is mended."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from contracts.keys import Signer
from contracts.records.reading import Clock, ClockOrigin
from contracts.runtime.checks import Finding, Severity
from contracts.runtime.kernelclock import KernelClock
from device.commands.doctor import findings
from device.doctor import clock, room, running, waiting
from device.doctor.machine import Machine
from device.journal.status import BatchCounts, Status, TripStatus, Use
from device.journal.trip import TripState
from device.journey.file import STATE_NAME
from device.settings import Settings
from device.settings_file import load
from device.station import agent_lock
from support.machine.private import write_private
from support.trucks.truck import Truck, write_log

NOW = datetime(2026, 3, 2, 6, tzinfo=UTC)
YEAR_MS = 365 * 86_400_000
NOW_MS = round(NOW.timestamp() * 1000)
SOUND = KernelClock(synchronised=True, offset_s=0.0, max_error_s=0.02)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    battery = tmp_path / "rtc0"
    battery.touch()
    return Machine(now_ms=lambda: NOW_MS, clock=lambda: SOUND, battery_clock=battery)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    sections = '[presence]\nby = "file"\nfile = "presence"\n'
    return load(Truck(tmp_path / "truck", sections).config, {})


def faults(found: Iterator[Finding]) -> list[str]:
    """Return all that is not well, each with a remedy."""
    bad = [each for each in found if each.severity is not Severity.OK]
    assert all(each.remedy for each in bad), bad
    return [f"{each.severity} {each.subject}: {each.words}" for each in bad]


def test_a_sound_clock_has_no_fault(settings: Settings, machine: Machine) -> None:
    (found,) = clock.findings(machine, NOW_MS, settings)
    assert found.severity is Severity.OK
    assert found.words == "2026-03-02T06:00:00.000Z, synchronised, wrong by at most 0.0 s"


@pytest.mark.parametrize(
    ("change", "latest_ms", "said"),
    [
        ({"clock": lambda: None}, None, "warning clock: the kernel does not tell"),
        (
            {"clock": lambda: replace(SOUND, synchronised=False)},
            None,
            "warning clock: 2026-03-02T06:00:00.000Z, not synchronised",
        ),
        (
            {},
            NOW_MS + 86_400_000,
            "error clock: it is at 2026-03-02T06:00:00.000Z, before the latest reading of 2026",
        ),
        ({"battery_clock": Path("/missing")}, None, "warning clock: no clock with a battery"),
    ],
)
def test_a_clock_that_may_be_wrong(
    settings: Settings,
    machine: Machine,
    change: dict[str, object],
    latest_ms: int | None,
    said: str,
) -> None:
    changed = replace(machine, **change)  # type: ignore[arg-type]
    (fault,) = faults(clock.findings(changed, latest_ms, settings))
    assert fault.startswith(said)


@pytest.mark.parametrize(
    ("origin", "claimed_ms", "said"),
    [
        (ClockOrigin.GNSS, YEAR_MS + 1, []),
        (ClockOrigin.GNSS, YEAR_MS - 1, ["error clock: it is at 2027"]),
        (
            ClockOrigin.NONE,
            0,
            [
                "warning clock: 2026-03-02T06:00:00.000Z, not synchronised",
                "warning clock: it is at 2026-03-02T06:00:00.000Z, before the latest reading",
            ],
        ),
    ],
)
def test_the_time_of_a_receiver_is_what_readings_have(
    tmp_path: Path,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    origin: ClockOrigin,
    claimed_ms: int,
    said: list[str],
) -> None:
    settings = load(Truck(tmp_path / "truck", '[clock]\ngpsd = "127.0.0.1:1"\n').config, {})
    claimed = Clock(NOW_MS + claimed_ms, 0, bytes(16), origin)
    monkeypatch.setattr(clock, "clock_of", lambda _: lambda: claimed)
    behind = replace(machine, clock=lambda: replace(SOUND, synchronised=False))
    found = [*clock.findings(behind, NOW_MS + YEAR_MS, settings)]
    assert not any("`gpsd`" in each.remedy for each in found)
    assert [
        each[: len(begin)] for each, begin in zip(faults(iter(found)), said, strict=True)
    ] == said


def test_an_agent_that_does_not_run_and_one_that_does(settings: Settings, machine: Machine) -> None:
    (fault,) = faults(running.findings(settings, machine))
    assert fault.startswith("warning agent: it does not run: nothing is recorded")
    with agent_lock(settings):
        assert not faults(running.findings(settings, machine))


def test_a_journey_that_nobody_can_read(settings: Settings, machine: Machine) -> None:
    (settings.data / STATE_NAME).write_text("{")
    with agent_lock(settings):
        (fault,) = faults(running.findings(settings, machine))
    assert fault.startswith("error journey: ")


@pytest.mark.parametrize(
    ("begins_day", "ends_day", "said"),
    [
        (-30, 60, ""),
        (-61, 29, "warning certificate: it ends on 2026-03-31"),
        (-91, -1, "error certificate: it ended on 2026-03-01"),
        (1, 91, "error certificate: it begins on 2026-03-03 06:00 UTC, after now"),
    ],
)
def test_a_certificate_that_ends(
    settings: Settings, machine: Machine, begins_day: int, ends_day: int, said: str
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "truck-1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(NOW + timedelta(days=begins_day))
        .not_valid_after(NOW + timedelta(days=ends_day))
        .sign(key, hashes.SHA256())
    )
    settings.tls_files.certificate.parent.mkdir()
    write_private(settings.tls_files.certificate, made.public_bytes(Encoding.PEM).decode())
    with agent_lock(settings):
        found = faults(running.findings(settings, machine))
    assert [each[: len(said)] for each in found] == ([said] if said else [])


def test_a_damaged_certificate(settings: Settings, machine: Machine) -> None:
    settings.tls_files.certificate.parent.mkdir()
    settings.tls_files.certificate.write_text("-----BEGIN")
    with agent_lock(settings):
        (fault,) = faults(running.findings(settings, machine))
    assert fault.startswith("error certificate: certificate ")


def test_buffers_that_are_nearly_full() -> None:
    assert not faults(room.buffers(Use(79, 100), Use(0, 100)))
    (fault,) = faults(room.buffers(Use(80, 100), Use(0, 100)))
    assert fault == (
        "warning journal buffer: 80 B of buffer.journal_bytes_max, 100 B: once it is full, no "
        "reading is recorded"
    )


def test_a_card_with_less_room_than_the_buffers_may_take(tmp_path: Path) -> None:
    assert room.card(tmp_path, 0).severity is Severity.OK
    found = room.card(tmp_path, 1 << 60)
    assert found.severity is Severity.WARNING
    assert "the buffers may take 1153 PB more" in found.words


def test_film_of_live_cameras_counts_for_the_card(tmp_path: Path, machine: Machine) -> None:
    sections = (
        '[source]\ndriver = "sensors"\n[[sensors]]\nname = "cargo"\ndriver = "1-wire"\n'
        f"[buffer]\nvideo_bytes_max = {1 << 50}\n"
    )
    camera = '[[cameras]]\nname = "hold"\ndriver = "simulated"\n'
    for name, more, severity in (("without", "", "ok"), ("with", camera, "warning")):
        settings = load(Truck(tmp_path / name, sections + more).config, {})
        found = {each.subject: each for each in findings(settings, machine, offline=True)}
        assert found["card"].severity == severity, found["card"]


def test_a_card_that_is_gone(tmp_path: Path) -> None:
    assert room.card(tmp_path / "missing", 0).severity is Severity.ERROR


def status(*trips: TripStatus, younger: bool = False) -> Status:
    return Status("truck-1", "02", 1, younger, trips, Use(0, 1), Use(0, 1))


def test_what_waits_and_what_was_refused() -> None:
    (nothing,) = waiting.findings(status())
    assert nothing.words == "nothing waits: each trip has its final receipt"
    trip = TripStatus(
        *("a" * 32, 1, TripState.SEALED, 7, BatchCounts(0, 1, 2, 0, 0), ()),
        *({"b": "not the truck's key"}, None, ("the recording c",)),
    )
    found = [*waiting.findings(status(trip, younger=True))]
    assert found[1].words == "sealed: 7 readings and 0 recordings wait here: the recording c"
    assert faults(iter(found)) == [
        "warning journal: it is younger than the device's key",
        f"warning trip {'a' * 32}: a gateway refused 2 batches: not the truck's key",
    ]


def test_looking_makes_no_file(settings: Settings, machine: Machine) -> None:
    before = sorted(settings.data.rglob("*"))
    assert [*findings(settings, machine, offline=True)]
    assert sorted(settings.data.rglob("*")) == before


def test_a_recorded_trip_and_a_journal_of_another_key(tmp_path: Path, machine: Machine) -> None:
    truck = Truck(tmp_path / "truck")
    truck.must("record", "--readings", write_log(tmp_path / "log.csv", 20), "--speed", "max")
    settings = load(truck.config, {})
    found = {each.subject: each for each in findings(settings, machine, offline=True)}
    assert "20 readings and 0 recordings wait here" in next(
        each.words for name, each in found.items() if name.startswith("trip ")
    )
    assert found["clock"].severity is Severity.OK  # the log's times are no claim of this clock
    settings.key_file.unlink()
    Signer.generate().save(settings.key_file)
    found = {each.subject: each for each in findings(settings, machine, offline=True)}
    assert found["journal"].severity is Severity.ERROR
