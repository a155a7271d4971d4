"""Adapter: one LED, or a red, a green and a blue one, on GPIO pins, by gpiozero.

gpiozero's own thread blinks. One LED shows the beat alone, which differs for each mood.
"""

from collections.abc import Sequence

from contracts.errors import UnavailableError
from device.display.lamp import LAMPS
from device.display.shown import Mood, Shown


class LedLamp:
    """LEDs on pins.

    Args:
        pins: BCM numbers: of the only LED, or of red, green and blue.
        active_high: Whether 3.3 V switches them on; else ground, as for a common anode.

    Raises:
        UnavailableError: gpiozero is not installed, or a pin cannot be used.
    """

    def __init__(self, pins: Sequence[int], *, active_high: bool) -> None:
        try:
            from gpiozero import LED, RGBLED  # noqa: PLC0415 - only this driver needs it
            from gpiozero.exc import GPIOZeroError  # noqa: PLC0415
        except ImportError as error:
            raise UnavailableError("gpiozero is not installed: scripts/install device") from error
        self._name = f"LED on GPIO {', '.join(map(str, pins))}"
        self._errors = (GPIOZeroError, OSError, RuntimeError)
        self._is_coloured = len(pins) > 1
        self._mood: Mood | None = None
        try:
            if self._is_coloured:
                self._led = RGBLED(*pins, active_high=active_high, pwm=False)
            else:
                self._led = LED(pins[0], active_high=active_high)
        except self._errors as error:
            raise UnavailableError(f"{self._name}: {error!s:.200}") from error

    def show(self, shown: Shown) -> None:
        """See `Display.show`; a mood that holds goes on in its beat."""
        if shown.mood is self._mood:
            return
        lamp = LAMPS[shown.mood]
        colour = {"on_color": (lamp.red, lamp.green, lamp.blue)} if self._is_coloured else {}
        try:
            if lamp.off_s:
                self._led.blink(lamp.on_s, lamp.off_s, **colour)
            elif self._is_coloured:
                self._led.color = colour["on_color"]
            else:
                self._led.on()
        except self._errors as error:
            raise UnavailableError(f"{self._name}: {error!s:.200}") from error
        self._mood = shown.mood

    def close(self) -> None:
        """See `Display.close`."""
        self._led.close()
