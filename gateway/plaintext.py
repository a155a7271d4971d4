"""Tokens and data cross no network in plain text, unless the settings say so."""

from collections.abc import Iterator
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from contracts.errors import RejectedError
from gateway.brokersettings import is_loopback
from gateway.settings import LedgerSettings, Settings


def refuse(settings: Settings, *, only: str = "") -> None:
    """Let a gateway start only if what it listens on, and the way to its broker, is in order.

    Args:
        settings: Of the gateway.
        only: The one setting that matters; empty: all do.

    Raises:
        RejectedError: Something would cross a network in plain text.
    """
    found = [f"setting {key}: {words}" for key, words in problems(settings) if only in ("", key)]
    if found:
        raise RejectedError("; ".join(found))


def problems(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the setting of each address that other machines reach without TLS, and what to do."""
    rest, mqtt, mosquitto = settings.rest, settings.mqtt, settings.mosquitto
    if settings.tls.files is None and not (rest.plain_text or _is_here(rest.host)):
        words = (
            f"tokens would cross the network unencrypted at {rest.host}:{rest.port}: set "
            f"tls.certificate and tls.key, or rest.plain_text = true behind a proxy with TLS"
        )
        yield "rest.host", words
    yield from ledger_problems(settings.ledger, settings.ledger.url)
    if not (mqtt.socket or mqtt.tls_ca or mqtt.plain_text or _is_here(mqtt.host)):
        words = (
            f"the gateway's password would cross the network unencrypted to {mqtt.host}: run "
            f"mosquitto on the gateway's machine, or set mqtt.tls_ca, or mqtt.plain_text = true in "
            f"a network of the gateway's own"
        )
        yield "mqtt.host", words
    if mosquitto.folder is not None and not (
        mosquitto.certificate or mosquitto.plain_text or _is_here(mosquitto.host)
    ):
        words = (
            f"trucks' tokens would cross the network unencrypted to "
            f"{mosquitto.host}:{mosquitto.port}: set mosquitto.certificate and mosquitto.key, or "
            f"mosquitto.plain_text = true"
        )
        yield "mosquitto.host", words


def ledger_problems(ledger: LedgerSettings, url: str) -> Iterator[tuple[str, str]]:
    """Yield the faults of a way to a ledger: false answers could come over it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme.lower() != "https" and not (ledger.plain_text or _is_here(host)):
        words = (
            f"anybody on the way to {host} could answer in the ledger's place, and receipts would "
            f"be signed on that word: use https:// and set ledger.tls_ca, or "
            f"ledger.plain_text = true in a network of the gateway's own"
        )
        yield "ledger.url", words


def _is_here(host: str) -> bool:
    """Say whether only this machine reaches a host."""
    try:
        return is_loopback(host) or IPv6Address(host).is_loopback
    except ValueError:
        return False
