"""Checks of the settings that go beyond one value's type and range."""

from collections.abc import Mapping, Sequence

from msgspec.structs import fields

from contracts.errors import RejectedError
from device.settings import GatewaySettings, Settings, SettingsError
from device.settings_given import SHOWN, Given
from device.settings_keys import ALL_KEYS, KEYS, LISTS, expected, metas
from device.settings_live import NEEDED, NEEDED_BY_CAMERA, CameraSettings, SensorSettings

_Needed = Mapping[str, Sequence[str]]


def check(settings: Settings, given: Given) -> None:
    """Check what goes beyond one value's type and range.

    Raises:
        SettingsError: Names the first wrong key.
    """
    for key in KEYS:
        section, _, name = key.rpartition(".")
        table = getattr(settings, section) if section else settings
        _check_value(given, key, getattr(table, name, None), None)
    for name, kind in LISTS.items():
        for number, table in enumerate(getattr(settings, name)):
            for field in fields(kind):
                _check_value(given, f"{name}.{field.name}", getattr(table, field.name), number)
    _check_sites(settings, given)
    _check_sensors(settings, given)
    _check_certificates(settings, given)
    batch, source = settings.batch, settings.source
    if batch.readings_per_transaction > batch.max_readings:
        raise given.wrong(
            "batch.readings_per_transaction",
            f"at most batch.max_readings = {batch.max_readings}",
        )
    if source and source.driver == "replay" and source.readings is None:
        raise given.wrong("source.readings", "a CSV file for driver replay")
    if settings.clock.file and settings.clock.gpsd:
        raise given.wrong("clock.gpsd", "no value, as there is clock.file")


def _check_value(given: Given, key: str, value: object, number: int | None) -> None:
    items = value if isinstance(value, tuple) else (value,) if value is not None else ()
    if len(set(items)) != len(items):
        raise given.wrong(key, expected(key), number)
    for meta in metas(ALL_KEYS[key].type):
        try:
            list(map(meta.extra["check"] if meta.extra else str, items))
        except (ValueError, RejectedError) as error:
            raise given.wrong(key, meta.description, number) from error


def _check_sites(settings: Settings, given: Given) -> None:
    """Check that a token is there or can be made, and that several sites are told apart."""
    gateway = settings.gateway
    if gateway and not gateway.token and gateway.site_id is None:
        raise given.missing(
            "gateway.token",
            None,
            "; or set gateway.site_id, for which the device's key gives a token",
        )
    seen: dict[tuple[str, str], int] = {}
    for number, each in enumerate(settings.gateways):
        if each.site_id is None:
            raise given.missing("gateways.site_id", number)
        for name in ("site_id", "mqtt", "rest"):
            first = seen.setdefault((name, getattr(each, name)), number)
            if first != number:
                raise given.wrong(
                    f"gateways.{name}", f"another one than in table {first + 1}", number
                )
        pin = settings.gateways[0].genesis_block_id
        if each.genesis_block_id != pin:
            raise given.wrong(
                "gateways.genesis_block_id",
                f"the ledger of table 1, as a network has one: {pin!r:.{SHOWN}}",
                number,
            )


def _check_sensors(settings: Settings, given: Given) -> None:
    """Check that live sensors, cameras and presence have what their drivers need."""
    source, presence = settings.source, settings.presence
    if source and source.driver == "sensors" and not settings.sensors:
        raise SettingsError(
            f"key source.driver: `sensors` needs at least one table [[sensors]] in {given.file}"
        )
    if settings.cameras and not (source and source.driver == "sensors"):
        raise given.wrong("source.driver", "`sensors`, as there are tables [[cameras]]")
    _check_drivers(settings, given)
    _check_display(settings, given)
    if presence is None:
        return
    if presence.by in ("network-manager", "wifi") and not presence.ssids:
        raise given.wrong("presence.ssids", f"a site's network for `{presence.by}`")
    if presence.by == "file" and presence.file is None:
        raise given.wrong("presence.file", "a file for `file`")


def _check_drivers(settings: Settings, given: Given) -> None:
    """Check that sensors and cameras have different names, and what their drivers need."""
    names: set[str] = set()
    lists: list[tuple[str, Sequence[SensorSettings | CameraSettings], _Needed]] = [
        ("sensors", settings.sensors, NEEDED),
        ("cameras", settings.cameras, NEEDED_BY_CAMERA),
    ]
    for section, tables, needed in lists:
        for number, each in enumerate(tables):
            if each.name in names:
                other = "a name that no other sensor or camera has"
                raise given.wrong(f"{section}.name", other, number)
            names.add(each.name)
            for key in needed[each.driver]:
                if getattr(each, key) is None:
                    because = f"; driver {each.driver} needs it"
                    raise given.missing(f"{section}.{key}", number, because)
    _check_addresses(settings, given)


def _check_addresses(settings: Settings, given: Given) -> None:
    """Check that no two sensors empty the FIFO of one chip: each would miss knocks."""
    taken: dict[tuple[int, int], str] = {}
    for number, each in enumerate(settings.sensors):
        if each.driver != "lsm9ds1":
            continue
        place = (each.bus, each.address)
        if place in taken:
            at = f"address {each.address:#x} of I2C bus {each.bus}"
            other = f"no second sensor at {at}, where {taken[place]} is"
            raise given.wrong("sensors.name", other, number)
        taken[place] = each.name


def _check_display(settings: Settings, given: Given) -> None:
    """Check that a lamp has one pin, or one of its own for each colour."""
    display = settings.display
    if display is None:
        return
    colours = display.colours
    if display.lamp_pin is not None and any(pin is not None for pin in colours):
        raise given.wrong("display.lamp_pin", "no value, as there are pins of colours")
    if any(pin is not None for pin in colours):
        for name, pin in zip(("red", "green", "blue"), colours, strict=True):
            if pin is None:
                raise given.missing(f"display.{name}_pin", None, "; each colour needs its pin")
    taken = {each.pin: f"sensor {each.name}" for each in settings.sensors}
    for name in ("lamp_pin", "red_pin", "green_pin", "blue_pin"):
        pin = getattr(display, name)
        if pin is not None and pin in taken:
            raise given.wrong(f"display.{name}", f"a free pin, {pin} has the {taken[pin]}")
        taken[pin] = name
    if not display.pins and display.oled_address is None:
        raise given.missing(
            "display.lamp_pin", None, ", or the pins of three colours, or oled_address"
        )


def _check_certificates(settings: Settings, given: Given) -> None:
    tables: list[tuple[GatewaySettings, str, int | None]] = [
        (each, "gateways", number) for number, each in enumerate(settings.gateways)
    ]
    if settings.gateway:
        tables.append((settings.gateway, "gateway", None))
    for gateway, section, number in tables:
        if (gateway.tls_certificate is None) != (gateway.tls_key is None):
            name = "tls_key" if gateway.tls_key is None else "tls_certificate"
            raise given.missing(f"{section}.{name}", number, "; a certificate needs its key")
