"""Ledgers whose drivers need an extra, which an installation may lack."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.entries import not_installed

_ROLE: Final = "bench-ledgers"
"""Of `scripts/install`; it has the extras of all ledgers."""


@contextmanager
def needing(extra: str, ledger: str) -> Iterator[None]:
    """Import modules that need an extra.

    Args:
        extra: Its name.
        ledger: The ledger's name, for the error.

    Raises:
        RejectedError: A library is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = error.name or str(error)
        raise RejectedError(not_installed(library, ledger, extra, _ROLE)) from error
