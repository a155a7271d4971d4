"""Checking settings: which keys exist, what each must be, where its value came from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from contracts.errors import RejectedError

VARIABLE_PREFIX: Final = "WAYSEAL_"
REQUIRED: Final = object()
_SHOWN: Final = 60
_SECRET: Final = ("token",)

Check = Callable[[object], Any]


class SettingsError(RejectedError):
    """The settings are wrong; nothing was started."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that may stand in the settings.

    Attributes:
        check: Returns the value, or raises ValueError with what was expected.
        default: Its value when missing; `REQUIRED` when there is none.
    """

    check: Check
    default: object


def text(check: Callable[[str], str] = str) -> Check:
    """Return the check of a text, empty allowed unless `check` refuses it."""

    def checked(value: object) -> str:
        if not isinstance(value, str) or not value or "\0" in value:
            raise ValueError("a text")
        return check(value)

    return checked


def integer(low: int, high: int) -> Check:
    """Return the check of a whole number, which the environment gives as text."""

    def checked(value: object) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:  # noqa: PLR2004 - beyond any limit
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"a whole number within {low}..{high}")
        return value

    return checked


def listing(check: Callable[[str], str], limit: int) -> Check:
    """Return the check of a list of at most `limit` texts; the environment joins them by commas."""

    def checked(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [item.strip() for item in value.split(",") if item.strip()]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError("a list of texts")
        if len(value) > limit or len(set(value)) != len(value):
            raise ValueError(f"at most {limit} texts, each once")
        return tuple(check(item) for item in value)

    return checked


@dataclass(frozen=True, slots=True)
class Table:
    """The checked values, by section and key; the section "" is the top."""

    values: dict[str, dict[str, Any]]
    from_variable: frozenset[tuple[str, str]]
    base: Path

    @classmethod
    def of(
        cls,
        document: Mapping[str, Any],
        environment: Mapping[str, str],
        base: Path,
        keys: Mapping[str, Mapping[str, Key]],
    ) -> Self:
        """Check `document`, a parsed TOML file, under `environment` against `keys`.

        Raises:
            SettingsError: Names the key, what was expected and what came.
        """
        given = _sections(document, keys)
        variables = dict(_variables(environment, keys))
        for (section, name), value in variables.items():
            given.setdefault(section, {})[name] = value
        values = {}
        for section, known in keys.items():
            if section in given or not any(key.default is REQUIRED for key in known.values()):
                values[section] = _checked(section, given.get(section, {}), known)
        return cls(values, frozenset(variables), base)

    def has(self, section: str) -> bool:
        """Say whether `section` is there, in the file or by a variable."""
        return section in self.values

    def section(self, name: str) -> dict[str, Any]:
        """Return the values of one section."""
        return self.values[name]

    def path(self, section: str, name: str) -> Path | None:
        """Return a value as a path; None when empty."""
        return next(iter(self.paths(section, name)), None)

    def paths(self, section: str, name: str) -> list[Path]:
        """Return a value, or its elements, as paths: those of the file count from its folder."""
        value = self.values[section][name]
        base = Path.cwd() if (section, name) in self.from_variable else self.base
        return [base / item for item in ([value] if isinstance(value, str) else value) if item]


def _sections(
    document: Mapping[str, Any], keys: Mapping[str, Mapping[str, Key]]
) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {"": {}}
    for name, value in document.items():
        if name and name in keys:
            if not isinstance(value, dict):
                raise _error(name, "a section", value)
            given[name] = dict(value)
        else:
            given[""][name] = value
    return given


def _variables(
    environment: Mapping[str, str], keys: Mapping[str, Mapping[str, Key]]
) -> list[tuple[tuple[str, str], str]]:
    """Return what the environment sets; variables of other programs are left alone."""
    found = []
    for variable, value in environment.items():
        section, _, name = variable.removeprefix(VARIABLE_PREFIX).lower().rpartition("__")
        ours = variable.startswith(VARIABLE_PREFIX) and section in keys
        if ours and (section or name in keys[""]):
            found.append(((section, name), value))
    return found


def _checked(section: str, given: Mapping[str, Any], keys: Mapping[str, Key]) -> dict[str, Any]:
    dot = f"{section}." if section else ""
    for name in given:
        if name not in keys:
            known = ", ".join(f"{dot}{key}" for key in keys)
            raise SettingsError(f"key {dot}{name}: unknown, expected one of {known}")
    checked = {}
    for name, key in keys.items():
        if name not in given:
            if key.default is REQUIRED:
                raise SettingsError(f"key {dot}{name}: expected a value, it is missing")
            checked[name] = key.default
            continue
        try:
            checked[name] = key.check(given[name])
        except (ValueError, RejectedError) as error:
            shown = "something else" if name in _SECRET else given[name]
            raise _error(dot + name, str(error), shown) from error
    return checked


def _error(name: str, expected: str, value: object) -> SettingsError:
    return SettingsError(f"key {name}: expected {expected}, got {value!r:.{_SHOWN}}")
