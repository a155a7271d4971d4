"""Loads the settings: one TOML file, environment variables over it, all checked at start.

The variable of a key is WAYSEAL_ and the key in capitals, with two underscores after its
section: `device_id` is WAYSEAL_DEVICE_ID, `mqtt` in [gateway] is WAYSEAL_GATEWAY__MQTT. Lists
are separated by commas. The tables of [[gateways]], [[sensors]] and [[cameras]] have no
variables. Relative paths in the file count from the file's folder.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from msgspec import ValidationError, convert
from msgspec.structs import fields

from contracts.errors import RejectedError
from contracts.runtime.files import check_private
from contracts.runtime.keynames import (
    VARIABLE_PREFIX,
    misspelt_variables,
    unknown_key,
    variable_of,
)
from device.settings import GatewaySettings, Settings, SettingsError
from device.settings_keys import ALL_KEYS, KEYS, LISTS, SECTIONS, expected, metas
from device.settings_live import NEEDED, NEEDED_BY_CAMERA, CameraSettings, SensorSettings

CONFIG_VARIABLE: Final = "WAYSEAL_DEVICE_CONFIG"
CONFIG_BYTES_MAX: Final = 1 << 20
USUAL: Final = Path("/etc/wayseal/device.toml")
"""Where the service's settings are."""
_SHOWN: Final = 60
_Needed = Mapping[str, Sequence[str]]
_HIDDEN: Final = ("gateway.token", "gateways.token", "cameras.url")
_WHOLE: Final = re.compile(r"[0-9]{1,20}")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_TABLE: Final = re.compile(r"\.(gateways|sensors|cameras)\[([0-9]+)\](.*)", re.DOTALL)


def settings_path(config: Path | None) -> Path:
    """Return where the settings of a new truck go."""
    return config or Path(os.environ.get(CONFIG_VARIABLE) or USUAL)


