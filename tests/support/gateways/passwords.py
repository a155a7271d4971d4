"""Passwords that cost a test little: how dear a check is stands in what is kept of a password."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from argon2 import PasswordHasher

from gateway.people import passwords


@contextmanager
def cheap_passwords() -> Iterator[None]:
    """Keep passwords by 8 KiB and one pass, not by 64 MiB and three, which take 0.4 s of CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", PasswordHasher(1, 8, 1))
        passwords._nobody.cache_clear()  # noqa: SLF001 - it was made by the other
        yield
        passwords._nobody.cache_clear()  # noqa: SLF001
