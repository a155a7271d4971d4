"""Figures that the gateway's workloads share: rates of the device, CPU, and their flags."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.bench.io.ground import Ground
from storage.bench.io.measured import COUNTED_LEAST, rate, sampled
from storage.bench.io.sampler import Samples, Way
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Better, Metric, Observation
from storage.bench.servers.usage import cpu_s

GB: Final = 1_000_000_000
_SHOWN: Final = 3
_AMPLIFICATION: Final = Metric("write-amplification", "1", Better.LOWER)


@dataclass(frozen=True, slots=True)
class DeviceTraffic:
    """The traffic of a volume's device during a phase."""

    ground: Ground
    samples: Samples

    def seconds(self, way: Way, *flags: Raised) -> list[Observation]:
        """Return maximum and mean of the device's whole seconds; nothing without one."""
        return sampled(self.samples, way, self.ground, flags)

    def rate(self, name: str, value: float, *flags: Raised) -> Observation:
        """Return B/s with the ceiling of the link, flagged above it."""
        return rate(name, value, self.ground, flags)

    def cached(self, size: int) -> tuple[Raised, ...]:
        """Raise CACHED if the device read fewer bytes than the workload.

        Args:
            size: Bytes that the workload read.
        """
        if not self.samples.device:
            why = f"expected a device below {self.ground.place} that counts, got none"
        elif self.samples.read_bytes < COUNTED_LEAST * size:
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
    """Raise INVALID if pieces are missing or differ from the bytes written."""
    if not wrong:
        return ()
    first = ", ".join(map(str, sorted(wrong)[:_SHOWN]))
    why = f"expected all pieces as they were written, got {len(wrong)} wrong ones, as piece {first}"
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
        """Read both; a process on another machine counts as 0."""
        return cls(time.process_time(), cpu_s(pid) if pid is not None else 0.0)


def cpu(phase: str, size: int, before: Cpu, pid: int | None, *flags: Raised) -> list[Observation]:
    """Return CPU seconds per GB of payload since `before`.

    Args:
        phase: `write` or `read`.
        size: Bytes of payload.
        before: At the begin of the phase.
        pid: Of the server; None if it is on another machine.
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
