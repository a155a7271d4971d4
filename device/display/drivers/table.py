"""The table of displays: how those of the settings are opened."""

from collections.abc import Callable, Mapping

from device.display.drivers.led import LedLamp
from device.display.drivers.oled import OledDisplay
from device.display.port import Display
from device.settings_live import DisplaySettings


def displays_of(settings: DisplaySettings | None) -> Mapping[str, Callable[[], Display]]:
    """Return how the displays of [display] are opened, by their names; empty without [display]."""
    found: dict[str, Callable[[], Display]] = {}
    if settings is None:
        return found
    pins, is_high = settings.pins, settings.active == "high"
    if pins:
        found["lamp"] = lambda: LedLamp(pins, active_high=is_high)
    address, bus, height = settings.oled_address, settings.oled_bus, settings.oled_height
    if address is not None:
        found["oled"] = lambda: OledDisplay(address, bus, height)
    return found
