"""TLS to the nodes: what a connection needs, and which side is wrong when none comes about."""

import socket
import ssl
from contextlib import suppress
from typing import Final

from contracts.errors import RejectedError
from storage.blobs.cassandra.config import CassandraConfig

PROBE_TIMEOUT_S: Final = 5.0
_PROBES: Final = 3
"""A node that refuses may end the connection before what it says of that was read."""
ALERT_WAIT_S: Final = 1.0
"""A node that agrees waits for a request, one that does not says so."""


def tls_context(config: CassandraConfig) -> ssl.SSLContext | None:
    """Return what connections need to be TLS; None when they are plain.

    Raises:
        RejectedError: A certificate or key cannot be used.
    """
    if config.tls_ca is None:
        return None
    try:
        # Its defaults ask for a certificate that names the address: one of a gateway, by the
        # same authority, makes no node.
        context = ssl.create_default_context(cafile=str(config.tls_ca))
    except OSError as error:
        raise RejectedError(f"cassandra.tls_ca {config.tls_ca}: {error}") from error
    if config.tls_certificate is not None:
        try:
            context.load_cert_chain(config.tls_certificate, config.tls_key)
        except OSError as error:
            raise RejectedError(
                f"cassandra.tls_certificate {config.tls_certificate} with tls_key "
                f"{config.tls_key}: {error}"
            ) from error
    return context


def check_tls(config: CassandraConfig) -> None:
    """Ask the first contact point that answers for TLS as it is set up, or is not.

    The driver hides the reason: of a handshake that failed it tells that the connection ended.

    Raises:
        RejectedError: The two sides do not agree about TLS.
    """
    for address in config.contact_points * _PROBES:
        try:
            with socket.create_connection((address, config.port), PROBE_TIMEOUT_S) as plain:
                _handshake(plain, address, tls_context(config))
        except OSError:
            continue  # down, or busy: not a question of TLS
        return


def refused(address: str, error: ssl.SSLError) -> RejectedError | None:
    """Return what a node's alert means; None for another error."""
    reason = getattr(error, "reason", None) or ""  # what OpenSSL did not raise itself has none
    if "ALERT" not in reason:
        return None
    return RejectedError(f"Cassandra node {address} refuses cassandra.tls_certificate: {reason}")


def _handshake(plain: socket.socket, address: str, context: ssl.SSLContext | None) -> None:
    if context is None:
        if _speaks_tls(plain):
            raise RejectedError("cassandra.tls_ca is not set, but the node wants TLS")
        return
    try:
        with context.wrap_socket(plain, server_hostname=address) as wrapped:
            # Where TLS 1.3 tells that it wanted a certificate. Nothing is sent before: what reaches
            # a peer that has gone resets the connection, and its alert is lost.
            wrapped.settimeout(ALERT_WAIT_S)
            with suppress(TimeoutError):
                wrapped.recv(1)
    except ssl.SSLCertVerificationError as error:
        raise RejectedError(
            f"the certificate of Cassandra node {address} does not hold against cassandra.tls_ca: "
            f"{error.verify_message}"
        ) from error
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            raise RejectedError(
                "cassandra.tls_ca is set, but the node answers without TLS"
            ) from error
        refusal = refused(address, error)
        if refusal is not None:
            raise refusal from error
        raise


def _speaks_tls(plain: socket.socket) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is said to it
    try:
        context.wrap_socket(plain).close()
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    return True
