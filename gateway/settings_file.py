"""Loads the gateway's settings: one TOML file, environment variables over it, checked at start.

The variable of a key is WAYSEAL_ and the key in capitals, with two underscores after its section:
`url` in [ledger] is WAYSEAL_LEDGER__URL. No value of an unknown key is ever shown, because it may
be a password whose key is misspelt.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from contracts.errors import RejectedError
from contracts.runtime.files import check_private
from contracts.runtime.keynames import misspelt_variables, unknown_key, variable_of
from gateway.settings import Settings

_UNKNOWN: Final = "extra_forbidden"
_NO_SECTION: Final = ("dict_type", "model_attributes_type", "model_type")
_SHOWN: Final = 80


def load_settings(path: Path | None) -> Settings:
    """Read the settings file, if any, and the environment.

    Raises:
        RejectedError: The file is unreadable or not TOML, a key or variable is unknown, a key is
            missing or invalid, or others may read a password in the file.
    """
    values = _parse(path) if path is not None else {}
    for given, meant in misspelt_variables(os.environ, known_keys()).items():
        if not _is_nested(given):
            raise RejectedError(f"variable ${given}: unknown, did you mean ${meant}?")
    try:
        return Settings(**values)
    except ValidationError as error:
        raise RejectedError(_explained(error.errors(), path)) from error
    except SettingsError as error:
        raise RejectedError(f"settings in the environment: {error}") from error


def known_keys(table: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    """Return the full names of all keys and sections; the name of a volume is not one."""
    found = []
    for name, field in table.model_fields.items():
        found.append(prefix + name)
        inner = _section(field.annotation)
        if inner is not None and get_origin(field.annotation) is None:
            found += known_keys(inner, f"{prefix}{name}.")
    return found


def _parse(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text("utf-8"))
        if any(isinstance(each, dict) and each.get("password") for each in values.values()):
            check_private("settings file with a password", path)
    except (OSError, ValueError, RecursionError) as error:
        raise RejectedError(f"settings file {path}: {error}") from error
    return values


def _explained(errors: list[ErrorDetails], path: Path | None) -> str:
    """Say which keys are unknown, all of them, or else the fault of the first key."""
    unknown = [each["loc"] for each in errors if each["type"] == _UNKNOWN]
    if unknown:
        return "; ".join(f"setting {_unknown(loc, path)}" for loc in unknown)
    first = errors[0]
    loc, key = first["loc"], ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        place = f"{path} or " if path else "a file given with --config, or "
        return (
            f"setting {key}: expected a value, it is missing; set it in {place}${variable_of(key)}"
        )
    if first["type"] in _NO_SECTION:
        return f"setting {key}: expected a section, got something else in {_origin(loc, path)}"
    # Of two keys that exclude each other pydantic gives the whole table, which may hold a password.
    secret = isinstance(first["input"], dict) or key.endswith("password")
    came = "" if secret else f", got {first['input']!r:.{_SHOWN}}"
    origin = f" in {_origin(loc, path)}" if key else ""
    said = first["msg"].removeprefix("Value error, ")
    return f"setting{key and ' '}{key}: {said}{came}{origin}"


def _unknown(loc: tuple[int | str, ...], path: Path | None) -> str:
    known = known_keys()
    table = _table(loc[:-1])
    section = ".".join(map(str, loc[:-1]))
    if table is not None and section:  # the section of one volume, whose name anyone chooses
        known += [f"{section}.{name}" for name in table.model_fields]
    name = ".".join(map(str, loc))
    return unknown_key(name, _origin(loc, path), list(dict.fromkeys(known)))


def _origin(loc: tuple[int | str, ...], path: Path | None) -> str:
    """Return the variable that sets a key or its section, or the file."""
    variables = {name.upper(): name for name in os.environ}
    for end in range(len(loc), 0, -1):
        variable = variable_of(".".join(map(str, loc[:end])))
        if variable in variables:
            return f"${variables[variable]}"
    return str(path or "the environment")


def _is_nested(variable: str) -> bool:
    """Say whether a variable is in a section of ours: pydantic reads it, and refuses it itself."""
    section, separator, _ = variable.upper().partition("__")
    sections = {variable_of(name) for name in Settings.model_fields if _table((name,))}
    return bool(separator) and section in sections


def _table(loc: tuple[int | str, ...]) -> type[BaseModel] | None:
    """Return the section at a place, or None if it has no keys of ours."""
    table: type[BaseModel] | None = Settings
    named = iter(loc)
    for name in named:
        field = table.model_fields.get(str(name)) if table else None
        table = _section(field.annotation) if field else None
        if field and get_origin(field.annotation) is dict:
            next(named, None)
    return table


def _section(kind: Any) -> type[BaseModel] | None:  # noqa: ANN401 - types have no type
    """Return the section that a type stands for, or None."""
    return next(_sections(kind), None)


def _sections(kind: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            yield each
