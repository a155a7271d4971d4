"""A peer's address and the identity that asks: the settings file of `--fabric NAME=FILE`, TOML."""

import ssl
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from contracts.errors import RejectedError
from storage.bench.ledger.fabric.identity import FabricIdentity

NEEDED: Final = ("url", "channel", "chaincode", "msp_id", "certificate", "key", "tls_ca")
_OPTIONAL: Final = ("tls_name", "tls_certificate", "tls_key")
_PEM: Final = "-----BEGIN"
_FILE_BYTES: Final = 1 << 20
"""Of each file, at most."""


@dataclass(frozen=True, slots=True)
class FabricPlace:
    """A peer's Gateway, its channel, and the identity that asks.

    Attributes:
        target: Host and port, as in `peer0.org1.example.com:7051`.
        channel: Name of the channel.
        chaincode: Name under which our chaincode is committed there.
        identity: Signs each request.
        tls_ca: Certificates of the authorities that the peer's TLS certificate must come from, PEM.
        tls_name: Name that this certificate must have; None for the host's.
        tls_client: Private key and certificate of this client for TLS, PEM; None without.
    """

    target: str
    channel: str
    chaincode: str
    identity: FabricIdentity
    tls_ca: bytes
    tls_name: str | None
    tls_client: tuple[bytes, bytes] | None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a settings file, and check all that can be checked without the peer.

        Paths in it are relative to its own folder.

        Raises:
            RejectedError: The file, or one that it names, is missing or wrong.
        """
        settings = _Settings(path, _table(path))
        identity = FabricIdentity.read(
            settings.text("msp_id"),
            settings.file("certificate"),
            settings.file("key"),
            settings.about,
        )
        name = settings.text("tls_name") if "tls_name" in settings.table else None
        return cls(
            settings.address(),
            settings.text("channel"),
            settings.text("chaincode"),
            identity,
            settings.authorities(),
            name,
            settings.client(),
        )


def _table(path: Path) -> Mapping[str, Any]:
    wanted = f"expected a settings file with {', '.join(NEEDED)}"
    try:
        return tomllib.loads(_octets(path).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RejectedError(f"--fabric {path}: {wanted}: {error}") from error


def _octets(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_FILE_BYTES)


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of one file; each error names it.

    Attributes:
        path: Of the file.
        table: Its settings, by name.
    """

    path: Path
    table: Mapping[str, Any]

    def __post_init__(self) -> None:
        known = (*NEEDED, *_OPTIONAL)
        for name in self.table:
            if name not in known:
                raise RejectedError(
                    f"--fabric {self.path}: expected only {', '.join(known)}, got {name!r}"
                )
        for name in NEEDED:
            if name not in self.table:
                raise RejectedError(f"{self.about(name)}: expected a value, got none")

    def about(self, name: str) -> str:
        """Return how an error begins."""
        return f"--fabric {self.path}: {name}"

    def text(self, name: str) -> str:
        """Return a setting."""
        value = self.table[name]
        if not isinstance(value, str) or not value.strip():
            got = "none" if isinstance(value, str) else f"a value of type {type(value).__name__}"
            raise RejectedError(f"{self.about(name)}: expected words, got {got}")
        return value.strip()

    def address(self) -> str:
        """Return host and port of the setting `url`."""
        text = self.text("url")
        parts = urlsplit(f"//{text}")
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or not port or parts.netloc != text or "@" in text:
            raise RejectedError(
                f"{self.about('url')}: expected HOST:PORT of a peer's Gateway, got {text!r}"
            )
        return text

    def file(self, name: str) -> bytes:
        """Return the content of a setting's file."""
        text = self.text(name)
        if _PEM in text or not text.isprintable():  # a private key, perhaps: it is not told
            raise RejectedError(f"{self.about(name)}: expected the path of a file, got other text")
        try:
            return _octets(self.path.parent / text)
        except OSError as error:
            raise RejectedError(f"{self.about(name)}: {error}") from error

    def client(self) -> tuple[bytes, bytes] | None:
        """Return key and certificate of the settings `tls_key` and `tls_certificate`, or None."""
        names = ("tls_key", "tls_certificate")
        given = [name for name in names if name in self.table]
        if not given:
            return None
        if len(given) < len(names):
            raise RejectedError(f"{self.about(given[0])}: expected {' and '.join(names)}, got one")
        key, certificate = (self.file(name) for name in names)
        key_path, path = (self.path.parent / self.text(name) for name in names)
        try:
            # Without this an encrypted key would be asked for on the terminal.
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(path, key_path, "")
        except (ssl.SSLError, ValueError) as error:
            raise RejectedError(
                f"{self.about('tls_key')}: expected the key of tls_certificate in PEM without a "
                f"password: {error}"
            ) from error
        return key, certificate

    def authorities(self) -> bytes:
        """Return the certificates of the setting `tls_ca`."""
        found = self.file("tls_ca")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=found.decode("ascii"))
        except (ssl.SSLError, UnicodeDecodeError) as error:
            raise RejectedError(
                f"{self.about('tls_ca')}: expected certificates in PEM, got none: {error}"
            ) from error
        return found
