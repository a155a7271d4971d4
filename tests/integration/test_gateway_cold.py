"""Old trips over REST: the same bytes from a cold file, 503 without it, and what operators see."""

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from contracts.errors import UnavailableError
from contracts.runtime.checks import Severity
from contracts.runtime.files import locked
from gateway.access import Role
from gateway.api.app import build_app
from gateway.commands import cold
from gateway.doctor import cold as doctor
from gateway.doctor import room
from gateway.figures.looked import cold as figures
from gateway.figures.looked import disks
from gateway.services import Services
from gateway.settings import Settings
from support.gateways.histories import DAY_S, TRIPS, Told, add, begun, happen, run
from support.machine.mounts import tmpfs

pytestmark = pytest.mark.integration

SETTINGS = {"site_id": "site-b", "index": {"cold_after_days": 30}}
OF_TRIP = (
    "",
    "/readings?limit=3",
    "/readings?order=newest&limit=1000",
    "/readings?from=1970-01-01T00:00:02Z&to=1970-01-01T00:00:06Z",
    "/readings.csv",
    "/readings.senml",
    "/readings/buckets?buckets=2",
    "/readings/buckets?buckets=1000",
    "/breaches",
    "/tampers",
    "/remarks",
    "/findings",
    "/holds",
    "/automatic-holds",
    "/recordings",
    "/epcis",
)
MADE_NOW = re.compile(rb'"creationDate":"[^"]*"')
"""What a document says of the moment in which it was made."""
LISTS = ("/v1/trips", "/v1/trips?near=0.001,15.0&within_km=1", "/v1/trips?breached=true")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    settings = Settings(data=tmp_path / "data", **SETTINGS)  # type: ignore[arg-type]  # as JSON
    with closing(Services(settings)) as opened:
        filled(opened)
        yield opened


def filled(services: Services, readings: int = 5) -> None:
    """Let two trips end on the first day, one of them with a corrected clock, and a month pass."""
    told = begun()
    for trip_id in TRIPS:
        for device_id in ("truck-1", "truck-2", "stranger"):
            run(told, 0, trip_id, device_id, 0, readings)
    told.rows["trip_entries"] = [(each, b"", 6000, 0) for each in "AB"]
    happen(told, 0, "A", 2)
    add(services.index, 0, told, 0)
    add(services.index, 1, Told(), 31 * DAY_S)


def asked(services: Services, *paths: str) -> list[tuple[int, bytes]]:
    """Return status and body of each path, as an auditor gets them."""

    async def ask() -> list[tuple[int, bytes]]:
        token = services.people.tokens.add("auditor", Role.AUDITOR)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(build_app(services)),
            base_url="http://gateway",
            headers={"Authorization": f"Bearer {token}"},
        ) as client:
            answers = [await client.get(path) for path in paths]
        return [(each.status_code, MADE_NOW.sub(b"", each.content)) for each in answers]

    return asyncio.run(ask())


def everything() -> list[str]:
    return [*LISTS, *(f"/v1/trips/{trip}{path}" for trip in TRIPS for path in OF_TRIP)]


def cold_file(services: Services) -> Path:
    (found,) = services.settings.cold_dir.glob("*/*.db")
    return found


