"""Bytes through a device in each second of an execution, by the kernel's counters."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from storage.bench.run.outcome import Series
from storage.drives.counters import Counters, counters
from storage.drives.devices import Device
from storage.drives.kernel import Kernel

SECOND_S: Final = 1.0
COLUMNS: Final = ("s", "read_bytes_per_s", "written_bytes_per_s")
_WHOLE: Final = 0.9
"""Least length of a sample that counts as a second: the last one is cut off."""

Way = Literal["read", "write"]


class OnDrives(Protocol):
    """A directory or a device that stands on drives."""

    @property
    def drives(self) -> Sequence[Device]:
        """Return its drives, from its own device down; empty without one."""


@dataclass(frozen=True, slots=True)
class DeviceSample:
    """Bytes moved since the previous sample.

    Attributes:
        at_s: Its end, since the first began.
    """

    at_s: float
    length_s: float
    read_bytes: int
    written_bytes: int

    def moved(self, way: Way) -> int:
        """Return the bytes that went one way."""
        return self.read_bytes if way == "read" else self.written_bytes

    def rate(self, way: Way) -> float:
        """Return the bytes per second that went one way."""
        return self.moved(way) / self.length_s


@dataclass(slots=True)
class Samples:
    """The samples of a device, in order.

    Attributes:
        device: Its name; empty if no device counts.
    """

    device: str
    taken: list[DeviceSample] = field(default_factory=list)

    @property
    def rows(self) -> list[tuple[float, float, float]]:
        """Return time, bytes read per second and bytes written per second of each sample."""
        return [(each.at_s, each.rate("read"), each.rate("write")) for each in self.taken]

    @property
    def read_bytes(self) -> int:
        """Return the bytes read in all."""
        return self.moved("read")

    @property
    def written_bytes(self) -> int:
        """Return the bytes written in all."""
        return self.moved("write")

    def moved(self, way: Way) -> int:
        """Return the bytes that went one way."""
        return sum(sample.moved(way) for sample in self.taken)

    def busy(self, way: Way) -> list[float]:
        """Return the rate of each sample in which anything went that way."""
        return [sample.rate(way) for sample in self.taken if sample.moved(way)]

    def seconds(self, way: Way) -> list[float]:
        """Return the rate of each whole second, without those in which it began and ended.

        A second in between without any traffic counts too: the device stalled, and the mean must
        show that.
        """
        active = [at for at, sample in enumerate(self.taken) if sample.moved(way)]
        between = self.taken[active[0] + 1 : active[-1]] if active else []
        return [each.rate(way) for each in between if each.length_s >= _WHOLE * SECOND_S]

    def series(self, name: str) -> list[Series]:
        """Return the samples as a table; nothing if no device counts."""
        return [Series(name, COLUMNS, self.rows)] if self.taken else []


@contextmanager
def sampling(what: OnDrives, kernel: Kernel | None = None) -> Iterator[Samples]:
    """Sample each second, in a thread, until the block ends.

    The samples are complete after the block; the last is shorter than a second.
    """
    samples = Samples(counting(what.drives))
    if not samples.device:
        yield samples
        return
    end = threading.Event()
    counter = _Counter(samples, kernel or Kernel())
    thread = threading.Thread(target=counter.run, args=(end,), name="device counters", daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        end.set()
        thread.join()
        counter.take()


class _Counter:
    """Takes one sample after the other."""

    def __init__(self, samples: Samples, kernel: Kernel) -> None:
        self._samples = samples
        self._kernel = kernel
        self._start_s = self._at_s = time.monotonic()
        self._seen = self._now()

    def run(self, end: threading.Event) -> None:
        """Take a sample each second, however long the last one took."""
        due_s = self._start_s + SECOND_S
        while not end.wait(max(0.0, due_s - time.monotonic())):
            self.take()
            due_s += SECOND_S

    def take(self) -> None:
        """Take a sample of the bytes since the last one."""
        now, at_s, before = self._now(), time.monotonic(), self._seen
        self._samples.taken.append(
            DeviceSample(
                at_s - self._start_s,
                at_s - self._at_s,
                max(0, now.read_bytes - before.read_bytes),  # less: a path has gone
                max(0, now.written_bytes - before.written_bytes),
            )
        )
        self._seen, self._at_s = now, at_s

    def _now(self) -> Counters:
        return counters(self._kernel, self._samples.device)


def counting(drives: Sequence[Device]) -> str:
    """Return the name of the device that counts a directory's traffic; empty without one.

    It is the directory's own device or partition. Partitions of a multipath head count nothing on
    older kernels, so there it is the head.

    Args:
        drives: From the directory's own device down.
    """
    if not drives:
        return ""
    own = drives[0]
    disk = next((each for each in drives if each.name == own.disk), None)
    return disk.name if disk is not None and disk.paths else own.name
