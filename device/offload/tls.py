"""Whom this device believes at a gateway, and the certificate that it shows there."""

import ssl

from contracts.errors import RejectedError
from device.settings import GatewaySettings


def context_of(gateway: GatewaySettings) -> ssl.SSLContext:
    """Return the TLS of connections to a gateway's REST.

    Raises:
        RejectedError: A file of its settings is missing or malformed.
    """
    try:
        context = ssl.create_default_context(cafile=gateway.tls_ca)
        if gateway.tls_certificate is not None:
            # The password keeps OpenSSL from asking for one on the terminal.
            context.load_cert_chain(gateway.tls_certificate, gateway.tls_key, password="")
    except (OSError, ValueError) as error:
        raise RejectedError(
            f"{gateway}: tls_ca {gateway.tls_ca}, tls_certificate {gateway.tls_certificate} and "
            f"tls_key {gateway.tls_key}: expected PEM files that belong together: {error}"
        ) from error
    return context
