"""Shared by the commands of `wayseal-party`: their description, arguments and signing."""

import json
import tomllib
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.party.submit import submit
from contracts.records.clock import now_ms, parse_rfc3339

NEEDED: Final[dict[str, Any]] = {"required": True}
SOME: Final[dict[str, Any]] = {"action": "append", "default": []}
OPTIONAL: Final[dict[str, Any]] = {"default": ""}
AT: Final[dict[str, Any]] = {"default": "", "metavar": "TIME", "help": "RFC 3339 (default: now)"}
AT_BOTH: Final[dict[str, Any]] = {
    "required": True,
    "metavar": "TIME",
    "help": "RFC 3339; both sides give the same time",
}
FILE_BYTES_MAX: Final = 1 << 20
"""Largest file that an argument names."""


class UsageError(RejectedError):
    """The arguments, or a file that they name, are invalid."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: Its name on the command line.
        subject: The kind of thing that its first argument names; empty if it has none.
        text: Its effect, in one line.
        arguments: Its flags, each with keywords for `argparse`.
        run: Runs it and returns the JSON object to print.
        example: The words after `wayseal-party --key FILE`.
    """

    name: str
    subject: str
    text: str
    arguments: dict[str, dict[str, Any]]
    run: Callable[[Namespace], dict[str, object]]
    example: str


def signing(action_of: Callable[[Namespace], Action]) -> Callable[[Namespace], dict[str, object]]:
    """Return a function that signs and submits the action, and returns once it is committed."""

    def run(options: Namespace) -> dict[str, object]:
        signer = signer_of(options)
        try:
            action = action_of(options)
        except (RejectedError, ValueError) as error:  # ValueError: outside a field's range
            raise UsageError(str(error)) from error
        return {"committed": True, "transaction_id": submit(signer, action, options.ledger)}

    return run


def signer_of(options: Namespace) -> Signer:
    """Return the key that signs.

    Raises:
        UsageError: No key file was given, or it does not hold a key.
    """
    if options.key is None:
        raise UsageError("--key FILE is needed: the party's private key")
    try:
        return Signer.load(options.key)
    except RejectedError as error:
        raise UsageError(str(error)) from error


def time_of(options: Namespace) -> int:
    """Return the time of `--at`, milliseconds since the Unix epoch; now if it is absent."""
    return parse_rfc3339(options.at) if options.at else now_ms()


def read_document(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Parse a file: TOML by its suffix, else JSON.

    Raises:
        UsageError: The file is missing, unreadable, too long, or invalid.
    """
    kind, loads = ("TOML", tomllib.loads) if path.suffix == ".toml" else ("JSON", _json)
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise UsageError(f"{path}: expected at most {FILE_BYTES_MAX} bytes, got more")
        return loads(data.decode("utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:  # RecursionError: nested too deep
        raise UsageError(f"{path}: expected {kind}: {error}") from error


def _json(text: str) -> Any:  # noqa: ANN401 - whatever the file holds
    return json.loads(text, object_pairs_hook=_members)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. A repeated name is an error: readers might take either value."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name[:80]!r} appears twice in an object")
        found[name] = value
    return found
