"""What the gateway's workloads tell alike: per-second rates of the device, CPU, and their flags."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.bench.io.ceilings import ceiling
from storage.bench.io.sampler import Samples, Way
from storage.bench.procfs import cpu_s
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Better, Metric, Observation
from storage.bench.run.volumetarget import VolumeTarget

REACHED_LEAST: Final = 0.9
"""Of what was read, what the device must have read, lest it came from a cache."""
SECONDS_LEAST: Final = 5
"""For a maximum and a mean over seconds to mean something."""
GB: Final = 1_000_000_000
_SHOWN: Final = 3
_AMPLIFICATION: Final = Metric("write-amplification", "1", Better.LOWER)


@dataclass(frozen=True, slots=True)
class Watched:
    """What a volume's device moved while something was done."""

    volume: VolumeTarget
    samples: Samples

    def seconds(self, way: Way, *flags: Raised) -> list[Observation]:
        """Return mean and max of the device's whole seconds, as papers/002 has them."""
        if not self.samples.device:
            return []
        values = self.samples.seconds(way)
        if len(values) < SECONDS_LEAST:
            why = f"expected at least {SECONDS_LEAST} whole seconds, got {len(values)}"
            flags = (*flags, Raised(Flag.FEW_SAMPLES, why))
        values = values or self.samples.busy(way) or [0.0]
        return [
            self.rate(f"{way}-mean", sum(values) / len(values), *flags),
            self.rate(f"{way}-max", max(values), *flags),
        ]

    def rate(self, name: str, value: float, *flags: Raised) -> Observation:
        """Return B/s beside what the link can carry, flagged if they are more."""
        limit = ceiling(self.volume.drives)
        if limit is not None and value > limit.value:
            why = f"expected at most {limit.value:.4g} B/s of {limit.why}, got {value:.4g} B/s"
            flags = (*flags, Raised(Flag.OVER_LINK_RATE, why))
        return Observation(Metric(name, "B/s"), value, limit, flags)

    def cached(self, size: int) -> tuple[Raised, ...]:
        """Raise CACHED where the device did not read what was read through it.

        Args:
            size: Bytes that were read.
        """
        if not self.samples.device:
            why = f"expected a device that counts below {self.volume.directory}, there is none"
        elif self.samples.read_bytes < REACHED_LEAST * size:
            why = f"expected {size} bytes from the device, it read {self.samples.read_bytes}"
        else:
            return ()
        return (Raised(Flag.CACHED, why),)

    def amplification(self, size: int, *flags: Raised) -> list[Observation]:
        """Return bytes that the device wrote for each byte of payload; nothing without one."""
        if not self.samples.device:
            return []
        return [Observation(_AMPLIFICATION, self.samples.written_bytes / size, flags=flags)]


def invalid(wrong: Sequence[int]) -> tuple[Raised, ...]:
    """Raise INVALID where pieces came back as other bytes than were written, or not at all."""
    if not wrong:
        return ()
    first = ", ".join(map(str, sorted(wrong)[:_SHOWN]))
    why = f"expected all as it was written, {len(wrong)} pieces are not, as piece {first}"
    return (Raised(Flag.INVALID, why),)


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds of CPU that this process and another one used so far, user and system.

    Attributes:
        client_s: Of this process.
        server_s: Of the other.
    """

    client_s: float
    server_s: float

    @classmethod
    def now(cls, pid: int | None) -> "Cpu":
        """Look at both; a process elsewhere counts as nothing."""
        return cls(time.process_time(), cpu_s(pid) if pid is not None else 0.0)


def cpu(phase: str, size: int, before: Cpu, pid: int | None, *flags: Raised) -> list[Observation]:
    """Return CPU seconds per GB of payload since `before`.

    Args:
        phase: `write` or `read`.
        size: Bytes of payload.
        before: As it was.
        pid: Of the server; None if it is elsewhere.
        *flags: Of the figures.
    """
    after = Cpu.now(pid)
    spent = {"client": after.client_s - before.client_s}
    if pid is not None:
        spent["server"] = after.server_s - before.server_s
    return [
        Observation(
            Metric(f"{phase}-{who}-cpu", "s/GB", Better.LOWER), value * GB / size, flags=flags
        )
        for who, value in spent.items()
    ]
