"""Commands for administrators: who administers the network."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import is_point
from contracts.ledger.client import LedgerClient
from contracts.party.cli import Command, UsageError, signer_of
from contracts.party.settings import change
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, split_keys


def _admit(lists: Mapping[str, list[str]], public_key: str) -> dict[str, list[str]]:
    """Return the lists that get a key, each with that key.

    Where the same keys register parties and change settings, as a network of ours begins, the new
    key does both.
    """
    are_same = set(lists[ADMIN_KEYS_SETTING]) == set(lists[AUTHORIZED_KEYS])
    names = [ADMIN_KEYS_SETTING, *([AUTHORIZED_KEYS] if are_same else [])]
    return {
        name: lists[name] if public_key in lists[name] else [*lists[name], public_key]
        for name in names
    }


def _dismiss(lists: Mapping[str, list[str]], public_key: str) -> dict[str, list[str]]:
    """Return the lists that have a key, each without that key.

    Lists differ if somebody changed one of them alone. A key that stays in one list can put itself
    back into the other.
    """
    return {
        name: [each for each in keys if each != public_key]
        for name, keys in lists.items()
        if public_key in keys
    }


def _changing(
    changed: Callable[[Mapping[str, list[str]], str], dict[str, list[str]]],
) -> Callable[[Namespace], dict[str, object]]:
    """Return a function that changes who administers the network."""

    def run(options: Namespace) -> dict[str, object]:
        signer = signer_of(options)
        if not is_point(options.id):
            raise UsageError(
                f"expected a compressed public key of secp256k1, 66 lower-case hexadecimal digits, "
                f"got {options.id!r}"
            )
        with closing(LedgerClient(options.ledger)) as ledger:
            # The voters last: an administrator who dismisses their own key signs up to that change.
            names = (ADMIN_KEYS_SETTING, AUTHORIZED_KEYS)
            after = changed({name: _keys(ledger, name) for name in names}, options.id)
            if AUTHORIZED_KEYS in after:
                _check_enough(ledger, after[AUTHORIZED_KEYS])
            if not after.get(ADMIN_KEYS_SETTING, [options.id]):
                raise UsageError(f"expected another administrator than {options.id}, got none")
            values = {name: ",".join(keys) for name, keys in after.items()}
            return change(signer, ledger, values) | _told(ledger)

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
