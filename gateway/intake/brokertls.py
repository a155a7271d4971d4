"""The TLS of the gateway's own connection to its broker."""

import logging
import ssl
from pathlib import Path

from contracts.errors import RejectedError
from gateway.brokersettings import MqttSettings

_log = logging.getLogger(__name__)


class BrokerTls:
    """The authorities that the gateway trusts there, and the certificate that it shows.

    Args:
        ca: Whose certificates count, PEM.
        certificate: The gateway's, PEM; None: it shows none.
        key: The key of that certificate, PEM.

    Attributes:
        context: For the connection.

    Raises:
        RejectedError: A file is missing or malformed, or the key is not the certificate's.
    """

    def __init__(self, ca: Path, certificate: Path | None, key: Path | None) -> None:
        self._certificate = certificate
        self._key = key
        try:
            self.context = ssl.create_default_context(cafile=ca)
            self._load()
        except (OSError, ValueError) as error:
            raise RejectedError(
                f"mqtt.tls_ca {ca}, mqtt.tls_certificate {certificate} and mqtt.tls_key {key}: "
                f"expected PEM files that belong together: {error}"
            ) from error

    def refresh(self) -> None:
        """Read the certificate again before a connection: it may have been renewed."""
        try:
            self._load()
        except (OSError, ValueError) as error:
            _log.warning("the broker sees the earlier certificate: %s", error)

    def _load(self) -> None:
        if self._certificate is not None:
            # The password keeps OpenSSL from asking for one on the terminal.
            self.context.load_cert_chain(self._certificate, self._key, password="")


def broker_tls(settings: MqttSettings) -> BrokerTls | None:
    """Return the TLS that the settings ask for; None for a plain connection.

    Raises:
        RejectedError: See `BrokerTls`.
    """
    if settings.tls_ca is None:
        return None
    return BrokerTls(settings.tls_ca, settings.tls_certificate, settings.tls_key)
