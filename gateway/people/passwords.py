"""Adapter: passwords kept by argon2id; the only importer of argon2.

Source: RFC 9106, 4: the second recommended option, 64 MiB and three passes.
"""

import threading
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from contracts.errors import RejectedError

PASSWORD_MIN: Final = 12
PASSWORD_MAX: Final = 200
CHECKS_MAX: Final = 2
"""Passwords that are checked at a time: each takes 64 MiB and both cores."""

_HASHER: Final = PasswordHasher()
_places: Final = threading.BoundedSemaphore(CHECKS_MAX)


def password_hash(password: str) -> str:
    """Return what to keep of a password.

    Raises:
        RejectedError: It is too short, or too long.
    """
    if not PASSWORD_MIN <= len(password) <= PASSWORD_MAX:
        raise RejectedError(
            f"password: expected {PASSWORD_MIN} to {PASSWORD_MAX} characters, got {len(password)}"
        )
    return _HASHER.hash(password)


def is_hash(kept: str) -> bool:
    """Say whether a text is what `password_hash` returns."""
    return kept.startswith("$argon2id$")


def is_right(kept: str | None, password: str) -> bool:
    """Say whether a password is the kept one; an unknown name takes as long to check.

    Args:
        kept: What is kept of it; None if nobody of that name is known.
        password: As typed.
    """
    with _places:
        try:
            _HASHER.verify(kept or _nobody(), password)
        except (VerificationError, InvalidHashError):
            return False
    return kept is not None


@cache
def _nobody() -> str:
    return _HASHER.hash("nobody has this password")
