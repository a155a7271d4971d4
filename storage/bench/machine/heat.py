"""Temperature of the machine, clock of its cores, and reasons that slow them.

Values that the machine does not report are empty or None; a virtual machine reports nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from storage.drives.kernel import Kernel, names, number, text

_MILLI: Final = 1000
_KHZ_PER_MHZ: Final = 1000
_THROTTLE_COUNTS: Final = ("core_throttle_count", "package_throttle_count")
"""Source: Documentation/ABI/testing/sysfs-devices-system-cpu."""
_COOLED_BY_SLOWING: Final = ("cpufreq", "thermal-cpufreq", "Processor", "intel_powerclamp")
"""Beginnings of the types of cooling devices that slow the CPU; others are fans."""
_PI: Final = "devices/platform/soc/soc:firmware/get_throttled"
_PI_LIMITS: Final = ("under-voltage", "frequency capped", "throttled", "soft temperature limit")
"""Bits of the Pi's word from the lowest: in force now; from bit 16 on: since the start."""
_PI_SINCE_START: Final = 16


@dataclass(frozen=True, slots=True)
class Heat:
    """One moment.

    Attributes:
        celsius: By sensor.
        mhz: Average of all cores; None without cpufreq.
        throttled: Counters of how often cores were slowed down, since the machine started.
        limits: In force now, in words.
    """

    celsius: Mapping[str, float]
    mhz: float | None
    throttled: Mapping[str, int]
    limits: tuple[str, ...]

    @property
    def hottest(self) -> float | None:
        """Return the highest temperature; None without a sensor."""
        return max(self.celsius.values(), default=None)


def heat(kernel: Kernel) -> Heat:
    """Return temperature, clock and limits now."""
    return Heat(_celsius(kernel), _mhz(kernel), _throttled(kernel), _limits(kernel))


def held_back(before: Heat, after: Heat) -> list[str]:
    """Return the reasons that slowed the CPU between two moments, in words."""
    counted = [
        f"{name} went from {before.throttled[name]} to {count}"
        for name, count in after.throttled.items()
        if count > before.throttled.get(name, count)
    ]
    return counted + [f"{limit} is in force" for limit in after.limits]


def _celsius(kernel: Kernel) -> dict[str, float]:
    thermal, hwmon = kernel.sys / "class" / "thermal", kernel.sys / "class" / "hwmon"
    found = {}
    for zone in names(thermal):
        if zone.startswith("thermal_zone") and (milli := number(thermal / zone / "temp")):
            found[f"{zone} {text(thermal / zone / 'type')}"] = milli / _MILLI
    for chip in names(hwmon):
        for name in names(hwmon / chip):
            if not name.startswith("temp") or not name.endswith("_input"):
                continue
            if milli := number(hwmon / chip / name):
                label = text(hwmon / chip / name.replace("_input", "_label"))
                words = f"{chip} {text(hwmon / chip / 'name')} {label or name[: -len('_input')]}"
                found[words] = milli / _MILLI
    return found


def _mhz(kernel: Kernel) -> float | None:
    place = kernel.sys / "devices" / "system" / "cpu" / "cpufreq"
    policies = [each for each in names(place) if each.startswith("policy")]
    # One policy may govern several cores, as big and little ones of an ARM do.
    khz = [
        found
        for policy in policies
        if (found := number(place / policy / "scaling_cur_freq"))
        for _ in text(place / policy / "affected_cpus").split()
    ]
    return sum(khz) / len(khz) / _KHZ_PER_MHZ if khz else None


def _throttled(kernel: Kernel) -> dict[str, int]:
    place = kernel.sys / "devices" / "system" / "cpu"
    totals: dict[str, int] = {}
    for cpu in names(place):
        for name in _THROTTLE_COUNTS:
            count = number(place / cpu / "thermal_throttle" / name)
            if count is not None:
                totals[name] = totals.get(name, 0) + count
    for bit, limit in enumerate(_PI_LIMITS):
        if word := text(kernel.sys / _PI):
            totals[f"{limit} since the start"] = int(word, 16) >> (_PI_SINCE_START + bit) & 1
    return totals


def _limits(kernel: Kernel) -> tuple[str, ...]:
    thermal = kernel.sys / "class" / "thermal"
    found = []
    for device in names(thermal):
        kind = text(thermal / device / "type")
        if device.startswith("cooling_device") and kind.startswith(_COOLED_BY_SLOWING):
            state = number(thermal / device / "cur_state") or 0
            if state > 0:
                found.append(f"{device} {kind} at {state}")
    word = int(text(kernel.sys / _PI) or "0", 16)
    return (*found, *(limit for bit, limit in enumerate(_PI_LIMITS) if word >> bit & 1))
