"""Power of the machine, or of the part of it that a meter covers.

Nothing is estimated. Without a meter there is no figure, and the result says why.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from contracts.errors import RejectedError
from storage.drives.kernel import Kernel, names, number, text

_MICRO: Final = 1_000_000
_MILLI: Final = 1000
_RAPL: Final = "intel-rapl:"
"""AMD's counters have this name too; `intel-rapl-mmio` repeats a package."""
_RAPL_COUNTED: Final = ("package-", "dram")
"""Domains that do not overlap; core and uncore are inside a package."""
_SENSORS: Final = ("ina", "power_meter")
"""Beginnings of the names of chips on a supply line; other chips measure a part, such as a GPU."""

Joules = Callable[[], float | None]
"""Returns the joules since it was made; None without an answer. Call it at least each minute."""


class Meter(Protocol):
    """Measures the energy that the machine takes."""

    @property
    def source(self) -> str:
        """Return the kind of meter, in one word."""

    @property
    def covers(self) -> str:
        """Return which part of the machine it measures, in words."""

    def begin(self, *, at_rest: bool) -> Joules | None:
        """Begin to count; None if the meter has no value for a machine in this state.

        Args:
            at_rest: The benchmark does nothing.
        """


@dataclass(frozen=True, slots=True)
class Domain:
    """A counter of RAPL.

    Attributes:
        range_uj: The counter begins again at 0 after this value.
    """

    name: str
    path: Path
    range_uj: int


@dataclass(frozen=True, slots=True)
class Rapl:
    """Counters of the processor. Source: Documentation/power/powercap/powercap.rst."""

    domains: tuple[Domain, ...]
    source: str = "rapl"

    @property
    def covers(self) -> str:
        """Return which part of the machine it measures, in words."""
        return f"processor and memory alone: {', '.join(each.name for each in self.domains)}"

    def begin(self, *, at_rest: bool) -> Joules | None:  # noqa: ARG002 - it always knows
        """Begin to count; None if a counter does not answer."""
        last, total_uj = [], 0
        for domain in self.domains:
            first = _energy_uj(domain)
            if first is None:
                return None
            last.append(first)

        def joules() -> float | None:
            nonlocal total_uj
            for place, domain in enumerate(self.domains):
                now = _energy_uj(domain)
                if now is None:  # 0 in its place would count as a wrap
                    return None
                # It wraps after minutes; the range is the highest value. Source: ABI sysfs-class.
                total_uj += (now - last[place]) % (domain.range_uj + 1)
                last[place] = now
            return total_uj / _MICRO

        return joules


@dataclass(frozen=True, slots=True)
class Sensor:
    """A channel of a power sensor. Source: Documentation/hwmon/sysfs-interface.rst.

    Attributes:
        name: Chip and channel, as `--power-sensor` takes it.
        chip: Its directory.
        channel: `power1`, or `1` for a chip that reports volts and amperes.
        clock: Monotonic seconds.
    """

    name: str
    chip: Path
    channel: str
    clock: Callable[[], float] = time.monotonic
    source: str = "sensor"

    @property
    def covers(self) -> str:
        """Return which part of the machine it measures, in words."""
        return f"the supply line at sensor {self.name}"

    def watts(self) -> float | None:
        """Return its value now; None if it does not answer."""
        if self.channel.startswith("power"):
            micro_watts = number(self.chip / f"{self.channel}_input")
            return None if micro_watts is None else micro_watts / _MICRO
        milli_volts = number(self.chip / f"in{self.channel}_input")
        milli_amperes = number(self.chip / f"curr{self.channel}_input")
        if milli_volts is None or milli_amperes is None:
            return None
        return milli_volts * milli_amperes / _MILLI**2

    def begin(self, *, at_rest: bool) -> Joules | None:  # noqa: ARG002 - it always knows
        """Begin to count; power is taken to change evenly between two values."""
        first_w = self.watts()
        if first_w is None:
            return None
        last_s, last_w, total_j = self.clock(), first_w, 0.0

        def joules() -> float | None:
            nonlocal last_s, last_w, total_j
            now_s, now_w = self.clock(), self.watts()
            if now_w is None:
                return None
            total_j += (now_s - last_s) * (now_w + last_w) / 2
            last_s, last_w = now_s, now_w
            return total_j

        return joules


