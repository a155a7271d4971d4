"""Settings of what measures and films here and now, and of the site's presence."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta

from device.settings_types import (
    Bssid,
    Chip,
    HostPort,
    Id,
    Interface,
    RtspUrl,
    Section,
    Text,
    around_zero,
    up_to,
    within,
)

SENSORS_MAX: Final = 64
CAMERAS_MAX: Final = 8
NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "iio": ("chip",),
    "hwmon": ("chip",),
    "1-wire": (),
    "gpsd": (),
    "gpio": ("pin", "sign"),
    "lsm9ds1": (),
    "sense-hat": (),
}
"""What each driver of a sensor needs besides its name."""


class SensorSettings(Section, frozen=True):
    """One table of [[sensors]]: a live sensor, for driver `sensors` of [source]."""

    name: Id
    driver: Annotated[
        Literal["iio", "hwmon", "1-wire", "gpsd", "gpio", "lsm9ds1", "sense-hat"],
        Meta(description="`iio`, `hwmon`, `1-wire`, `gpsd`, `gpio`, `lsm9ds1` or `sense-hat`"),
    ]
    chip: Chip | None = None
    gpsd: HostPort = "127.0.0.1:2947"
    pin: Annotated[int, within(0, 27)] | None = None
    sign: (
        Annotated[
            Literal["enclosure-open", "door-open", "motion", "shock", "light"],
            Meta(description="`enclosure-open`, `door-open`, `motion`, `shock` or `light`"),
        ]
        | None
    ) = None
    active: Annotated[Literal["high", "low"], Meta(description="`high` or `low`")] = "high"
    bus: Annotated[int, within(0, 99)] = 1
    address: Annotated[Literal[0x6A, 0x6B], Meta(description="0x6A or 0x6B")] = 0x6A
    rate_hz: Annotated[Literal[119, 238, 476], Meta(description="119, 238 or 476")] = 119
    shock_mg: Annotated[int, within(1_500, 15_000)] = 4_000
    every_s: Annotated[int, within(1, 3_600)] = 1
    frozen_after_s: Annotated[int, within(0, 1_000_000)] = 3_600
    offset_mcel: Annotated[int, around_zero(20_000)] = 0
    offset_mpct: Annotated[int, around_zero(50_000)] = 0
    offset_pa: Annotated[int, around_zero(10_000)] = 0


NEEDED_BY_CAMERA: Final[Mapping[str, Sequence[str]]] = {
    "v4l2": ("device",),
    "picamera2": (),
    "rtsp": ("url",),
    "file": ("file",),
    "simulated": (),
}
"""What each driver of a camera needs besides its name."""


class CameraSettings(Section, frozen=True):
    """One table of [[cameras]]: a live camera, for driver `sensors` of [source]."""

    name: Id
    driver: Annotated[
        Literal["v4l2", "picamera2", "rtsp", "file", "simulated"],
        Meta(description="`v4l2`, `picamera2`, `rtsp`, `file` or `simulated`"),
    ]
    number: Annotated[int, within(0, 7)] = 0
    device: Path | None = None
    url: RtspUrl | None = None
    file: Path | None = None
    width: Annotated[int, within(160, 3_840)] = 640
    height: Annotated[int, within(120, 2_160)] = 480
    pictures_per_s: Annotated[int, within(1, 60)] = 10
    still_pictures_per_s: Annotated[int, within(1, 60)] = 2
    bits_per_s: Annotated[int, within(50_000, 50_000_000)] = 1_000_000
    segment_s: Annotated[int, within(2, 3_600)] = 60
    encoder: Annotated[
        Literal["libx264", "h264_v4l2m2m"], Meta(description="`libx264` or `h264_v4l2m2m`")
    ] = "libx264"
    in_the_dark: bool = False

    def __repr__(self) -> str:
        """Leave out the URL, which may hold a password."""
        return f"CameraSettings(name={self.name}, driver={self.driver})"


class PresenceSettings(Section, frozen=True):
    """[presence]: how the truck knows that it is at a site, so that trips begin and end by it."""

    by: Annotated[
        Literal["network-manager", "wifi", "broker", "file"],
        Meta(description="`network-manager`, `wifi`, `broker` or `file`"),
    ]
    ssids: Annotated[tuple[Text, ...], up_to(100, "names of networks")] = ()
    bssids: Annotated[tuple[Bssid, ...], up_to(1_000, "hardware addresses")] = ()
    interface: Interface = "wlan0"
    file: Path | None = None
    debounce_s: Annotated[int, within(0, 3_600)] = 15


class ClockSettings(Section, frozen=True):
    """[clock]: what time it is on the truck."""

    file: Path | None = None
    gpsd: HostPort | None = None


class DisplaySettings(Section, frozen=True):
    """[display]: what shows the driver whether the truck may leave."""

    lamp_pin: Annotated[int, within(0, 27)] | None = None
    red_pin: Annotated[int, within(0, 27)] | None = None
    green_pin: Annotated[int, within(0, 27)] | None = None
    blue_pin: Annotated[int, within(0, 27)] | None = None
    active: Annotated[Literal["high", "low"], Meta(description="`high` or `low`")] = "high"
    oled_address: Annotated[int, within(0x08, 0x77)] | None = None
    oled_bus: Annotated[int, within(0, 99)] = 1
    oled_height: Annotated[Literal[32, 64], Meta(description="32 or 64")] = 64

    @property
    def colours(self) -> tuple[int | None, int | None, int | None]:
        """The pins of red, green and blue."""
        return self.red_pin, self.green_pin, self.blue_pin

    @property
    def pins(self) -> tuple[int, ...]:
        """The pins of the lamp: one, or those of red, green and blue; none without a lamp."""
        one = () if self.lamp_pin is None else (self.lamp_pin,)
        return one or tuple(pin for pin in self.colours if pin is not None)
