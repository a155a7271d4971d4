"""CPU and memory, as sysbench measures them."""

import re
from dataclasses import dataclass
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Metric, Observation, Outcome
from storage.bench.run.plan import Place
from storage.bench.system.tools import said
from storage.drives.tools import Run

EVENTS: Final = Metric("events", "1/s")
"""One event of sysbench cpu finds all primes up to 10,000."""
READ: Final = Metric("read", "B/s")
WRITE: Final = Metric("write", "B/s")
CACHES: Final = 4
"""Working set in sizes of the last cache, before it is rounded down. Source: STREAM's rule."""
WORKING_SET_BYTES: Final = 64 << 20
"""Least working set, and the one of a quick run; it may fit in a cache."""
_EVENTS: Final = re.compile(r"events per second:\s+([\d.]+)")
_MOVED: Final = re.compile(r"([\d.]+) MiB transferred")
_TOOK: Final = re.compile(r"total time:\s+([\d.]+)s")


@dataclass(frozen=True, slots=True)
class MemorySizes:
    """The sizes of a memory measurement.

    Attributes:
        threads: Number that read and write at once.
        block_bytes: Of each.
        cache_bytes: The last cache.
    """

    threads: int
    block_bytes: int
    cache_bytes: int

    @property
    def flags(self) -> tuple[Raised, ...]:
        """Return the flag of a measurement that a cache may have answered."""
        whole = self.threads * self.block_bytes
        if whole > self.cache_bytes:
            return ()
        why = f"expected more than the last cache's {self.cache_bytes} bytes, got {whole}"
        return (Raised(Flag.CACHED, why),)


def sizes(cache_bytes: int, threads: int, *, quick: bool) -> MemorySizes:
    """Return sizes whose blocks together exceed every cache, except in a quick run."""
    whole = WORKING_SET_BYTES if quick else max(CACHES * cache_bytes, WORKING_SET_BYTES)
    # sysbench wants a power of two.
    return MemorySizes(threads, 1 << (whole // threads).bit_length() - 1, cache_bytes)


def cpu(run: Run, threads: int, seconds: int, place: Place) -> Outcome:
    """Count events of sysbench's CPU test.

    Raises:
        UnavailableError: sysbench failed.
    """
    command = ("sysbench", "cpu", f"--threads={threads}", f"--time={seconds}", "run")
    with place.counted():
        out = said(run, command, seconds).out
    return Outcome(
        [Observation(EVENTS, _found(_EVENTS, out))], attachments={"sysbench.txt": out.encode()}
    )


def memory(run: Run, sizes: MemorySizes, seconds: int, place: Place) -> Outcome:
    """Read and write main memory in turn, each thread its own block from one end to the other.

    Raises:
        UnavailableError: sysbench failed.
    """
    observations, attachments = [], {}
    with place.counted():
        for metric in (READ, WRITE):
            command = (
                *("sysbench", "memory", f"--threads={sizes.threads}", f"--time={seconds}"),
                *(f"--memory-block-size={sizes.block_bytes}", f"--memory-oper={metric.name}"),
                *("--memory-scope=local", "--memory-total-size=1024T", "run"),
            )
            out = said(run, command, seconds).out
            moved = _found(_MOVED, out) * (1 << 20)
            # Not the given time: sysbench finishes the block that it has begun.
            rate = moved / _found(_TOOK, out)
            observations.append(Observation(metric, rate, flags=sizes.flags))
            attachments[f"sysbench-{metric.name}.txt"] = out.encode()
    return Outcome(observations, attachments=attachments)


def _found(pattern: re.Pattern[str], out: str) -> float:
    match = pattern.search(out)
    if match is None:
        raise UnavailableError(f"sysbench answered in an unknown form: {out[-300:]!r}")
    return float(match[1])
