"""Checks of fields that several actions share."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_gtin
from contracts.keys import is_public_key
from contracts.rules.parties import KEYS_MAX
from contracts.text import is_gs1, is_text, is_unit, is_unit_1_0

NAME_MAX: Final = 200
LOT_MAX: Final = 20
"""Characters of a lot, GS1 application identifier (10)."""
UNIT_MAX: Final = 3
"""Characters of a UN/ECE Recommendation 20 unit code."""


def all_differ(values: Sequence[object], most: int) -> bool:
    """Say whether there are at most `most` values, and none twice."""
    return len(values) <= most and len(set(values)) == len(values)


def check_keys(keys: Sequence[str]) -> None:
    """Check the public keys of one owner.

    Raises:
        RejectedError: Too many keys, one of them twice, or an invalid public key.
    """
    if not all_differ(keys, KEYS_MAX):
        raise RejectedError(f"at most {KEYS_MAX} different public keys, got {len(keys)}")
    for key in keys:
        if not is_public_key(key):
            raise RejectedError(f"a public key is 66 hexadecimal digits, 02… or 03…: {key[:80]!r}")


def check_text(what: str, text: str) -> None:
    """Check a name or a reason.

    Raises:
        RejectedError: Empty, too long, or with control characters.
    """
    if not 1 <= len(text) <= NAME_MAX or not is_text(text):
        raise RejectedError(f"a {what} must be 1..{NAME_MAX} printable characters: {text[:80]!r}")


def check_lot(gtin: str, lot: str) -> None:
    """Check the GTIN and name of a lot.

    Raises:
        RejectedError: An invalid GTIN or name.
    """
    check_gtin(gtin)
    if not 1 <= len(lot) <= LOT_MAX or not is_text(lot):
        raise RejectedError(f"a lot is 1..{LOT_MAX} printable characters: {lot[:40]!r}")


def check_quantity(quantity: int, unit: str) -> None:
    """Check a quantity and its unit.

    Raises:
        RejectedError: The quantity is zero, or the unit is invalid.
    """
    if quantity < 1 or not 1 <= len(unit) <= UNIT_MAX or not is_unit_1_0(unit):
        raise RejectedError(
            f"quantity must be at least 1 with a UN/ECE unit code, got {quantity} {unit[:20]!r}"
        )


def check_codes(message: Message) -> None:
    """Check lots and units at any depth as version 1.1 does, so that no two look alike.

    Raises:
        RejectedError: A lot or a unit has a character that GS1 or UN/ECE does not know.
    """
    for field, value in message.ListFields():
        for part in value if field.is_repeated else [value]:
            if field.message_type is not None:
                check_codes(part)
            elif field.name == "lot" and not is_gs1(part):
                raise RejectedError(f"a lot has only characters of GS1's set of 82: {part[:40]!r}")
            elif field.name == "unit" and not is_unit(part):
                raise RejectedError(
                    f"a unit is a common code of UN/ECE Recommendation 20: {part[:20]!r}"
                )


@cache
def may_have_codes(kind: Descriptor) -> bool:
    """Say whether a message or one within it names a lot or a unit; none contains itself."""
    return any(
        field.name in ("lot", "unit")
        or (field.message_type is not None and may_have_codes(field.message_type))
        for field in kind.fields
    )


def check_hash(what: str, sha256: bytes) -> None:
    """Check a hash that may be absent.

    Raises:
        RejectedError: It has another length.
    """
    if len(sha256) not in (0, HASH_BYTES):
        raise RejectedError(f"{what} must be {HASH_BYTES} bytes or absent, got {len(sha256)}")
