"""Each driver raises, hangs and gives nonsense: one finding each, and it works again afterwards."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from device.live.drivers.gps import GpsSensor
from device.live.drivers.hwmon import HwmonSensor
from device.live.drivers.iio import IioSensor
from device.live.drivers.lsm9ds1 import KnockSensor
from device.live.drivers.onewire import OneWireSensor
from device.live.drivers.sensehat import SenseHat
from device.live.health import Finding, Health
from device.live.port import Measured, Sensor
from device.live.watch import SensorWatch, WatchPlan
from support.trucks.lsm9ds1 import Lsm9ds1
from support.trucks.rogue import until
from support.trucks.sensehat import SenseHatBus

pytestmark = pytest.mark.integration

EVERY_S = 0.02
LATE_S = 0.5
COLD_MCEL = 4_000
FAULTS = {"raises": Health.LOST, "hangs": Health.SILENT, "nonsense": Health.REFUSED}


class Chip:
    """A chip of the kernel's: the file that its driver gives is what the test makes of it."""

    def __init__(self, root: Path, folder: str, file: str, find: Callable[..., Sensor]) -> None:
        self._file = root / folder / file
        self._file.parent.mkdir()
        (self._file.parent / "name").write_text("chip\n")
        self._find, self._root = find, root
        self.works()

    def connect(self) -> Sensor:
        return self._find("" if self._find == OneWireSensor.find else "chip", self._root)

    def works(self) -> None:
        is_pipe = self._file.is_fifo()
        self._put(lambda path: path.write_text(f"{COLD_MCEL}\n"), keep=is_pipe)

    def raises(self) -> None:
        self._put(Path.mkdir)

    def nonsense(self) -> None:
        self._put(lambda path: path.write_bytes(b"\xff\x00nan"))

    def hangs(self) -> None:
        self._put(os.mkfifo)

    def _put(self, make: Callable[[Path], object], *, keep: bool = False) -> None:
        """Replace the file at once, a folder in two steps; a reader of a pipe is let go."""
        new, old = self._file.with_name("new"), self._file.with_name("old")
        make(new)
        if new.is_dir() or self._file.is_dir():
            if self._file.exists():
                self._file.rename(old)
            new.rename(self._file)
        else:
            if self._file.exists():
                old.hardlink_to(self._file)
            new.replace(self._file)
        if keep:
            with suppress(OSError):  # nobody reads it now
                pipe = os.open(old, os.O_WRONLY | os.O_NONBLOCK)
                os.write(pipe, f"{COLD_MCEL}\n".encode())
                os.close(pipe)
        if old.is_dir():
            old.rmdir()
        else:
            old.unlink(missing_ok=True)


class Receiver:
    """A gpsd of which a test says what it tells."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._over = threading.Event()
        self._says = b""
        self.works()
        threading.Thread(target=self._serve, daemon=True).start()

    def connect(self) -> Sensor:
        host, port = self._server.getsockname()[:2]
        return GpsSensor(f"{host}:{port}")

    def works(self) -> None:
        self._says = json.dumps({"class": "TPV", "mode": 3, "lat": 47.0, "lon": 15.4}).encode()

    def raises(self) -> None:
        self._says = b""

    def nonsense(self) -> None:
        self._says = b'{"class": "TPV", "mode": 3, "lat": NaN, "lon": "east"}'

    def hangs(self) -> None:
        self._says = b"..."

    def _serve(self) -> None:
        while not self._over.is_set():
            with suppress(OSError), self._server.accept()[0] as client:
                while (says := self._says) and not self._over.wait(EVERY_S):
                    if says != b"...":
                        client.sendall(says + b"\n")

    def close(self) -> None:
        self._over.set()
        self._server.close()


class Knocks:
    """An LSM9DS1 of which a test says how it fails."""

    def __init__(self) -> None:
        self._chip = Lsm9ds1()

    def connect(self) -> Sensor:
        return KnockSensor(self._chip, 0x6A, 119, 4_000)

    def works(self) -> None:
        if self._chip.is_lost:
            self._chip.plug_in()
        self._chip.status = None
        self._chip.answers.set()

    def raises(self) -> None:
        self._chip.unplug()

    def nonsense(self) -> None:
        self._chip.status = 0xFF

    def hangs(self) -> None:
        self._chip.answers.clear()


class Hat:
    """A Sense HAT of which a test says how it fails."""

    def __init__(self) -> None:
        self._chip = SenseHatBus()

    def connect(self) -> Sensor:
        return SenseHat(self._chip)

    def works(self) -> None:
        if self._chip.is_lost:
            self._chip.plug_in()
        self._chip.pressure_raw = 4_096 * 1_013
        self._chip.answers.set()

    def raises(self) -> None:
        self._chip.unplug()

    def nonsense(self) -> None:
        self._chip.pressure_raw = -4_096

    def hangs(self) -> None:
        self._chip.answers.clear()


KINDS: dict[str, tuple[str, str, Callable[..., Sensor]]] = {
    "iio": ("iio:device0", "in_temp_input", IioSensor.find),
    "hwmon": ("hwmon0", "temp1_input", HwmonSensor.find),
    "1-wire": ("28-0316a2795cff", "temperature", OneWireSensor.find),
}


CHIPS: dict[str, Callable[[], Knocks | Hat]] = {"lsm9ds1": Knocks, "sense-hat": Hat}


@contextmanager
def peer(kind: str, root: Path) -> Iterator[Chip | Hat | Knocks | Receiver]:
    if kind in CHIPS:
        yield CHIPS[kind]()
        return
    if kind != "gpsd":
        yield Chip(root, *KINDS[kind])
        return
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.close()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", [*KINDS, *CHIPS, "gpsd"])
def test_each_driver_s_fault_is_one_finding(tmp_path: Path, kind: str, fault: str) -> None:
    found: list[Finding] = []
    over = threading.Event()
    with peer(kind, tmp_path) as made:
        plan = WatchPlan("cargo", EVERY_S, late_s=LATE_S)
        watch = SensorWatch(plan, made.connect, found.append)
        threading.Thread(target=watch.run, args=[over], daemon=True).start()
        until("it works", lambda: watch.health is Health.WORKS)
        assert watch.take() != Measured()
        getattr(made, fault)()
        until("its fault is found", lambda: watch.take() == Measured() and len(found) > 1)
        assert (found[1].health, len(found)) == (FAULTS[fault], 2), found
        assert found[1].detail
        made.works()
        until("it works again", lambda: watch.health is Health.WORKS and len(found) > 2)
        assert [each.health for each in found[2:]] == [Health.WORKS], found
        over.set()
