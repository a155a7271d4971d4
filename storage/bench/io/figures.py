"""What the gateway's workloads tell alike: per-second rates of the device, CPU, and their flags."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.bench.io.ground import Ground
from storage.bench.io.measured import COUNTED_LEAST, rate, sampled
from storage.bench.io.sampler import Samples, Way
from storage.bench.procfs import cpu_s
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Better, Metric, Observation

GB: Final = 1_000_000_000
_SHOWN: Final = 3
_AMPLIFICATION: Final = Metric("write-amplification", "1", Better.LOWER)


@dataclass(frozen=True, slots=True)
class Watched:
    """What a volume's device moved while something was done."""

    ground: Ground
    samples: Samples

    def seconds(self, way: Way, *flags: Raised) -> list[Observation]:
        """Return maximum and mean of the device's whole seconds; nothing without one."""
        return sampled(self.samples, way, self.ground, flags)

    def rate(self, name: str, value: float, *flags: Raised) -> Observation:
        """Return B/s beside what the link can carry, flagged if they are more."""
        return rate(name, value, self.ground, flags)

    def cached(self, size: int) -> tuple[Raised, ...]:
        """Raise CACHED where the device did not read what was read through it.

        Args:
            size: Bytes that were read.
        """
        if not self.samples.device:
            why = f"expected a device that counts below {self.ground.place}, there is none"
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
