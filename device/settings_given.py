"""What the file and the environment say, key by key, and where each value came from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from contracts.errors import RejectedError
from contracts.runtime.files import check_private
from contracts.runtime.keynames import (
    VARIABLE_PREFIX,
    misspelt_variables,
    unknown_key,
    variable_of,
)
from device.settings import SettingsError
from device.settings_keys import ALL_KEYS, KEYS, LISTS, SECTIONS, expected

SHOWN: Final = 60
"""Characters of a wrong value that a message shows."""
_HIDDEN: Final = ("gateway.token", "gateways.token", "cameras.url")
_WHOLE: Final = re.compile(r"[0-9]{1,20}")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_TABLE: Final = re.compile(r"\.(gateways|sensors|cameras)\[([0-9]+)\](.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Given:
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
                    f"variable ${variable}: [[{name}]] has no variables; write it in {self.file}"
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
            where = f"${named[0]}" if named else self.file
            raise SettingsError(
                f"expected [gateway] or [[gateways]], got [[gateways]] in {self.file} and "
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
        return self.missing(name, number)

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
            shown = f"{value!r:.{SHOWN}}"
        return SettingsError(
            f"key {key}: expected {expected}, got {shown} in {self._origin(key, number)}"
        )

    def missing(self, key: str, number: int | None, otherwise: str = "") -> SettingsError:
        """Say that `key` needs a value, and where to set it.

        Args:
            key: Its full name.
            number: Of its table, as in `wrong`.
            otherwise: What else helps, or why it is needed; the end of the sentence.
        """
        where = self._origin(key, number) + (f" or ${variable_of(key)}" if key in KEYS else "")
        return SettingsError(
            f"key {key}: expected a value, it is missing; set it in {where}{otherwise}"
        )

    def _origin(self, key: str, number: int | None = None) -> str:
        if number is not None:
            name = key.partition(".")[0]
            return f"table {number + 1} of [[{name}]] in {self.file}"
        return f"${self.variables[key]}" if key in self.variables else self.file

    @property
    def file(self) -> str:
        """The file, in words."""
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
