"""Validators of a network: who makes its blocks, each with a voting power.

On the ledger they are a setting, which administrators propose and vote on as on any other. A trust
file names those with which the network began.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from contracts import address
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import is_point
from contracts.proto.sawtooth_pb2 import Setting
from contracts.sawtooth.settings import CHAIN_ID

SETTING: Final = "wayseal.validators"
VALIDATORS_MAX: Final = 100
POWER_MAX: Final = 1_000_000
CHAIN_ID_MAX: Final = 50
"""Characters of a network's name: CometBFT's own limit."""
Powers = Mapping[str, int]
"""Voting power by public key, 66 hexadecimal digits."""


def powers_of(document: object) -> Powers:
    """Return the validators that a JSON object says: `{"PUBLIC_KEY": POWER, …}`.

    Raises:
        RejectedError: It has another form, no validator, or too many.
    """
    if not isinstance(document, dict) or not 1 <= len(document) <= VALIDATORS_MAX:
        raise RejectedError(
            f"validators: expected an object of 1 to {VALIDATORS_MAX} public keys and powers, got "
            f"{str(document)[:80]}"
        )
    for key, power in document.items():
        if not isinstance(key, str) or not is_point(key):
            raise RejectedError(
                f"validators: expected a compressed public key of secp256k1, got {key!r}"
            )
        if type(power) is not int or not 1 <= power <= POWER_MAX:
            raise RejectedError(
                f"validators: expected a power from 1 to {POWER_MAX} for {key[:16]}…, got {power!r}"
            )
    return dict(document)


def encode(powers: Powers) -> str:
    """Return the setting's value."""
    return json.dumps(dict(sorted(powers.items())), separators=(",", ":"))


def validators_in(get: Callable[[str], bytes | None]) -> Powers | None:
    """Return the validators that the ledger's administrators set; None if they set none.

    Args:
        get: Returns the value at an address.

    Raises:
        RejectedError: The setting is malformed.
    """
    value = setting_in(get, SETTING)
    if value is None:
        return None
    try:
        return powers_of(json.loads(value))
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"setting {SETTING} on the ledger is malformed: {error}") from error


def chain_id_in(get: Callable[[str], bytes | None]) -> str | None:
    """Return the name of the network of validators; None on a ledger that one signer makes."""
    return setting_in(get, CHAIN_ID)


def setting_in(get: Callable[[str], bytes | None], name: str) -> str | None:
    """Return the value of a setting on the ledger; None if it is not set.

    Args:
        get: Returns the value at an address.
        name: Of the setting.
    """
    wire = get(address.setting(name))
    entries = () if wire is None else parse(Setting, wire).entries
    return next((each.value for each in entries if each.key == name), None)
