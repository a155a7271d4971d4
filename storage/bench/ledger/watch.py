"""CPU, memory, reads and writes of the measured processes over time."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import psutil

from storage.bench.run.outcome import Series
from storage.bench.servers.usage import anonymous_bytes, cpu_s, read_bytes, written_bytes

EVERY_S: Final = 1.0
"""As in the papers; a rate over a shorter time would be mostly chance."""


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """CPU, memory, reads and writes of a process up to one moment.

    Attributes:
        at_s: Monotonic clock.
        cpu_s: All its threads, user and system.
        written_bytes: To the storage layer.
        read_bytes: From the storage layer.
        anonymous_bytes: Resident memory that is not a file's.
    """

    at_s: float
    cpu_s: float
    written_bytes: int
    read_bytes: int
    anonymous_bytes: int


@dataclass(slots=True)
class ProcessSamples:
    """Samples of each process, by name, in order."""

    samples: dict[str, list[ProcessSample]] = field(default_factory=dict)

    def used_cpu_s(self, name: str) -> float:
        """Return the CPU seconds of a process from the first sample to the last."""
        own = self.samples[name]
        return own[-1].cpu_s - own[0].cpu_s

    def written(self, name: str) -> int:
        """Return the bytes that it wrote from the first sample to the last."""
        own = self.samples[name]
        return own[-1].written_bytes - own[0].written_bytes

    def read(self, name: str) -> int:
        """Return the bytes that it read from the first sample to the last."""
        own = self.samples[name]
        return own[-1].read_bytes - own[0].read_bytes

    def anonymous_peak(self, name: str) -> int:
        """Return the most memory of its own, bytes, that a sample saw."""
        return max(each.anonymous_bytes for each in self.samples[name])

    def series(self, name: str) -> Series:
        """Return the rates from sample to sample."""
        own = self.samples[name]
        rows = [
            (
                after.at_s - own[0].at_s,
                (after.cpu_s - before.cpu_s) / (after.at_s - before.at_s),
                (after.written_bytes - before.written_bytes) / (after.at_s - before.at_s),
            )
            for before, after in pairwise(own)
        ]
        return Series(f"{name}-process", ("seconds", "cpu_cores", "written_bytes_per_s"), rows)


@contextmanager
def watching(processes: Mapping[str, int], every_s: float = EVERY_S) -> Iterator[ProcessSamples]:
    """Sample processes until the block ends, and once at its end.

    Args:
        processes: Process ids by name; they outlive this.
        every_s: Seconds between samples.
    """
    watched = ProcessSamples({name: [_sample(pid)] for name, pid in processes.items()})
    ending = threading.Event()

    def watch() -> None:
        while not ending.wait(every_s):
            _look(processes, watched)

    thread = threading.Thread(target=watch, name="watch")
    thread.start()
    try:
        yield watched
    finally:
        ending.set()
        thread.join()
        _look(processes, watched)


def _look(processes: Mapping[str, int], watched: ProcessSamples) -> None:
    for name, pid in processes.items():
        with suppress(psutil.Error, OSError):  # it ended; the measurement that needs it will fail
            watched.samples[name].append(_sample(pid))


def _sample(pid: int) -> ProcessSample:
    return ProcessSample(
        time.monotonic(), cpu_s(pid), written_bytes(pid), read_bytes(pid), anonymous_bytes(pid)
    )
