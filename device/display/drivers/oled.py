"""Adapter: an OLED of 128 x 64 or 128 x 32 pixels with the controller SSD1306 on I2C, by luma.oled.

The first line is larger than the others, so that it can be read from the driver's seat.
"""

from typing import Any, Final

from contracts.errors import UnavailableError
from device.display.lines import lines_of
from device.display.shown import Shown

_HEAD_PIXELS: Final = 18
_LINE_PIXELS: Final = 11
_CHARACTERS: Final = 21
_WIDTH: Final = 128
_REMEDY: Final = "check its wires, that I2C is on, and `i2cdetect -y 1`; docs/hardware.md"


class OledDisplay:
    """One SSD1306.

    Args:
        address: On the bus, such as 0x3C.
        bus: Number of the I2C bus, or an open one with smbus2's interface.
        height: Pixels, 64 or 32.

    Raises:
        UnavailableError: luma.oled is not installed, or nothing answers at the address.
    """

    def __init__(self, address: int, bus: Any, height: int) -> None:  # noqa: ANN401
        try:
            from luma.core.error import Error  # noqa: PLC0415 - only this driver needs it
            from luma.core.interface.serial import i2c  # noqa: PLC0415
            from luma.oled.device import ssd1306  # noqa: PLC0415
        except ImportError as error:
            raise UnavailableError("luma.oled is not installed: scripts/install device") from error
        self._name = f"OLED at address {address:#x}"
        self._errors = (Error, OSError)
        self._height = height
        self._lines: list[str] = []
        place = {"port": bus} if isinstance(bus, int) else {"bus": bus}
        try:
            self._device = ssd1306(i2c(address=address, **place), width=_WIDTH, height=height)
        except self._errors as error:
            raise self._lost(error) from error

    def show(self, shown: Shown) -> None:
        """See `Display.show`."""
        count = 1 + (self._height - _HEAD_PIXELS) // _LINE_PIXELS
        lines = lines_of(shown, _CHARACTERS, count)
        if lines == self._lines:
            return
        try:
            self._draw(lines)
        except self._errors as error:
            raise self._lost(error) from error
        self._lines = lines

    def close(self) -> None:
        """See `Display.close`."""
        try:
            self._device.cleanup()
        except self._errors:
            return

    def _draw(self, lines: list[str]) -> None:
        from luma.core.render import canvas  # noqa: PLC0415
        from PIL import ImageFont  # noqa: PLC0415

        with canvas(self._device) as draw:
            head, *rest = lines
            draw.text((0, 0), head, font=ImageFont.load_default(_HEAD_PIXELS - 2), fill="white")
            small = ImageFont.load_default_imagefont()
            for number, line in enumerate(rest):
                draw.text((0, _HEAD_PIXELS + number * _LINE_PIXELS), line, font=small, fill="white")

    def _lost(self, error: Exception) -> UnavailableError:
        return UnavailableError(f"{self._name}: {error!s:.200}; {_REMEDY}")
