"""Loads the settings: one TOML file, environment variables over it, all checked at start.

The variable of a key is WAYSEAL_ and the key in capitals, with two underscores after its
section: `device_id` is WAYSEAL_DEVICE_ID, `mqtt` in [gateway] is WAYSEAL_GATEWAY__MQTT. Lists
are separated by commas. Relative paths in the file count from the file's folder.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from msgspec import Meta, ValidationError, convert
from msgspec.structs import FieldInfo, fields

from contracts.errors import RejectedError
from contracts.runtime.files import check_private
from contracts.runtime.keynames import (
    VARIABLE_PREFIX,
    misspelt_variables,
    unknown_key,
    variable_of,
)
from device.settings import Section, Settings, SettingsError

CONFIG_VARIABLE: Final = "WAYSEAL_DEVICE_CONFIG"
CONFIG_BYTES_MAX: Final = 1 << 20
_SHOWN: Final = 60
_HIDDEN: Final = "gateway.token"
_WHOLE: Final = re.compile(r"[0-9]{1,20}")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_SECTIONS: Final[dict[str, type[Section]]] = {
    field.name: kind
    for field in fields(Settings)
    for kind in (field.type, *get_args(field.type))
    if isinstance(kind, type) and issubclass(kind, Section)
}
KEYS: Final[dict[str, FieldInfo]] = {
    field.name: field for field in fields(Settings) if field.name not in _SECTIONS
} | {
    f"{section}.{field.name}": field
    for section, kind in _SECTIONS.items()
    for field in fields(kind)
}
"""Every key by its full name, such as `gateway.mqtt`."""


def load(config: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read and check the settings.

    Args:
        config: TOML file; None takes $WAYSEAL_DEVICE_CONFIG.
        environment: Environment variables, which win over the file.

    Raises:
        SettingsError: Names the key, the expected and the actual value, and the file or variable.
    """
    path = config or Path(environment.get(CONFIG_VARIABLE, ""))
    if path == Path():
        raise SettingsError(f"no settings: give --config FILE or set ${CONFIG_VARIABLE}")
    given = _Given(path, _parse(path), {})
    given.check_private()
    given.take_variables(environment)
    given.read_texts()
    try:
        settings = convert(given.values, Settings, dec_hook=_path_of)
    except ValidationError as error:
        raise given.explained(str(error)) from error
    given.check(settings)
    return settings


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(CONFIG_BYTES_MAX + 1)
        if len(raw) > CONFIG_BYTES_MAX:
            raise SettingsError(f"settings {path}: expected at most {CONFIG_BYTES_MAX} bytes")
        return tomllib.loads(raw.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"settings {path}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Given:
    """What the file and the environment say.

    Attributes:
        path: The file.
        values: Its keys and sections; variables win over them.
        variables: Name of the variable that set a key, by the key's full name.
    """

    path: Path
    values: dict[str, Any]
    variables: dict[str, str]

    def check_private(self) -> None:
        """Check that others cannot read a file with a token.

        Raises:
            SettingsError: They can.
        """
        gateway = self.values.get("gateway")
        if isinstance(gateway, dict) and "token" in gateway:
            try:
                check_private(f"key {_HIDDEN} in", self.path)
            except RejectedError as error:
                raise SettingsError(str(error)) from error

    def take_variables(self, environment: Mapping[str, str]) -> None:
        """Put the variables over the file; variables of other programs are left alone.

        Raises:
            SettingsError: A variable has almost the name of one of ours.
        """
        for given, meant in misspelt_variables(environment, KEYS).items():
            if given.removeprefix(VARIABLE_PREFIX).lower().partition("__")[0] not in _SECTIONS:
                raise SettingsError(f"variable ${given}: unknown, did you mean ${meant}?")
        for variable, text in environment.items():
            name = variable.removeprefix(VARIABLE_PREFIX).lower()
            section, _, key = name.rpartition("__")
            ours = section in _SECTIONS or (not section and key in KEYS)
            if variable.startswith(VARIABLE_PREFIX) and ours:
                table = self.values.setdefault(section, {}) if section else self.values
                if isinstance(table, dict):
                    table[key] = text
                    self.variables[name.replace("__", ".")] = variable

    def read_texts(self) -> None:
        """Turn texts into the lists, numbers and paths that their keys expect."""
        for key, field in KEYS.items():
            section, _, name = key.rpartition(".")
            table = self.values.get(section) if section else self.values
            if isinstance(table, dict) and name in table:
                folder = Path.cwd() if key in self.variables else self.path.absolute().parent
                table[name] = _read(field.type, table[name], folder)

    def explained(self, problem: str) -> SettingsError:
        """Say what is wrong, given what msgspec says: `Expected ... - at `$.section.key``."""
        what, _, place = problem.partition(" - at `$")
        key = place.strip("`.").partition("[")[0]
        field = _FIELD.fullmatch(what)
        if field is None:
            return self.wrong(key, _expected(key))
        name = f"{key}.{field[2]}" if key else field[2]
        if field[1] == "contains unknown":
            return SettingsError(
                f"key {unknown_key(name, self._origin(name), [*KEYS, *_SECTIONS])}"
            )
        return SettingsError(
            f"key {name}: expected a value, it is missing; set it in {self.path} or "
            f"${variable_of(name)}"
        )

    def check(self, settings: Settings) -> None:
        """Check what goes beyond one value's type and range.

        Raises:
            SettingsError: Names the first wrong key.
        """
        for key, field in KEYS.items():
            section, _, name = key.rpartition(".")
            value = getattr(getattr(settings, section) if section else settings, name, None)
            items = value if isinstance(value, tuple) else (value,) if value is not None else ()
            if len(set(items)) != len(items):
                raise self.wrong(key, _expected(key))
            for meta in _metas(field.type):
                try:
                    list(map(meta.extra["check"] if meta.extra else str, items))
                except (ValueError, RejectedError) as error:
                    raise self.wrong(key, meta.description) from error
        batch, source = settings.batch, settings.source
        if batch.readings_per_transaction > batch.max_readings:
            raise self.wrong(
                "batch.readings_per_transaction",
                f"at most batch.max_readings = {batch.max_readings}",
            )
        if source and source.driver == "replay" and source.readings is None:
            raise self.wrong("source.readings", "a CSV file for driver replay")

    def wrong(self, key: str, expected: str | None) -> SettingsError:
        """Say what `key` should be, what it is, and where that came from."""
        section, _, name = key.rpartition(".")
        value = (self.values.get(section, {}) if section else self.values).get(name)
        hidden = key == _HIDDEN or key in _SECTIONS  # a token in the place of its section
        shown = "something else" if hidden else f"{value!r:.{_SHOWN}}"
        return SettingsError(f"key {key}: expected {expected}, got {shown} in {self._origin(key)}")

    def _origin(self, key: str) -> str:
        return f"${self.variables[key]}" if key in self.variables else str(self.path)


def _read(kind: Any, value: object, folder: Path) -> object:  # noqa: ANN401 - types have no type
    """Return what a text stands for where `kind` expects a list, a number or a path."""
    if isinstance(value, str) and _holds(kind, tuple):
        value = [item.strip() for item in value.split(",") if item.strip()]
    if isinstance(value, list) and _holds(kind, tuple) and _holds(kind, Path):
        return [_read(Path, item, folder) for item in value if item != ""]
    if isinstance(value, str) and value and "\0" not in value and _holds(kind, Path):
        return folder / value
    if isinstance(value, str) and _holds(kind, int) and _WHOLE.fullmatch(value):
        return int(value)
    return value


def _holds(kind: Any, wanted: type) -> bool:  # noqa: ANN401
    return wanted in (kind, get_origin(kind)) or any(
        _holds(each, wanted) for each in get_args(kind)
    )


def _metas(kind: Any) -> Iterator[Meta]:  # noqa: ANN401
    """Yield what the type says of its values, then what it says of their items."""
    yield from (each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Meta))
    for inner in get_args(kind):
        yield from _metas(inner)


def _expected(key: str) -> str | None:
    if key in _SECTIONS:
        return "a section"
    return next((meta.description for meta in _metas(KEYS[key].type)), "a path")


def _path_of(_kind: type, value: object) -> Path:
    """Return `value`, which is the one kind that msgspec does not know."""
    if not isinstance(value, Path):
        raise ValueError("expected a path")  # noqa: TRY004 - msgspec adds the key to a ValueError
    return value
