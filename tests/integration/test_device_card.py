"""A card that gets full or read-only on the road: recording waits, and goes on where it was."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from contracts.records.reading import Clock, ClockOrigin, reading_of
from contracts.records.remark import Remark, RemarkKind
from device.journal.logbook import BufferFullError
from device.live.remarks import Remarks
from device.live.source import LiveSource
from device.settings import BatchSettings, BufferSettings, Settings
from device.settings_file import load
from device.station import make, recording
from device.stop import Stop
from device.tripsource import measured_trip
from support.gateways.appliance import QuickAppliance
from support.machine.mounts import ext4, let_fail, mount_again, tmpfs
from support.trucks.gps import gpsd
from support.trucks.roaming import READINGS, RoamingTruck
from support.trucks.rogue import Site, running_site, until
from support.trucks.truck import Truck, walk, write_log

pytestmark = pytest.mark.integration
START_MS = 1_750_000_000_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    with running_site(directory, QuickAppliance(directory / "site-b")) as made:
        yield made


def fill(card: Path) -> None:
    """Write until nothing more fits."""
    with (card / "big").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def is_paused(said: list[str], why: str) -> bool:
    return any("recording is paused" in line and why in line for line in said)


def test_a_trip_goes_on_once_a_full_card_has_room_again(tmp_path: Path, site: Site) -> None:
    with tmpfs(tmp_path / "card", "16m") as card, gpsd() as gps:
        roaming = RoamingTruck(card, gps, site)
        with roaming.running() as said:
            roaming.say("absent")
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
            before = roaming.readings()
            fill(card)
            until("it is told", lambda: is_paused(said, "disk is full"))
            (card / "big").unlink()
            until("it goes on", lambda: roaming.readings() >= before + READINGS)
            roaming.ends_whole(site, said)


def test_a_card_that_fails_is_told_and_the_trip_goes_on_after_a_reboot(
    tmp_path: Path, site: Site
) -> None:
    with ext4(tmp_path / "card", 32 << 20) as card, gpsd() as gps:
        roaming = RoamingTruck(card, gps, site)
        with roaming.running() as said:
            roaming.say("absent")
            until("readings are recorded", lambda: roaming.readings() >= READINGS)
            before = roaming.readings()
            let_fail(card)
            until("it is told", lambda: is_paused(said, ""))
        mount_again(card)
        with roaming.running() as said:
            until("it goes on", lambda: roaming.readings() >= before + READINGS)
            roaming.ends_whole(site, said)


@pytest.mark.parametrize("batch", [BatchSettings(), BatchSettings(readings_per_transaction=50)])
def test_what_a_full_journal_refused_is_said_once_it_has_room(
    tmp_path: Path, batch: BatchSettings
) -> None:
    truck, ticks = Truck(tmp_path), count(START_MS)
    roomy = replace(load(truck.config, {}), batch=batch)
    full = replace(roomy, buffer=BufferSettings(journal_bytes_max=1))
    signer, source = make(roomy), measured_trip(LiveSource([], 0.001))
    remarks = Remarks(lambda: Clock(next(ticks), 0, bytes(16), ClockOrigin.NONE))

    def record(settings: Settings) -> None:
        with closing(Stop()) as stop, recording(settings, signer, None, remarks) as recorder:
            trip = recorder.begin(source, "truck-1", roomy.need_trip())
            recorder.record(source, trip, speed=0, stop=stop, moved=stops_at(2, stop))

    record(roomy)
    remarks.owe([Remark(RemarkKind.FILM_LOST, START_MS, "dock-000003.mp4", amount=5_000)])
    for _ in range(3):
        remarks.pause(RemarkKind.CARD_FULL)
        with pytest.raises(BufferFullError):
            record(full)
    record(roomy)
    record(roomy)
    with recording(roomy, signer, None, remarks) as recorder:
        (trip,) = recorder.logbook.trips()
        recorder.close(trip)
    _, records, _ = walk(truck.batches())
    said = [each for record in records for each in reading_of(record).told.remarks]
    assert [
        (each.kind, each.since_ms - START_MS, each.ended)
        for each in said
        if each.kind is not RemarkKind.INTERRUPTED
    ] == [
        (RemarkKind.FILM_LOST, 0, False),
        (RemarkKind.CARD_FULL, 0, False),
        (RemarkKind.CARD_FULL, 5, True),
    ]


def stops_at(readings: int, stop: Stop) -> Callable[[int], None]:
    """Return what stops a recording after so many readings of it."""
    left = iter(range(readings - 1))

    def moved(_: int) -> None:
        if next(left, None) is None:
            stop.request()

    return moved


ON_A_READ_ONLY_ROOT = 'mount -o remount,bind,ro / && ! touch /x 2>/dev/null && exec "$@"'


def test_a_truck_needs_no_root_that_can_be_written(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "card", "64m") as card:
        truck, log = Truck(card / "truck"), write_log(card / "log.csv", 20)
        device = [sys.executable, "-m", "device.wayseal_device", "--config", str(truck.config)]
        alone = ["unshare", "--mount", "sh", "-c", ON_A_READ_ONLY_ROOT, "sh"]
        record = ["record", "--readings", str(log), "--speed", "max"]
        for words in (["init"], record, ["status"]):
            done = subprocess.run(  # noqa: S603 - our own command
                [*alone, *device, *words], capture_output=True, check=False, text=True
            )
            assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert "20 readings" in done.stdout
