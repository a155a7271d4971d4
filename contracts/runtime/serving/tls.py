"""A server's TLS: its certificate, the authority that it trusts, and how it follows new files.

TLS 1.3 only, without tickets: a session that is resumed would not be checked against the revocation
list again.
"""

import logging
import ssl
from asyncio import BaseTransport
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.ids import DEVICE_URN
from contracts.runtime.clienttls import stamp

LOOK_EVERY_S: Final = 2.0
"""How often the files are looked at."""
PEER: Final = "wayseal.peer"
"""Key in `scope["extensions"]`; the value is the client's Peer, if it has a certificate."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Peer:
    """A client that has shown a certificate.

    Attributes:
        name: The common name.
        uris: The URIs among its alternative names.
        serial: The serial number.
    """

    name: str
    uris: tuple[str, ...]
    serial: int

    @property
    def device_id(self) -> str | None:
        """The id of the truck's device; None if the client is not a truck."""
        named = (uri for uri in self.uris if uri.startswith(DEVICE_URN))
        return next((uri[len(DEVICE_URN) :] for uri in named), None)

    @classmethod
    def of(cls, transport: BaseTransport) -> Self | None:
        """Return the client at the other end if it has shown a certificate, which was checked."""
        found = transport.get_extra_info("peercert")
        if not found:
            return None
        names = [text for part in found["subject"] for key, text in part if key == "commonName"]
        uris = (text for kind, text in found.get("subjectAltName", ()) if kind == "URI")
        return cls("".join(names[:1]), tuple(uris), int(found["serialNumber"], 16))


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The files of a server, PEM.

    Attributes:
        certificate: Its certificate, then those of the authorities between it and the clients'.
        key: Its key.
        ca: Who signs clients' certificates; None: clients have none.
        crl: What these have revoked; None: nothing.
        members_only: With a CA: a client needs a certificate, and a device's does not count.
    """

    certificate: Path
    key: Path
    ca: Path | None = None
    crl: Path | None = None
    members_only: bool = False

    @property
    def all(self) -> tuple[Path, ...]:
        """Return the files that there are to read."""
        return tuple(path for path in (self.certificate, self.key, self.ca, self.crl) if path)

    def context(self) -> ssl.SSLContext:
        """Read the files.

        Raises:
            RejectedError: One is missing or malformed, or the key is not the certificate's.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
        path = self.certificate
        try:
            # The password keeps OpenSSL from asking for one on the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
            if self.ca is not None:
                path = self.ca
                context.load_verify_locations(path)
                # Also where all need one: a client without learns from an answer what it lacks, but
                # not from a handshake that ends.
                context.verify_mode = ssl.CERT_OPTIONAL
            if self.crl is not None:
                path = self.crl
                context.load_verify_locations(path)
                context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        except (OSError, ValueError) as error:
            beside = f" (key {self.key})" if path is self.certificate else ""
            raise RejectedError(f"TLS file {path}{beside}: {error}") from error
        return context


class Tls:
    """The TLS of a running server; for one event loop.

    Args:
        files: The files.
        revoked: Reads the serial numbers in a revocation list. It raises RejectedError if the list
            is malformed. None: nobody reads them.

    Attributes:
        context: For the next connection.
        revoked: Serial numbers of revoked certificates; None if nobody reads them, so that each
            client has to come again to be checked.

    Raises:
        RejectedError: A file is missing or malformed, or the key is not the certificate's.
    """

    def __init__(
        self,
        files: TlsFiles,
        revoked: Callable[[Path], Collection[int]] | None = None,
    ) -> None:
        self._files = files
        self._read = revoked
        self._stamps = self._look()
        self._problem = ""
        self.revoked: Collection[int] | None = None
        self._load()

    def reload(self) -> bool:
        """Read the files again; if they are not in order, the earlier ones count.

        Returns:
            Whether they are in order.
        """
        self._stamps = self._look()
        try:
            self._load()
        except RejectedError as error:
            if str(error) != self._problem:
                _log.warning("TLS goes on with the earlier files: %s", error)
            self._problem = str(error)
            return False
        self._problem = ""
        known = "" if self.revoked is None else f"; {len(self.revoked)} certificates are revoked"
        _log.info("TLS files are read again%s", known)
        return True

    def admits(self, peer: Peer | None) -> bool:
        """Say whether a client may come in whose certificate, if any, was checked."""
        wanted = self._files.members_only and self._files.ca is not None
        return not wanted or (peer is not None and peer.device_id is None)

    def has_changed(self) -> bool:
        """Say whether a file was replaced since it was read, or could not be used then."""
        return bool(self._problem) or self._look() != self._stamps

    def _load(self) -> None:
        context = self._files.context()
        if self._read is not None:
            self.revoked = frozenset(self._read(self._files.crl)) if self._files.crl else ()
        self.context = context

    def _look(self) -> list[tuple[int, ...]]:
        return [stamp(path) for path in self._files.all]
