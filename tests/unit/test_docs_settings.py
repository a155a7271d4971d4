"""docs/operator.md names every setting with its variable and default, and no other."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_origin

from msgspec import NODEFAULT
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from device.settings_keys import KEYS as DEVICE_KEYS
from gateway.settings import Settings
from support.project.pages import ROOT, rows

PAGE = ROOT / "docs" / "operator.md"
PREFIX = "WAYSEAL_"


def gateway_keys(table: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield every key of the gateway with its default."""
    for name, field in table.model_fields.items():
        kind = field.annotation
        named = next(iter(get_args(kind)[1:]), None) if get_origin(kind) is dict else None
        if isinstance(named, type) and issubclass(named, BaseModel):
            yield from gateway_keys(named, f"{prefix}{name}.NAME.")
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from gateway_keys(kind, f"{name}.")
        else:
            yield prefix + name, NODEFAULT if field.default is PydanticUndefined else field.default


def device_keys() -> Iterator[tuple[str, object]]:
    """Yield every key of the device with its default."""
    for name, field in DEVICE_KEYS.items():
        yield name, None if field.default == Path() else field.default


def shown(default: object) -> set[str]:
    """Return how a default may stand in the table."""
    if default is NODEFAULT:
        return {"required"}
    if default in (None, "", (), {}, []):
        return {"none", "empty"}
    if isinstance(default, list | tuple):
        return {", ".join(f"`{each}`" for each in default)}
    return {f"`{str(default).lower() if isinstance(default, bool) else default}`"}


def check(heading: str, keys: dict[str, object]) -> None:
    listed = {row[0].strip("` |"): row for row in rows(PAGE, heading)}
    assert list(listed) == list(keys)
    for name, default in keys.items():
        variable, words, meaning = listed[name][1:]
        assert variable == f"`{PREFIX}{name.upper().replace('.', '__')}`"
        derived = default in (None, "") and words.startswith("`DATA/")
        assert derived or words in shown(default), f"{name}: {words}, the code says {default!r}"
        assert meaning.strip(" |")


def test_settings_of_the_gateway() -> None:
    check("## Settings of the gateway", dict(gateway_keys(Settings)))


def test_settings_of_the_device() -> None:
    check("## Settings of the device", dict(device_keys()))
