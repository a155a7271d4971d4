"""`wayseal-gateway check`: looks at what the settings name, and changes nothing."""

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.runtime.checks import (
    Finding,
    Severity,
    connect,
    directory,
    error,
    files,
    guarded,
    ok,
    private,
    report,
    warning,
)
from gateway import plaintext
from gateway.access import Tokens
from gateway.blobstore import BLOBS_ID
from gateway.mosquitto.folder import missing_directories
from gateway.owners import files_of_others, place_of_others
from gateway.ownkey import load_key
from gateway.ownsite import is_registered, unregistered
from gateway.pki import trucksettings
from gateway.settings import Settings
from storage.checked.damage import DamageNotes
from storage.volumes.marker import Identity

_ANSWER_S: Final = 5.0
_NO_CLAIM: Final = "mend the file: until then no truck is given a claim"


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Look at all that the settings name, and change nothing.

    Raises:
        RejectedError: Something is wrong; the lines before say what.
    """
    if not report(findings(settings, offline=options.offline)):
        raise RejectedError("the lines with `error` say what to mend")


def findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found, first on this machine, then unless `offline` at its peers."""
    yield from guarded(_here(settings))
    if not offline:
        yield from _peers(settings)


def _here(settings: Settings) -> Iterator[Finding]:
    yield ok("settings", f"site {settings.site_id}, data {settings.data}")
    yield directory("data", settings.data, made=True)
    for subject, words in plaintext.problems(settings):
        yield error(subject, words, "wayseal-gateway pki init; wayseal-gateway pki server NAME")
    yield _key(settings)
    yield _tokens(settings)
    yield from guarded(files_of_others(settings), "data")
    for name, volume in settings.all_volumes.items():
        subject = f"volume {name}"
        yield from guarded(
            _volume(subject, volume.path, name, settings, mount=volume.mount), subject
        )
    if settings.storage.blob_store != "cassandra":
        found = _volume("blobs", settings.blobs_dir, BLOBS_ID, settings, mount=False)
        yield from guarded(found, "blobs")
    yield from files(named_files(settings))
    yield from _truck_settings(settings)
    yield from guarded(_mosquitto_directories(settings), "mosquitto")


def _truck_settings(settings: Settings) -> Iterator[Finding]:
    path = settings.pki.truck_settings
    if path is None:
        return
    try:
        trucksettings.check(path)
        yield ok("pki.truck_settings", str(path))
    except WaysealError as problem:
        yield error(
            "pki.truck_settings", str(problem).removeprefix("pki.truck_settings "), _NO_CLAIM
        )


def _key(settings: Settings) -> Finding:
    if settings.hsm.module is not None:
        return _key_of_token(settings)
    if not settings.key_file.exists():
        if (settings.data / "inbox.db").exists():
            return error(
                "key",
                f"{settings.key_file} is missing, but this gateway has worked before",
                f"restore it from the backup; without one: wayseal-party --key {settings.key_file} "
                "make-key, then wayseal-gateway key --accept, and tell the trucks",
            )
        why = f"{settings.key_file} is missing; the first start makes it"
        return warning("key", why, "systemctl start wayseal-gateway, or wayseal-gateway key")
    try:
        return ok("key", Signer.load(settings.key_file).public_key)
    except WaysealError as problem:
        return error("key", problem, private(settings.key_file, "restore it from the backup"))


def _key_of_token(settings: Settings) -> Finding:
    hsm = settings.hsm
    try:
        return ok("key", f"{load_key(settings).public_key}, in token {hsm.token}")
    except WaysealError as problem:
        list_it = f"pkcs11-tool --module {hsm.module} --token-label {hsm.token} --list-objects"
        return error("key", problem, f"{list_it} tells what the token has")


def _tokens(settings: Settings) -> Finding:
    try:
        damage = DamageNotes()
        count = len(Tokens(settings.tokens_file, damage).entries())
    except WaysealError as problem:
        afresh = f"rm {settings.tokens_file}, and make new tokens"
        again = f"restore it from the backup; without one: {afresh}"
        return error("tokens", problem, private(settings.tokens_file, again))
    if damaged := damage.told():
        return warning("tokens", damaged[0], "wayseal-gateway token NAME --role ROLE, once more")
    if not count:
        new = "wayseal-gateway token NAME --role operator"
        return warning("tokens", "there are none: `wayseal-gateway token` makes them", new)
    return ok("tokens", f"{count} in {settings.tokens_file}")


