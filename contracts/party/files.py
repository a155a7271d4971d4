"""Files that a party names: read whole, within a limit."""

import json
import tomllib
from pathlib import Path
from typing import Any, Final

from contracts.party.command import UsageError

FILE_BYTES_MAX: Final = 1 << 20


def read_document(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file holds: TOML by its suffix, else JSON.

    Raises:
        UsageError: It is missing, unreadable, too long, or of another form.
    """
    kind, loads = ("TOML", tomllib.loads) if path.suffix == ".toml" else ("JSON", _json)
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise UsageError(f"{path}: at most {FILE_BYTES_MAX} bytes expected, it has more")
        return loads(data.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:  # a parser goes down with what is nested
        raise UsageError(f"{path}: {kind} expected: {error}") from error


def _json(text: str) -> Any:  # noqa: ANN401 - whatever the file holds
    return json.loads(text, object_pairs_hook=_members)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of a name that stands twice, readers might take either value."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:80]!r} stands twice in an object")
        found[name] = value
    return found
