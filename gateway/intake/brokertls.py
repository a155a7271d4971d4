"""The TLS of the gateway's own connection to its broker."""

import logging
import ssl

from contracts.errors import RejectedError
from gateway.settings import MqttSettings

_log = logging.getLogger(__name__)


class BrokerTls:
    """Whom the gateway believes there, and the certificate that it shows.

    Args:
        settings: `tls_ca` is given.

    Attributes:
        context: For the connection.

    Raises:
        RejectedError: A file is missing or malformed, or the key is not the certificate's.
    """

    def __init__(self, settings: MqttSettings) -> None:
        self._settings = settings
        try:
            self.context = ssl.create_default_context(cafile=settings.tls_ca)
            self._load()
        except (OSError, ValueError) as error:
            raise RejectedError(f"TLS files of [mqtt], {settings.tls_ca}: {error}") from error

    def refresh(self) -> None:
        """Read the certificate again before a connection: it may have been renewed."""
        try:
            self._load()
        except (OSError, ValueError) as error:
            _log.warning("the broker sees the earlier certificate: %s", error)

    def _load(self) -> None:
        ours = self._settings
        if ours.tls_certificate is not None:
            # The password keeps OpenSSL from asking for one on the terminal.
            self.context.load_cert_chain(ours.tls_certificate, ours.tls_key, password="")