def load(config: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read and check the settings.

    Args:
        config: TOML file. None takes that of $WAYSEAL_DEVICE_CONFIG; without that the variables
            alone if they name the device, else the service's file.
        environment: Environment variables, which win over the file.

    Raises:
        SettingsError: Names the key, the expected and the actual value, and the file or variable.
    """
    path = _file_of(config, environment)
    given = _Given(path, _parse(path) if path else {}, {})
    given.check_private()
    given.take_variables(environment)
    if path is None and "device_id" not in given.variables:
        raise SettingsError(
            f"no settings: {USUAL} is missing; give --config FILE, set ${CONFIG_VARIABLE}, or set "
            f"${variable_of('device_id')}, ${variable_of('data')} and whatever else is needed"
        )
    given.check_one_form()
    given.read_texts()
    try:
        settings = convert(given.values, Settings, dec_hook=_path_of)
    except ValidationError as error:
        raise given.explained(str(error)) from error
    given.check(settings)
    return settings


def _file_of(config: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the settings file; None if it is missing, or if variables hold the settings."""
    if config or environment.get(CONFIG_VARIABLE):
        return config or Path(environment[CONFIG_VARIABLE])
    is_there = os.path.lexists(USUAL) and variable_of("device_id") not in environment
    return USUAL if is_there else None


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
        path: The file; None if variables say all.
        values: Its keys and sections; variables win over them.
        variables: Name of the variable that set a key, by the key's full name.
    """

    path: Path | None
    values: dict[str, Any]
    variables: dict[str, str]

    def check_private(self) -> None:
        """Check that others cannot read a file with a token or a camera's password.

        Raises:
            SettingsError: They can.
        """
        for section, _, table in self._tables():
            for key in _HIDDEN:
                name = key.removeprefix(f"{section}.")
                is_secret = name == "token" or "@" in str(table.get(name))
                if self.path and name in table and is_secret:
                    try:
                        check_private(f"key {key} in", self.path)
                    except RejectedError as error:
                        raise SettingsError(str(error)) from error

    def take_variables(self, environment: Mapping[str, str]) -> None:
        """Put the variables over the file; variables of other programs are left alone.

        Raises:
            SettingsError: A variable has almost the name of one of ours, or that of a list.
        """
        for variable in environment:
            name = variable.removeprefix(VARIABLE_PREFIX).lower().partition("__")[0]
            if variable.startswith(VARIABLE_PREFIX) and name in LISTS:
                raise SettingsError(
                    f"variable ${variable}: [[{name}]] has no variables; write it in {self._file}"
                )
        for given, meant in misspelt_variables(environment, KEYS).items():
            if given.removeprefix(VARIABLE_PREFIX).lower().partition("__")[0] not in SECTIONS:
                raise SettingsError(f"variable ${given}: unknown, did you mean ${meant}?")
        for variable, text in environment.items():
            name = variable.removeprefix(VARIABLE_PREFIX).lower()
            section, _, key = name.rpartition("__")
            ours = section in SECTIONS or (not section and key in KEYS)
            if variable.startswith(VARIABLE_PREFIX) and ours:
                table = self.values.setdefault(section, {}) if section else self.values
                if isinstance(table, dict):
                    table[key] = text
                    self.variables[name.replace("__", ".")] = variable

    def check_one_form(self) -> None:
        """Check that the gateways come in one form.

        Raises:
            SettingsError: There are both [gateway], of the file or of variables, and [[gateways]].
        """
        if "gateway" in self.values and "gateways" in self.values:
            named = sorted(v for key, v in self.variables.items() if key.startswith("gateway."))
            where = f"${named[0]}" if named else self._file
            raise SettingsError(
                f"expected [gateway] or [[gateways]], got [[gateways]] in {self._file} and "
                f"[gateway] in {where}: make the one site a table of [[gateways]] too"
            )

    def read_texts(self) -> None:
        """Turn texts into the lists, numbers and paths that their keys expect."""
        for section, _, table in self._tables():
            for name in table:
                key = f"{section}.{name}" if section else name
                if key in ALL_KEYS:
                    of_file = self.path if key not in self.variables else None
                    folder = of_file.absolute().parent if of_file else Path.cwd()
                    table[name] = _read(ALL_KEYS[key].type, table[name], folder)

    def _tables(self) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
        """Yield each table that there is: its section, its number in a list, and its values."""
        yield "", None, self.values
        for name in (*SECTIONS, *LISTS):
            there = self.values.get(name)
            if isinstance(there, dict) and name in SECTIONS:
                yield name, None, there
            elif isinstance(there, list) and name in LISTS:
                tables = [each for each in enumerate(there) if isinstance(each[1], dict)]
                yield from ((name, number, table) for number, table in tables)

    def explained(self, problem: str) -> SettingsError:
        """Say what is wrong, given what msgspec says: `Expected ... - at `$.section.key``."""
        what, _, place = problem.partition(" - at `$")
        listed = _TABLE.match(place.strip("`"))
        number = int(listed[2]) if listed else None
        key = (listed[1] + listed[3] if listed else place).strip("`.").partition("[")[0]
        field = _FIELD.fullmatch(what)
        if field is None:
            return self.wrong(key, expected(key), number)
        name = f"{key}.{field[2]}" if key else field[2]
        if field[1] == "contains unknown":
            origin = self._origin(name, number)
            known = [*ALL_KEYS, *SECTIONS, *LISTS]
            return SettingsError(f"key {unknown_key(name, origin, known)}")
        return self._missing(name, number)

    def check(self, settings: Settings) -> None:
        """Check what goes beyond one value's type and range.

        Raises:
            SettingsError: Names the first wrong key.
        """
        for key in KEYS:
            section, _, name = key.rpartition(".")
            table = getattr(settings, section) if section else settings
            self._check_value(key, getattr(table, name, None), None)
        for name, kind in LISTS.items():
            for number, table in enumerate(getattr(settings, name)):
                for field in fields(kind):
                    self._check_value(f"{name}.{field.name}", getattr(table, field.name), number)
        self._check_sites(settings)
        self._check_sensors(settings)
        self._check_certificates(settings)
        batch, source = settings.batch, settings.source
        if batch.readings_per_transaction > batch.max_readings:
            raise self.wrong(
                "batch.readings_per_transaction",
                f"at most batch.max_readings = {batch.max_readings}",
            )
        if source and source.driver == "replay" and source.readings is None:
            raise self.wrong("source.readings", "a CSV file for driver replay")
        if settings.clock.file and settings.clock.gpsd:
            raise self.wrong("clock.gpsd", "no value, as there is clock.file")

    def _check_value(self, key: str, value: object, number: int | None) -> None:
        items = value if isinstance(value, tuple) else (value,) if value is not None else ()
        if len(set(items)) != len(items):
            raise self.wrong(key, expected(key), number)
        for meta in metas(ALL_KEYS[key].type):
            try:
                list(map(meta.extra["check"] if meta.extra else str, items))
            except (ValueError, RejectedError) as error:
                raise self.wrong(key, meta.description, number) from error

    def _check_sites(self, settings: Settings) -> None:
        """Check that a token is there or can be made, and that several sites are told apart."""
        gateway = settings.gateway
        if gateway and not gateway.token and gateway.site_id is None:
            raise self._missing(
                "gateway.token",
                None,
                "; or set gateway.site_id, for which the device's key gives a token",
            )
        seen: dict[tuple[str, str], int] = {}
        for number, each in enumerate(settings.gateways):
            if each.site_id is None:
                raise self._missing("gateways.site_id", number)
            for name in ("site_id", "mqtt", "rest"):
                first = seen.setdefault((name, getattr(each, name)), number)
                if first != number:
                    raise self.wrong(
                        f"gateways.{name}", f"another one than in table {first + 1}", number
                    )
            pin = settings.gateways[0].genesis_block_id
            if each.genesis_block_id != pin:
                raise self.wrong(
                    "gateways.genesis_block_id",
                    f"the ledger of table 1, as a network has one: {pin!r:.{_SHOWN}}",
                    number,
                )

    def _check_sensors(self, settings: Settings) -> None:
        """Check that live sensors, cameras and presence have what their drivers need."""
        source, presence = settings.source, settings.presence
        if source and source.driver == "sensors" and not settings.sensors:
            raise SettingsError(
                f"key source.driver: `sensors` needs at least one table [[sensors]] in {self._file}"
            )
        if settings.cameras and not (source and source.driver == "sensors"):
            raise self.wrong("source.driver", "`sensors`, as there are tables [[cameras]]")
        self._check_drivers(settings)
        self._check_display(settings)
        if presence is None:
            return
        if presence.by in ("network-manager", "wifi") and not presence.ssids:
            raise self.wrong("presence.ssids", f"a site's network for `{presence.by}`")
        if presence.by == "file" and presence.file is None:
            raise self.wrong("presence.file", "a file for `file`")

    def _check_drivers(self, settings: Settings) -> None:
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
                    raise self.wrong(f"{section}.name", other, number)
                names.add(each.name)
                for key in needed[each.driver]:
                    if getattr(each, key) is None:
                        because = f"; driver {each.driver} needs it"
                        raise self._missing(f"{section}.{key}", number, because)
        self._check_addresses(settings)

    def _check_addresses(self, settings: Settings) -> None:
        """Check that no two sensors empty the FIFO of one chip: each would miss knocks."""
        taken: dict[tuple[int, int], str] = {}
        for number, each in enumerate(settings.sensors):
            if each.driver != "lsm9ds1":
                continue
            place = (each.bus, each.address)
            if place in taken:
                at = f"address {each.address:#x} of I2C bus {each.bus}"
                other = f"no second sensor at {at}, where {taken[place]} is"
                raise self.wrong("sensors.name", other, number)
            taken[place] = each.name

    def _check_display(self, settings: Settings) -> None:
        """Check that a lamp has one pin, or one of its own for each colour."""
        display = settings.display
        if display is None:
            return
        colours = display.colours
        if display.lamp_pin is not None and any(pin is not None for pin in colours):
            raise self.wrong("display.lamp_pin", "no value, as there are pins of colours")
        if any(pin is not None for pin in colours):
            for name, pin in zip(("red", "green", "blue"), colours, strict=True):
                if pin is None:
                    raise self._missing(f"display.{name}_pin", None, "; each colour needs its pin")
        taken = {each.pin: f"sensor {each.name}" for each in settings.sensors}
        for name in ("lamp_pin", "red_pin", "green_pin", "blue_pin"):
            pin = getattr(display, name)
            if pin is not None and pin in taken:
                raise self.wrong(f"display.{name}", f"a free pin, {pin} has the {taken[pin]}")
            taken[pin] = name
        if not display.pins and display.oled_address is None:
            raise self._missing(
                "display.lamp_pin", None, ", or the pins of three colours, or oled_address"
            )

    def _check_certificates(self, settings: Settings) -> None:
        tables: list[tuple[GatewaySettings, str, int | None]] = [
            (each, "gateways", number) for number, each in enumerate(settings.gateways)
        ]
        if settings.gateway:
            tables.append((settings.gateway, "gateway", None))
        for gateway, section, number in tables:
            if (gateway.tls_certificate is None) != (gateway.tls_key is None):
                name = "tls_key" if gateway.tls_key is None else "tls_certificate"
                raise self._missing(f"{section}.{name}", number, "; a certificate needs its key")

    def wrong(self, key: str, expected: str | None, number: int | None = None) -> SettingsError:
        """Say what `key` should be, what it is, and where that came from.

        Args:
            key: Its full name.
            expected: In words.
            number: Of its table, if its section is a list; from 0.
        """
        section, _, name = key.rpartition(".")
        table: Any = self.values.get(section, {}) if section else self.values
        if key in (*_HIDDEN, *SECTIONS, *LISTS):  # a token in the place of its section
            shown = "something else"
        else:
            value = (table if number is None else table[number]).get(name)
            shown = f"{value!r:.{_SHOWN}}"
        return SettingsError(
            f"key {key}: expected {expected}, got {shown} in {self._origin(key, number)}"
        )

    def _missing(self, key: str, number: int | None, otherwise: str = "") -> SettingsError:
        where = self._origin(key, number) + (f" or ${variable_of(key)}" if key in KEYS else "")
        return SettingsError(
            f"key {key}: expected a value, it is missing; set it in {where}{otherwise}"
        )

    def _origin(self, key: str, number: int | None = None) -> str:
        if number is not None:
            name = key.partition(".")[0]
            return f"table {number + 1} of [[{name}]] in {self._file}"
        return f"${self.variables[key]}" if key in self.variables else self._file

    @property
    def _file(self) -> str:
        return str(self.path) if self.path else "a file given with --config"


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


def _path_of(_kind: type, value: object) -> Path:
    """Return `value`, which is the one kind that msgspec does not know."""
    if not isinstance(value, Path):
        raise ValueError("expected a path")  # noqa: TRY004 - msgspec adds the key to a ValueError
    return value
