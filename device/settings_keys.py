"""Every key of the device's settings, by its full name, and what it takes in words."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from msgspec import Meta
from msgspec.structs import FieldInfo, fields

from device.settings import GATEWAYS_MAX, GatewaySettings, Settings
from device.settings_live import CAMERAS_MAX, SENSORS_MAX, CameraSettings, SensorSettings
from device.settings_types import Section

LISTS: Final[dict[str, type[Section]]] = {
    "gateways": GatewaySettings,
    "sensors": SensorSettings,
    "cameras": CameraSettings,
}
"""Sections that may come several times, each as its own table."""
SECTIONS: Final[dict[str, type[Section]]] = {
    field.name: kind
    for field in fields(Settings)
    for kind in (field.type, *get_args(field.type))
    if isinstance(kind, type) and issubclass(kind, Section)
}
KEYS: Final[dict[str, FieldInfo]] = {
    field.name: field for field in fields(Settings) if field.name not in {*SECTIONS, *LISTS}
} | {
    f"{section}.{field.name}": field for section, kind in SECTIONS.items() for field in fields(kind)
}
"""Every key that has a variable, by its full name, such as `gateway.mqtt`."""
ALL_KEYS: Final[dict[str, FieldInfo]] = KEYS | {
    f"{name}.{field.name}": field for name, kind in LISTS.items() for field in fields(kind)
}


def metas(kind: Any) -> Iterator[Meta]:  # noqa: ANN401
    """Yield what the type says of its values, then what it says of their items."""
    yield from (each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Meta))
    for inner in get_args(kind):
        yield from metas(inner)


def expected(key: str) -> str | None:
    """Return what a key or section takes, in words."""
    if key == "sensors":
        return f"1 to {SENSORS_MAX} tables [[sensors]]"
    if key == "cameras":
        return f"1 to {CAMERAS_MAX} tables [[cameras]]"
    if key in ("gateway", "gateways"):
        return f"a section [gateway], or 1 to {GATEWAYS_MAX} tables [[gateways]]"
    if key in SECTIONS:
        return "a section"
    return next((meta.description for meta in metas(ALL_KEYS[key].type)), "a path")