def _volume(
    subject: str, path: Path, name: str, settings: Settings, *, mount: bool
) -> Iterator[Finding]:
    """Judge the directory of a volume or of blobs; one that was seen must have its marker."""
    memory = settings.data / "volume-ids" / name
    if mount and not path.is_mount():
        why = f"expected a mount point, nothing is mounted at {path}"
        yield error(subject, why, f"mount {path}; wayseal-gateway volumes shows the drives")
        return
    try:
        if not path.is_file():  # `directory` says that
            Identity(path, memory).look()
    except UnavailableError as problem:
        yield error(
            subject,
            problem,
            f"mount the right volume at {path}; only if this one takes its place for good: "
            f"stop the gateway and rm {memory}",
        )
    else:
        others = place_of_others(subject, path, settings)
        yield others or directory(subject, path, made=not mount)


def _mosquitto_directories(settings: Settings) -> Iterator[Finding]:
    for subject, path, remedy in missing_directories(settings):
        yield warning(subject, f"the directory {path} is missing, and mosquitto needs it", remedy)


def named_files(settings: Settings) -> Iterator[tuple[str, Path | None]]:
    """Yield each setting in use that names a file of certificates or keys, and the file."""
    mosquitto, cassandra, oidc = settings.mosquitto, settings.cassandra, settings.oidc
    tls, mqtt, ledger = settings.tls, settings.mqtt, settings.ledger
    yield from (("ledger.tls_ca", ledger.tls_ca), ("ledger.tls_key", ledger.tls_key))
    yield "ledger.tls_certificate", ledger.tls_certificate
    yield from (("tls.certificate", tls.certificate), ("tls.key", tls.key))
    yield from (("tls.ca", tls.ca), ("tls.crl", tls.crl))
    yield from (("mqtt.tls_ca", mqtt.tls_ca), ("mqtt.tls_certificate", mqtt.tls_certificate))
    yield "mqtt.tls_key", mqtt.tls_key
    yield from (("oidc.ca", oidc.ca), ("oidc.client_secret_file", oidc.client_secret_file))
    if mosquitto.folder is not None:
        yield "mosquitto.certificate", mosquitto.certificate
        yield "mosquitto.key", mosquitto.key
        yield from (("mosquitto.ca", mosquitto.ca), ("mosquitto.crl", mosquitto.crl))
        yield "mosquitto.plugin", mosquitto.plugin
    if settings.storage.blob_store != "files":
        yield "cassandra.tls_ca", cassandra.tls_ca
        yield "cassandra.tls_certificate", cassandra.tls_certificate
        yield "cassandra.tls_key", cassandra.tls_key


def _peers(settings: Settings) -> Iterator[Finding]:
    yield from _ledger(settings)
    mqtt = settings.mqtt
    if not mqtt.embedded:
        place = mqtt.socket or (mqtt.host, mqtt.port)
        start = "systemctl start mosquitto, or change [mqtt] in the settings"
        broker = _peer(f"broker {settings.broker}", place, start)
        login = "; only a start of the gateway shows whether its password is right"
        yield replace(broker, words=broker.words + login * (broker.severity is Severity.OK))
    if settings.storage.blob_store != "files":
        for host in settings.cassandra.contact_points:
            start = f"start Cassandra on {host}, or change cassandra.contact_points"
            yield _peer(f"cassandra {host}", (host, settings.cassandra.port), start)


def _ledger(settings: Settings) -> Iterator[Finding]:
    """Look at the ledger, and whether it has the gateway's site."""
    subject = f"ledger {settings.ledger.url}"
    try:
        with closing(LedgerClient(settings.ledger.place, timeout_s=_ANSWER_S)) as ledger:
            yield ok(subject, f"begins with block {ledger.genesis().header_signature[:16]}…")
            if is_registered(ledger, settings.site_id):
                yield ok("site_id", f"{settings.site_id} is registered on the ledger")
            else:
                register = (
                    f"wayseal-party --key FILE register-site {settings.site_id} --party PARTY"
                )
                remedy = f"{register} --name NAME; or change site_id"
                yield warning("site_id", unregistered(settings.site_id), remedy)
    except WaysealError as problem:
        start = "start the node (systemctl start wayseal-node), or change ledger.url"
        yield error(subject, problem, start)


def _peer(subject: str, place: tuple[str, int] | Path, remedy: str) -> Finding:
    """Look only whether it listens: a login as the gateway would end the gateway's own session."""
    try:
        connect(place, _ANSWER_S)
    except WaysealError as problem:
        return error(subject, problem, remedy)
    return ok(subject, "accepts connections")
