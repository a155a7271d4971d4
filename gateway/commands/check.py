"""`wayseal-gateway check`: looks at what the settings name, and changes nothing."""

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, WaysealError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.runtime.checks import (
    Finding,
    connect,
    directory,
    error,
    files,
    ok,
    report,
    warning,
)
from gateway.access import Tokens
from gateway.ownsite import is_registered, unregistered
from gateway.settings import Settings

_ANSWER_S: Final = 5.0


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Look at all that the settings name, and change nothing.

    Raises:
        RejectedError: Something is wrong; the lines before say what.
    """
    if not report(findings(settings, offline=options.offline)):
        raise RejectedError("the lines with `error` say what to mend")


def findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found, first on this machine, then unless `offline` at its peers."""
    yield ok("settings", f"site {settings.site_id}, data {settings.data}")
    yield directory("data", settings.data, made=True)
    yield _key(settings)
    yield _tokens(settings)
    for name, volume in settings.all_volumes.items():
        yield _volume(name, volume.path, mount=volume.mount)
    if settings.storage.blob_store != "cassandra":
        yield directory("blobs", settings.blobs_dir, made=True)
    yield from files(_named_files(settings))
    if not offline:
        yield from _peers(settings)


def _key(settings: Settings) -> Finding:
    if not settings.key_file.exists():
        if (settings.data / "inbox.db").exists():
            return error(
                "key", f"{settings.key_file} is missing, but this gateway has worked before"
            )
        return warning("key", f"{settings.key_file} is missing; the first start makes it")
    try:
        return ok("key", Signer.load(settings.key_file).public_key)
    except WaysealError as problem:
        return error("key", problem)


def _tokens(settings: Settings) -> Finding:
    try:
        count = len(Tokens(settings.tokens_file).entries())
    except WaysealError as problem:
        return error("tokens", problem)
    if not count:
        return warning("tokens", "there are none: `wayseal-gateway token` makes them")
    return ok("tokens", f"{count} in {settings.tokens_file}")


def _volume(name: str, path: Path, *, mount: bool) -> Finding:
    subject = f"volume {name}"
    if mount and not path.is_mount():
        return error(subject, f"expected a mount point, nothing is mounted at {path}")
    return directory(subject, path, made=not mount)


def _named_files(settings: Settings) -> Iterator[tuple[str, Path | None]]:
    mosquitto, cassandra = settings.mosquitto, settings.cassandra
    if mosquitto.folder is not None:
        yield "mosquitto.certificate", mosquitto.certificate
        yield "mosquitto.key", mosquitto.key
        yield "mosquitto.plugin", mosquitto.plugin
    if settings.storage.blob_store != "files":
        yield "cassandra.tls_ca", cassandra.tls_ca
        yield "cassandra.tls_certificate", cassandra.tls_certificate
        yield "cassandra.tls_key", cassandra.tls_key


def _peers(settings: Settings) -> Iterator[Finding]:
    yield from _ledger(settings)
    mqtt = settings.mqtt
    if not mqtt.embedded:
        yield _peer(f"broker {settings.broker}", mqtt.socket or (mqtt.host, mqtt.port))
    if settings.storage.blob_store != "files":
        for host in settings.cassandra.contact_points:
            yield _peer(f"cassandra {host}", (host, settings.cassandra.port))


def _ledger(settings: Settings) -> Iterator[Finding]:
    """Look at the ledger, and whether it has the gateway's site."""
    subject = f"ledger {settings.ledger.url}"
    try:
        with closing(LedgerClient(settings.ledger.url, timeout_s=_ANSWER_S)) as ledger:
            yield ok(subject, f"begins with block {ledger.genesis().header_signature[:16]}…")
            if is_registered(ledger, settings.site_id):
                yield ok("site_id", f"{settings.site_id} is registered on the ledger")
            else:
                yield warning("site_id", unregistered(settings.site_id))
    except WaysealError as problem:
        yield error(subject, problem)


def _peer(subject: str, place: tuple[str, int] | Path) -> Finding:
    """Look only whether it listens: a login as the gateway would end the gateway's own session."""
    try:
        connect(place, _ANSWER_S)
    except WaysealError as problem:
        return error(subject, problem)
    return ok(subject, "accepts connections")
