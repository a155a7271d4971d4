"""The authorities that this device trusts at a gateway, and the certificate that it shows."""

import ssl

from contracts.errors import RejectedError
from contracts.runtime.clienttls import ClientFiles
from device.settings import GatewaySettings


def context_of(gateway: GatewaySettings) -> ssl.SSLContext:
    """Return the TLS of connections to a gateway's REST.

    Raises:
        RejectedError: A file of its settings is missing or malformed.
    """
    try:
        files = ClientFiles(gateway.tls_ca, gateway.tls_certificate, gateway.tls_key)
        return files.context()
    except RejectedError as error:
        raise RejectedError(f"{gateway}: tls_ca, tls_certificate and tls_key: {error}") from error
