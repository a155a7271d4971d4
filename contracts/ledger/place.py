"""Where a ledger answers, and how both sides know each other there."""

import os
import ssl
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.runtime.clienttls import ClientFiles, RenewedContext, usual_trust

TLS_VARIABLES: Final = "WAYSEAL_LEDGER__TLS_"
"""Begins the names of the environment variables that name a client's files."""
_NAMES: Final = {
    "ca": "PEM, the authority of the ledger's certificate; default: those that this system trusts",
    "certificate": "PEM, shown to the ledger if it asks for one",
    "key": "PEM, the key of that certificate",
}


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """A ledger's URL, and the client's TLS there.

    Raises:
        RejectedError: There are files, and the URL is not one of TLS.
    """

    url: str
    files: ClientFiles = field(default_factory=ClientFiles)

    def __post_init__(self) -> None:
        if self.files != ClientFiles() and not self.is_secured:
            raise RejectedError(
                f"expected https://HOST:PORT beside files for TLS at the ledger, got "
                f"{self.url[:200]!r}"
            )

    def __str__(self) -> str:
        return self.url

    @property
    def is_secured(self) -> bool:
        """Say whether the URL is one of TLS."""
        return self.url.lower().startswith("https:")

    def trust(self) -> ssl.SSLContext | bool:
        """Return the authorities that the client trusts; True: httpx's usual authorities.

        Raises:
            RejectedError: A file is missing or malformed, or the key is not the certificate's.
        """
        if self.files == ClientFiles():
            return usual_trust(self.url)
        return RenewedContext.of(self.files)

    @classmethod
    def here(cls, url: str) -> Self:
        """Return a ledger's place with the files that the environment names, if it has TLS.

        Raises:
            RejectedError: They do not fit each other.
        """
        place = cls(url)
        return cls(url, _files({})) if place.is_secured else place


def add_tls(parser: ArgumentParser) -> None:
    """Give a command that has `--ledger URL` the files for TLS there."""
    for name, text in _NAMES.items():
        parser.add_argument(
            f"--ledger-{name}",
            type=Path,
            metavar="FILE",
            help=f"{text} (default: ${TLS_VARIABLES}{name.upper()})",
        )


def place_of(options: Namespace) -> LedgerPlace:
    """Return the place that the options say.

    Raises:
        RejectedError: The files do not fit each other, or the URL.
    """
    given = {name: path for name in _NAMES if (path := getattr(options, f"ledger_{name}"))}
    return LedgerPlace(options.ledger, _files(given)) if given else LedgerPlace.here(options.ledger)


def _files(given: Mapping[str, Path]) -> ClientFiles:
    """Return files, each as given or else as the environment names it."""
    named = {name: os.environ.get(TLS_VARIABLES + name.upper()) for name in _NAMES}
    return ClientFiles(**{name: Path(text) for name, text in named.items() if text} | dict(given))
