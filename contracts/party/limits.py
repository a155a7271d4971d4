"""Limits of a delivery, as a party writes them.

Terms that leave out how long a quantity may be silent get the network's value, from the setting
`wayseal.longest_silence_s`. It stands in the terms that both sides sign, so that a later setting
changes nothing.
"""

import re
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.proto.payload_pb2 import Limit
from contracts.records.quantity import QUANTITIES
from contracts.rules.silence import LONGEST_SILENCE_S

SETTING: Final = "wayseal.longest_silence_s"
"""On-chain setting: what parties agree on who do not say how long a quantity may be silent."""
SILENCE_S_MAX: Final = (1 << 32) - 1
LIMIT_FORM: Final = "QUANTITY:MINIMUM:MAXIMUM:TOLERATED_SECONDS:LONGEST_SILENCE_SECONDS"
_COLONS: Final = 4
"""Colons in a limit that says its longest silence."""
_DECIMAL: Final = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
_SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_PLACES: Final = ", ".join(f"{each.places} decimals ({each.name})" for each in QUANTITIES.values())
_LIMITED: Final = {quantity.name: number for number, quantity in QUANTITIES.items()}


def limits_of(texts: Sequence[str], at: str | LedgerPlace) -> list[Limit]:
    """Read limits; ask the ledger for the longest silence where a text leaves it out.

    Raises:
        RejectedError: A text, or the ledger's setting, is invalid.
        UnavailableError: The ledger did not answer.
    """
    limits = [_limit(text) for text in texts]
    silent = [limit for limit in limits if not limit.longest_silence_s]
    if silent:
        usual_s = _usual_s(at)
        for limit in silent:
            limit.longest_silence_s = usual_s
    return limits


def _usual_s(at: str | LedgerPlace) -> int:
    with closing(LedgerClient(at)) as ledger:
        found = ledger.setting(SETTING)
    try:
        return _seconds(found) if found else LONGEST_SILENCE_S
    except ValueError as error:
        raise RejectedError(
            f"setting {SETTING} on the ledger: expected seconds, 1..{SILENCE_S_MAX}, "
            f"got {found[:80]!r}"
        ) from error


def _seconds(text: str) -> int:
    """Return a longest silence.

    Raises:
        ValueError: Not a whole number within the range.
    """
    if not _SECONDS.fullmatch(text) or not 1 <= int(text) <= SILENCE_S_MAX:
        raise ValueError(text)
    return int(text)


def _parts(text: str) -> tuple[str, str, str]:
    """Return a limit without its longest silence; the colon before that, if any; and that."""
    parts = text.split(":", _COLONS)
    return (
        (":".join(parts[:_COLONS]), *(":", parts[_COLONS])) if parts[_COLONS:] else (text, "", "")
    )


def _limit(text: str) -> Limit:
    """Read one limit, in Cel, % or hPa; either bound may be empty."""
    try:
        bounds, colon, silence_s = _parts(text)
        name, minimum, maximum, tolerated_s = bounds.split(":")
        number = _LIMITED[name]
        scale = QUANTITIES[number].scale
        return Limit(
            quantity=Limit.Quantity.Name(number),
            minimum=_scaled(minimum, scale),
            maximum=_scaled(maximum, scale),
            tolerated_s=int(tolerated_s),
            longest_silence_s=_seconds(silence_s) if colon else 0,
        )
    except (ValueError, KeyError) as error:
        raise RejectedError(
            f"a limit is {LIMIT_FORM} with one of {', '.join(_LIMITED)}, "
            f"bounds such as 2.5, of up to {_PLACES}, or empty, and whole seconds, of which the "
            f"last may be left out, got {text[:80]!r}"
        ) from error


def _scaled(text: str, scale: int) -> int | None:
    """Return a bound in the ledger's unit; never rounded, since both sides sign it.

    Raises:
        ValueError: Not a plain decimal number, too long, or finer than that unit.
    """
    if not text:
        return None
    if not _DECIMAL.fullmatch(text):  # Decimal itself would take 1e999999 and never end
        raise ValueError(text)
    scaled = Decimal(text) * scale
    if scaled != int(scaled):
        raise ValueError(text)
    return int(scaled)
