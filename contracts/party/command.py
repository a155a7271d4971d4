"""What the commands of `wayseal-party` have in common: how one is told, how its words are read."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.party.submit import submit
from contracts.payload import Action
from contracts.records.clock import now_ms, parse_rfc3339

NEEDED: Final[dict[str, Any]] = {"required": True}
SOME: Final[dict[str, Any]] = {"action": "append", "default": []}
OPTIONAL: Final[dict[str, Any]] = {"default": ""}
AT: Final[dict[str, Any]] = {"default": "", "metavar": "TIME", "help": "RFC 3339 (default: now)"}
AT_BOTH: Final[dict[str, Any]] = {
    "required": True,
    "metavar": "TIME",
    "help": "RFC 3339; both sides name the same",
}


class UsageError(RejectedError):
    """The arguments, or a file that they name, are not what they should be."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: As typed.
        subject: What its first argument names.
        text: What it does, in one line.
        arguments: Flags, each with what `argparse` shall know of it.
        run: Does it, and returns what to print.
        example: What to type behind `wayseal-party --key FILE`.
    """

    name: str
    subject: str
    text: str
    arguments: dict[str, dict[str, Any]]
    run: Callable[[Namespace], dict[str, object]]
    example: str


def signing(action_of: Callable[[Namespace], Action]) -> Callable[[Namespace], dict[str, object]]:
    """Return what signs the action that the arguments tell, and returns once it is committed."""

    def run(options: Namespace) -> dict[str, object]:
        signer = signer_of(options)
        try:
            action = action_of(options)
        except (RejectedError, ValueError) as error:  # of the second kind: beyond a field's range
            raise UsageError(str(error)) from error
        return {"committed": True, "transaction_id": submit(signer, action, options.ledger)}

    return run


def signer_of(options: Namespace) -> Signer:
    """Return the key that signs.

    Raises:
        UsageError: None was named, or the file holds none.
    """
    if options.key is None:
        raise UsageError("--key FILE is needed: the party's private key")
    try:
        return Signer.load(options.key)
    except RejectedError as error:
        raise UsageError(str(error)) from error


def time_of(options: Namespace) -> int:
    """Return the time that `--at` tells, milliseconds since the Unix epoch; now without it."""
    return parse_rfc3339(options.at) if options.at else now_ms()
