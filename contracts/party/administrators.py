"""Commands for administrators: who administers the network."""

from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from typing import Final

from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import is_point
from contracts.ledger.client import LedgerClient
from contracts.party.cli import Command, UsageError, signer_of
from contracts.party.settings import change
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, split_keys


def _admit(keys: list[str], public_key: str) -> list[str]:
    return keys if public_key in keys else [*keys, public_key]


def _dismiss(keys: list[str], public_key: str) -> list[str]:
    return [each for each in keys if each != public_key]


def _changing(
    changed: Callable[[list[str], str], list[str]],
) -> Callable[[Namespace], dict[str, object]]:
    """Return a function that changes who administers the network.

    Administrators change settings too, where the same keys do both: so a network of ours begins.
    """

    def run(options: Namespace) -> dict[str, object]:
        signer = signer_of(options)
        if not is_point(options.id):
            raise UsageError(
                f"expected a compressed public key of secp256k1, 66 lower-case hexadecimal digits, "
                f"got {options.id!r}"
            )
        with closing(LedgerClient(options.ledger)) as ledger:
            before, voters = _keys(ledger, ADMIN_KEYS_SETTING), _keys(ledger, AUTHORIZED_KEYS)
            after = changed(before, options.id)
            # The voters last: who dismisses itself may sign until then.
            names = [ADMIN_KEYS_SETTING]
            if set(before) == set(voters):
                _check_enough(ledger, after)
                names.append(AUTHORIZED_KEYS)
            elif not after:
                raise UsageError(f"expected another administrator than {options.id}, got none")
            return change(signer, ledger, dict.fromkeys(names, ",".join(after))) | _told(ledger)

    return run


def _list(options: Namespace) -> dict[str, object]:
    with closing(LedgerClient(options.ledger)) as ledger:
        return _told(ledger)


def _told(ledger: LedgerClient) -> dict[str, object]:
    """Return who registers parties, who changes settings, and how many of these have to agree."""
    return {
        "administrators": _keys(ledger, ADMIN_KEYS_SETTING),
        "change_settings": _keys(ledger, AUTHORIZED_KEYS),
        "have_to_agree": _needed(ledger),
    }


def _needed(ledger: LedgerClient) -> int:
    # The rules let nothing but a number into it.
    return max(1, int(ledger.setting(APPROVAL_THRESHOLD) or 1))


def _check_enough(ledger: LedgerClient, keys: list[str]) -> None:
    """Refuse to leave fewer administrators than have to agree: no setting could change again."""
    needed = _needed(ledger)
    if len(keys) < needed:
        raise UsageError(
            f"expected {needed} administrators or more to stay, since {APPROVAL_THRESHOLD} is "
            f"{needed}, got {len(keys)}"
        )


def _keys(ledger: LedgerClient, name: str) -> list[str]:
    return split_keys(ledger.setting(name))


COMMANDS: Final = [
    Command(
        "administrators",
        "",
        "list the keys that administer the network; needs no key",
        {},
        _list,
        "administrators",
    ),
    Command(
        "admit-administrator",
        "PUBLIC_KEY",
        "let a further key administer the network; an administrator signs",
        {},
        _changing(_admit),
        "admit-administrator 03cd…",
    ),
    Command(
        "dismiss-administrator",
        "PUBLIC_KEY",
        "take a key's right to administer the network; an administrator signs",
        {},
        _changing(_dismiss),
        "dismiss-administrator 03cd…",
    ),
]
