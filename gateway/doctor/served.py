"""The certificate that the ledger shows, since nobody may check it on the ledger's machine."""

import socket
import ssl
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.doctor.certificates import SOON_DAYS
from gateway.settings import Settings

_ANSWER_S: Final = 5.0
_HTTPS: Final = 443
_DAY_MS: Final = 86_400_000


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found, if the ledger has TLS; if it does not answer, `check` reports it."""
    ledger = settings.ledger
    if not ledger.place.is_secured:
        return
    parts = urlsplit(ledger.url)
    host, subject = parts.hostname or "", f"certificate of {ledger.url}"
    try:
        trust = ledger.place.files.context()
        with (
            socket.create_connection((host, parts.port or _HTTPS), _ANSWER_S) as plain,
            trust.wrap_socket(plain, server_hostname=host) as secured,
        ):
            shown = secured.getpeercert() or {}
    except (RejectedError, ssl.SSLError) as problem:
        remedy = (
            "have the ledger's certificate renewed where it is; ledger.tls_ca says who signs it"
        )
        yield error(subject, problem, remedy)
    except OSError:
        return
    else:
        yield _judged(subject, ssl.cert_time_to_seconds(str(shown["notAfter"])) * 1_000, now_ms)


def _judged(subject: str, ends_ms: int, now_ms: int) -> Finding:
    left = (ends_ms - now_ms) // _DAY_MS
    if left < SOON_DAYS:
        words = f"it expires in {left} days, at {rfc3339(ends_ms)}, and then no gateway reaches it"
        return warning(
            subject, words, "have it renewed, and the new file put on the node's machine"
        )
    return ok(subject, f"it holds until {rfc3339(ends_ms)}")
