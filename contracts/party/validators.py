"""Commands for administrators: who makes the blocks of a network of validators."""

import json
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.party.cli import Command, UsageError, signer_of
from contracts.party.settings import change
from contracts.validators import SETTING, Powers, encode, powers_of


def _admit(powers: Powers, options: Namespace) -> Powers:
    return {**powers, options.id: options.power}


def _dismiss(powers: Powers, options: Namespace) -> Powers:
    return {key: power for key, power in powers.items() if key != options.id}


def _changing(
    changed: Callable[[Powers, Namespace], Powers],
) -> Callable[[Namespace], dict[str, object]]:
    """Return a function that changes the validators in the setting on the ledger.

    It returns the validators as the ledger then names them. `in_force` is false where a change
    is only proposed: further administrators vote for it by the same call.
    """

    def run(options: Namespace) -> dict[str, object]:
        signer = signer_of(options)
        with closing(LedgerClient(options.ledger)) as ledger:
            before = _validators(ledger)
            try:
                after = powers_of(changed(before, options))
            except RejectedError as error:
                raise UsageError(str(error)) from error
            if after == before:
                return {"changed": False, "in_force": True, "waiting": [], "validators": before}
            told = change(signer, ledger, {SETTING: encode(after)})
            return told | {"validators": _validators(ledger)}

    return run


def _validators(ledger: LedgerClient) -> Powers:
    """Return the validators that the ledger names.

    Raises:
        RejectedError: It names none: one node makes its blocks.
    """
    value = ledger.setting(SETTING)
    if not value:
        raise RejectedError(
            f"the ledger has no setting {SETTING}: expected a network of validators"
        )
    try:
        return powers_of(json.loads(value))
    except ValueError as error:
        raise RejectedError(f"setting {SETTING} on the ledger is malformed: {error}") from error


COMMANDS: Final = [
    Command(
        "admit-validator",
        "PUBLIC_KEY",
        "let a validator sign blocks, two heights later; an administrator signs",
        {
            "--power": {
                "type": int,
                "default": 1,
                "metavar": "N",
                "help": "its voting power (default: 1)",
            },
        },
        _changing(_admit),
        "admit-validator 03cd…",
    ),
    Command(
        "dismiss-validator",
        "PUBLIC_KEY",
        "take a validator's vote away, before its machine goes; an administrator signs",
        {},
        _changing(_dismiss),
        "dismiss-validator 03cd…",
    ),
]
