"""TLS to the nodes: the context of connections, and the reason when a handshake fails."""

import socket
import ssl
from contextlib import suppress
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import check_private
from storage.blobs.cassandra.config import CassandraConfig

PROBE_TIMEOUT_S: Final = 5.0
_PROBES: Final = 3
"""A node that refuses may close the connection before its alert was read, so ask repeatedly."""
ALERT_WAIT_S: Final = 1.0
"""A node that agrees waits for a request; a node that refuses sends an alert."""


def tls_context(config: CassandraConfig) -> ssl.SSLContext | None:
    """Return the TLS context of connections; None if they are plain.

    Raises:
        RejectedError: A certificate or key cannot be used.
    """
    if config.tls_ca is None:
        return None
    try:
        # The default context requires a certificate that names the address, so a gateway's
        # certificate of the same authority does not pass for a node's.
        context = ssl.create_default_context(cafile=str(config.tls_ca))
    except OSError as error:
        raise RejectedError(f"cassandra.tls_ca {config.tls_ca}: {error}") from error
    if config.tls_certificate is not None:
        try:
            if config.tls_key is not None:
                check_private("cassandra.tls_key", config.tls_key)
            context.load_cert_chain(config.tls_certificate, config.tls_key)
        except OSError as error:
            raise RejectedError(
                f"cassandra.tls_certificate {config.tls_certificate} with tls_key "
                f"{config.tls_key}: {error}"
            ) from error
    return context


def check_tls(config: CassandraConfig) -> None:
    """Try a TLS handshake with the first contact point that answers.

    The driver hides why a handshake failed: it reports only that the connection ended.

    Raises:
        RejectedError: The TLS settings of the two sides do not fit.
    """
    for address in config.contact_points * _PROBES:
        try:
            with socket.create_connection((address, config.port), PROBE_TIMEOUT_S) as plain:
                _handshake(plain, address, tls_context(config))
        except OSError:
            continue  # down or busy, which is not a TLS error
        return


def refused(address: str, error: ssl.SSLError) -> RejectedError | None:
    """Return the error that a node's alert stands for; None for other errors."""
    reason = getattr(error, "reason", None) or ""  # only errors of OpenSSL itself have one
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
            # In TLS 1.3 a node asks for a missing certificate only now. Nothing is sent before:
            # data to a closed peer resets the connection, and its alert is lost.
            wrapped.settimeout(ALERT_WAIT_S)
            with suppress(TimeoutError):
                wrapped.recv(1)
    except ssl.SSLCertVerificationError as error:
        raise RejectedError(
            f"the certificate of Cassandra node {address} is not valid under cassandra.tls_ca: "
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
    context.verify_mode = ssl.CERT_NONE  # no data is sent
    try:
        context.wrap_socket(plain).close()
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    return True