@dataclass(frozen=True, slots=True)
class WallMeter:
    """Values that the user read from a meter at the plug.

    Attributes:
        watts: On average while the machine works.
        idle_watts: At rest; None if the user gave none.
        clock: Monotonic seconds.
    """

    watts: float
    idle_watts: float | None = None
    clock: Callable[[], float] = time.monotonic
    source: str = "wall"

    @property
    def covers(self) -> str:
        """Return which part of the machine it measures, in words."""
        return f"the whole machine, typed in: {self.watts:g} W working, " + (
            "at rest unknown" if self.idle_watts is None else f"{self.idle_watts:g} W at rest"
        )

    def begin(self, *, at_rest: bool) -> Joules | None:
        """Begin to count; at rest only if the user gave a value for that."""
        watts, start_s = self.idle_watts if at_rest else self.watts, self.clock()
        return None if watts is None else lambda: watts * (self.clock() - start_s)


@dataclass(frozen=True, slots=True)
class Metered:
    """The meter of a run, if there is one.

    Attributes:
        words: What the meter covers, or why there is no meter.
    """

    meter: Meter | None
    words: str

    @classmethod
    def by(cls, meter: Meter) -> "Metered":
        """Return a meter with its words."""
        return cls(meter, f"{meter.source}: {meter.covers}")


def metered(kernel: Kernel, wall: WallMeter | None, sensor: str | None) -> Metered:
    """Return the best meter there is.

    The order of preference: a reading at the wall, a named sensor, RAPL, the only sensor.

    Raises:
        RejectedError: No sensor has that name.
    """
    if wall is not None:
        return Metered.by(wall)
    found = sensors(kernel)
    if sensor is not None:
        if sensor not in found:
            raise RejectedError(f"expected a power sensor of {sorted(found)}, got {sensor!r}")
        return Metered.by(found[sensor])
    counters, missing = rapl(kernel)
    if counters is not None:
        return Metered.by(counters)
    if len(found) == 1:
        return Metered.by(*found.values())
    several = f"name one of the sensors {sorted(found)}" if found else "there is no power sensor"
    return Metered(None, f"absent: {missing}, and {several}")


def performance_to_power(rate_per_s: float, power_w: float) -> float:
    """Return the work of one joule, PPR. Source: papers/000, equation 1."""
    return rate_per_s / power_w


def rapl(kernel: Kernel) -> tuple[Rapl | None, str]:
    """Return the processor's counters; or None, and the reason."""
    place = kernel.sys / "class" / "powercap"
    zones = [
        Domain(name, place / zone, range_uj)
        for zone in names(place)
        if zone.startswith(_RAPL)
        and (name := text(place / zone / "name")).startswith(_RAPL_COUNTED)
        and (range_uj := number(place / zone / "max_energy_range_uj"))
    ]
    if not zones:
        return None, "the processor has no RAPL counters here"
    # Since CVE-2020-8694 they are for root alone.
    if any(number(each.path / "energy_uj") is None for each in zones):
        return None, "RAPL counters are for root alone here"
    return Rapl(tuple(zones)), ""


def sensors(kernel: Kernel) -> dict[str, Sensor]:
    """Return the channels of power sensors by name."""
    place = kernel.sys / "class" / "hwmon"
    found = {}
    for chip in names(place):
        kind = text(place / chip / "name")
        if kind.startswith(_SENSORS):
            for channel, label in _channels(place / chip):
                name = f"{chip}/{kind}/{label}"
                found[name] = Sensor(name, place / chip, channel)
    return found


def _channels(chip: Path) -> list[tuple[str, str]]:
    """Return channels with their labels."""
    files = sorted(names(chip))
    powers = [each.removesuffix("_input") for each in files if _is(each, "power")]
    if powers:
        return [(each, text(chip / f"{each}_label") or each) for each in powers]
    numbers = [each[len("curr") : -len("_input")] for each in files if _is(each, "curr")]
    return [
        (each, text(chip / f"in{each}_label") or each)
        for each in numbers
        if f"in{each}_input" in files
    ]


def _is(name: str, kind: str) -> bool:
    return name.startswith(kind) and name.endswith("_input")


def _energy_uj(domain: Domain) -> int | None:
    return number(domain.path / "energy_uj")
