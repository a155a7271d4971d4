"""Adapter: a contact, PIR, light or shock sensor on a GPIO pin, by gpiozero.

A short pulse between two readings is not lost: each edge is remembered until it was read. No bounce
is filtered, since a filter would drop the pulses of a shock sensor, and a sign is not counted.
"""

from contracts.errors import UnavailableError
from contracts.records.reading import Tamper
from device.live.port import Measured


class GpioSensor:
    """One pin, whose active level is a sign of tampering.

    Args:
        pin: BCM number.
        sign: What its active level means.
        active_high: Whether it is active at 3.3 V; else at ground, with the pull-up on.

    Raises:
        UnavailableError: gpiozero is not installed, or the pin cannot be used.
    """

    def __init__(self, pin: int, sign: Tamper, *, active_high: bool) -> None:
        try:
            from gpiozero import DigitalInputDevice  # noqa: PLC0415 - only this driver needs it
            from gpiozero.exc import GPIOZeroError  # noqa: PLC0415
        except ImportError as error:
            raise UnavailableError("gpiozero is not installed: scripts/install device") from error

        self._sign = sign
        self._was_active = False
        try:
            self._pin = DigitalInputDevice(pin, pull_up=not active_high)
        except (GPIOZeroError, OSError, RuntimeError) as error:
            raise UnavailableError(f"GPIO {pin}: {error!s:.200}") from error
        self._pin.when_activated = self._note

    def measure(self) -> Measured:
        """See `Sensor.measure`."""
        was_active, self._was_active = self._was_active, False  # before the look: edges go on
        active = was_active or bool(self._pin.is_active)
        return Measured(tamper=self._sign if active else Tamper.NONE)

    def close(self) -> None:
        """See `Sensor.close`."""
        self._pin.close()

    def _note(self) -> None:
        self._was_active = True
