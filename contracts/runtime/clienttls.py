"""A client's TLS: the authorities that it trusts, and its own certificate, which may be renewed."""

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from contracts.errors import RejectedError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """The files of a client, PEM.

    Attributes:
        ca: Whose certificates count; None: those that this system trusts.
        certificate: The client's own; None: it shows none.
        key: The key of that certificate.

    Raises:
        RejectedError: A certificate lacks its key, or a key its certificate.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise RejectedError(
                f"expected both a client's certificate and its key, or neither, got certificate "
                f"{self.certificate} and key {self.key}"
            )

    def context(self) -> ssl.SSLContext:
        """Read the files.

        Raises:
            RejectedError: One is missing or malformed, or the key is not the certificate's.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                # The password keeps OpenSSL from asking for one on the terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
        except (OSError, ValueError) as error:
            raise RejectedError(
                f"CA {self.ca}, certificate {self.certificate} and key {self.key}: expected PEM "
                f"files that belong together: {error}"
            ) from error
        return context

    def stamps(self) -> list[tuple[int, ...]]:
        """Return what changes when a file is replaced."""
        return [stamp(path) for path in (self.ca, self.certificate, self.key) if path]


class RenewedContext(ssl.SSLContext):
    """Gives each connection the TLS of the files as they are when it begins.

    A context is never changed while it is used: OpenSSL does not lock it. So a renewed file makes
    another one, and a file that is not in order leaves the earlier one.
    """

    _files: ClientFiles
    _stamps: list[tuple[int, ...]]
    _current: ssl.SSLContext

    @classmethod
    def of(cls, files: ClientFiles) -> Self:
        """Read the files for the first time.

        Raises:
            RejectedError: One is missing or malformed, or the key is not the certificate's.
        """
        made = cls(ssl.PROTOCOL_TLS_CLIENT)
        made._files, made._stamps = files, files.stamps()
        made._current = files.context()
        return made

    def wrap_socket(self, *words: Any, **names: Any) -> ssl.SSLSocket:  # noqa: ANN401  # as its base class
        """See `ssl.SSLContext.wrap_socket`."""
        return self._renewed().wrap_socket(*words, **names)

    def wrap_bio(self, *words: Any, **names: Any) -> ssl.SSLObject:  # noqa: ANN401  # as its base class
        """See `ssl.SSLContext.wrap_bio`; asyncio's clients use this one."""
        return self._renewed().wrap_bio(*words, **names)

    def _renewed(self) -> ssl.SSLContext:
        stamps = self._files.stamps()
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                self._current = self._files.context()
            except RejectedError as error:
                _log.warning("TLS goes on with the earlier files: %s", error)
        return self._current


def usual_trust(url: str) -> ssl.SSLContext | bool:
    """Return the authorities that a client without files of its own believes; True: httpx's.

    httpx reads all of those for each client, also for one of plain HTTP: 40 ms of CPU on a PC.
    """
    return url.lower().startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is replaced; empty if it cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