def test_every_answer_is_the_same_bytes_and_a_lost_file_is_named(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    before = asked(services, *everything())
    assert {status for status, _ in before} == {200}
    services.cold.step()
    assert "moved 2 trips with 30 readings into 1 cold files" in caplog.text
    assert "2 stay in the index: 2 have not ended" in caplog.text
    assert asked(services, *everything()) == before
    file = cold_file(services)
    away = file.rename(file.with_suffix(".away"))
    for path in OF_TRIP[1:8]:
        ((status, body),) = asked(services, f"/v1/trips/B{path}")
        assert status == 503
        assert f"cold file {file} is missing: put it back as it was" in body.decode()
    assert asked(services, *LISTS[:1], "/v1/trips/B", "/v1/trips/C/readings?limit=3") == [
        before[0],
        before[3 + len(OF_TRIP)],
        before[3 + 2 * len(OF_TRIP) + 1],
    ]
    assert [each.severity for each in doctor.findings(services.settings)] == [Severity.ERROR]
    services.cold.check()
    add(services.index, 2, Told(), 32 * DAY_S)  # intake goes on
    away.rename(file)
    assert asked(services, *everything()) == before
    services.cold.check()
    assert services.cold.bad == {}
    (finding,) = doctor.findings(services.settings)
    assert (finding.severity, "2 trips with 30 readings" in finding.words) == (Severity.OK, True)
    shown = {each.name: each.samples[()] for each in figures(services)}
    assert shown == {
        "wayseal_cold_files": 1,
        "wayseal_cold_trips": 2,
        "wayseal_cold_readings": 30,
        "wayseal_cold_files_bad": 0,
        "wayseal_cold_move_failed": 0,
    }


def test_a_place_is_looked_for_in_some_readings_of_old_trips_only(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.cold.step()
    monkeypatch.setattr("gateway.records.tripsabout.COLD_READINGS_MAX", 30)
    assert asked(services, LISTS[1])[0][0] == 200
    monkeypatch.setattr("gateway.records.tripsabout.COLD_READINGS_MAX", 29)
    ((status, body),) = asked(services, LISTS[1])
    assert status == 422
    assert b"at most 29 readings" in body
    assert b"got 2 with 30" in body


def test_an_export_that_meets_a_lost_file_at_its_beginning_is_no_half_of_a_file(
    services: Services,
) -> None:
    services.cold.step()
    cold_file(services).unlink()
    for path in ("/readings.csv", "/readings.senml"):
        assert [status for status, _ in asked(services, f"/v1/trips/A{path}")] == [503]
    assert [each.what for _, each in services.accesses.listed(0, 10)] == []


def test_the_command_shows_what_lies_where(services: Services, tmp_path: Path) -> None:
    services.cold.step()
    file = cold_file(services)
    ended, lines = command(tmp_path, services, "cold")
    assert (ended, lines) == (
        0,
        [
            {
                "cold_after_days": 30,
                "folder": str(services.settings.cold_dir),
                "trips_in_index": 2,
                "open": 2,
                "held": 0,
                "young": 0,
                "due": 0,
                "ledger_tells_time": True,
                "last_failure": None,
            },
            {
                "file": str(file),
                "trips": 2,
                "readings": 30,
                "bytes": file.stat().st_size,
                "fault": None,
            },
        ],
    )
    os.truncate(file, 5000)
    ended, lines = command(tmp_path, services, "cold")
    assert ended == 1
    assert "expected 16384 bytes, got 5000" in str(lines[1]["fault"])


def test_a_move_that_failed_ends_with_an_error_and_why(
    services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gateway.worker.BACK_OFF_S", 0.01)
    monkeypatch.setattr("gateway.index.moving.FREE_BYTES_MIN", 1 << 60)
    services.cold.worker.start()
    with (
        closing(services.cold.worker),
        locked(services.settings.data / "lock", "a gateway runs"),
    ):
        with pytest.raises(UnavailableError, match=r"were not moved: .*of free room"):
            cold.run(Namespace(move=True), services.settings)
        told = json.loads(capsys.readouterr().out.splitlines()[0])
        assert (told["due"], "of free room" in told["last_failure"]) == (2, True)
        monkeypatch.setattr("gateway.index.moving.FREE_BYTES_MIN", 0)
        cold.run(Namespace(move=True), services.settings)
        shown = capsys.readouterr()
        assert json.loads(shown.out.splitlines()[0])["last_failure"] is None
        assert "no trip is due any more" in shown.err


def test_the_room_of_the_disk_of_cold_files_is_watched(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.mkdir()
    settings = Settings(
        data=tmp_path / "data", site_id="site-b", index={"cold_after_days": 30, "cold": slow}
    )
    with closing(Services(settings)) as services:
        filled(services)
        services.cold.step()
        assert "cold files" in {each.subject for each in room.findings(settings)}
        (free,) = (each for each in disks(services) if each.name == "wayseal_disk_free_bytes")
        assert "cold" in str(free.samples)


def command(tmp_path: Path, services: Services, *words: str) -> tuple[int, list[dict[str, object]]]:
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'data = "{services.settings.data}"\nsite_id = "site-b"\n[index]\ncold_after_days = 30\n'
    )
    ended = subprocess.run(  # noqa: S603
        [Path(sys.executable).with_name("wayseal-gateway"), *words, "--config", config],
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk, which needs root")
@pytest.mark.parametrize("full", ["at once", "on the way"])
def test_a_full_disk_of_cold_files_keeps_trips_in_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    """On the way: the disk looked large enough, and others filled it meanwhile."""
    if full == "on the way":
        monkeypatch.setattr("gateway.index.moving.FREE_BYTES_MIN", 0)
    with tmpfs(tmp_path / "slow", "64k") as slow:
        settings = Settings(
            data=tmp_path / "data",
            site_id="site-b",
            index={"cold_after_days": 30, "cold": slow},
        )
        with closing(Services(settings)) as services:
            filled(services, readings=300)
            some = [f"/v1/trips/A{path}" for path in OF_TRIP[:6]]
            before = asked(services, *some)
            with pytest.raises(UnavailableError, match="room" if full == "at once" else "full"):
                services.cold.step()
            assert asked(services, *some) == before
            left = [each for each in slow.rglob("*") if each.is_file() and each.name[0] != "."]
            assert (services.cold.failure != "", left) == (True, [])
            subprocess.run(["mount", "-o", "remount,size=64m", str(slow)], check=True)  # noqa: S603, S607
            monkeypatch.setattr("gateway.index.moving.FREE_BYTES_MIN", 0)
            (settings.data / "cold-now").touch()
            services.cold.step()
            assert services.cold.failure == ""
            assert not (settings.data / "cold-now").exists()
            assert asked(services, *some) == before
            assert services.cold.amounts() == (1, 2, 1800)
