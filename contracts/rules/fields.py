"""What the fields that several actions share must look like."""

from collections.abc import Sequence
from typing import Final

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from contracts.ids import check_gtin
from contracts.keys import is_public_key

KEYS_MAX: Final = 16
"""Current public keys of one party, device or site."""
NAME_MAX: Final = 200
LOT_MAX: Final = 20
"""Characters of a lot, GS1 application identifier (10)."""
UNIT_MAX: Final = 3
"""Characters of a UN/ECE Recommendation 20 unit code."""


def check_keys(keys: Sequence[str]) -> None:
    """Check the public keys of one owner.

    Raises:
        RejectedError: Too many, one twice, or no public key.
    """
    if len(keys) > KEYS_MAX or len(set(keys)) != len(keys):
        raise RejectedError(f"at most {KEYS_MAX} different public keys, got {len(keys)}")
    for key in keys:
        if not is_public_key(key):
            raise RejectedError(f"a public key is 66 hexadecimal digits, 02… or 03…: {key[:80]!r}")


def check_text(what: str, text: str) -> None:
    """Check a name or a reason, meant for people.

    Raises:
        RejectedError: Empty, too long, or with control characters.
    """
    if not 1 <= len(text) <= NAME_MAX or not text.isprintable():
        raise RejectedError(f"a {what} must be 1..{NAME_MAX} printable characters: {text[:80]!r}")


def check_lot(gtin: str, lot: str) -> None:
    """Check what names a lot.

    Raises:
        RejectedError: No GTIN, or no lot of it.
    """
    check_gtin(gtin)
    if not 1 <= len(lot) <= LOT_MAX or not lot.isprintable():
        raise RejectedError(f"a lot is 1..{LOT_MAX} printable characters: {lot[:40]!r}")


def check_quantity(quantity: int, unit: str) -> None:
    """Check how much there is of something.

    Raises:
        RejectedError: Nothing, or in no unit.
    """
    if quantity < 1 or not 1 <= len(unit) <= UNIT_MAX or not unit.isalnum():
        raise RejectedError(
            f"quantity must be at least 1 with a UN/ECE unit code, got {quantity} {unit[:20]!r}"
        )


def check_hash(what: str, sha256: bytes) -> None:
    """Check a hash that may be left out.

    Raises:
        RejectedError: Of another length.
    """
    if len(sha256) not in (0, HASH_BYTES):
        raise RejectedError(f"{what} must be {HASH_BYTES} bytes or absent, got {len(sha256)}")
