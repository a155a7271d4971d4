"""Certificates that the settings name: whether they hold, for how long, and have the right key.

Only the validity of a certificate is read from its bytes; TLS itself does the rest. Also whether
revocation lists hold.
"""

import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339, utc_ms_of
from contracts.runtime.checks import Finding, error, ok, private, warning
from gateway.pki.authority import Authority, Paths
from gateway.pki.revoked import next_update
from gateway.settings import Settings

SOON_DAYS: Final = 25
CRL_SOON_DAYS: Final = 14
_DAY_MS: Final = 86_400_000
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_EXPLICIT_0: Final = 0xA0
_UTC_TIME: Final = 0x17
_LONG: Final = 0x80
_BEFORE_VALIDITY: Final = 3
"""Serial number, algorithm and issuer come before it."""


@dataclass(frozen=True, slots=True)
class Named:
    """A certificate file that the settings name.

    Attributes:
        subject: The setting.
        path: The file.
        last: Whether it holds as long as its last certificate, as authorities do, or its first.
    """

    subject: str
    path: Path
    last: bool = False


def named(settings: Settings) -> Iterator[Named]:
    """Yield each certificate file that the settings name."""
    mosquitto, cassandra, ledger = settings.mosquitto, settings.cassandra, settings.ledger
    if ledger.tls_certificate is not None:
        yield Named("ledger.tls_certificate", ledger.tls_certificate)
    if ledger.tls_ca is not None:
        yield Named("ledger.tls_ca", ledger.tls_ca, last=True)
    if settings.tls.certificate is not None:
        yield Named("tls.certificate", settings.tls.certificate)
    if settings.tls.ca is not None:
        yield Named("tls.ca", settings.tls.ca, last=True)
    if mosquitto.folder is not None and mosquitto.certificate is not None:
        yield Named("mosquitto.certificate", mosquitto.certificate)
    if settings.storage.blob_store != "files":
        if cassandra.tls_certificate is not None:
            yield Named("cassandra.tls_certificate", cassandra.tls_certificate)
        if cassandra.tls_ca is not None:
            yield Named("cassandra.tls_ca", cassandra.tls_ca, last=True)


def validity(of: Named) -> tuple[int, int]:
    """Return from when to when a file's certificates hold, UTC, ms.

    Of a chain every certificate is needed; of several authorities one is enough.

    Raises:
        OSError: The file cannot be read.
        RejectedError: It has no certificate, or a malformed one.
    """
    periods = [_period(each) for each in _certificates(of.path)]
    return (max if of.last else min)(periods, key=lambda period: period[1])


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found of each certificate that is there and can be read."""
    mosquitto, cassandra, tls = settings.mosquitto, settings.cassandra, settings.tls
    yield from _pair("tls", tls.certificate, tls.key, now_ms, "certificate")
    if tls.ca is not None and os.access(tls.ca, os.R_OK):
        yield _validity("tls.ca", tls.ca, now_ms, last=True)
    if tls.crl is not None and os.access(tls.crl, os.R_OK):
        yield _list("tls.crl", tls.crl, now_ms)
    yield from _authority(Paths(settings.pki_dir), now_ms)
    mqtt, ledger = settings.mqtt, settings.ledger
    pair = (ledger.tls_certificate, ledger.tls_key)
    yield from _pair("ledger", *pair, now_ms, "tls_certificate")
    if ledger.tls_ca is not None and os.access(ledger.tls_ca, os.R_OK):
        yield _validity("ledger.tls_ca", ledger.tls_ca, now_ms, last=True)
    yield from _pair("mqtt", mqtt.tls_certificate, mqtt.tls_key, now_ms, "tls_certificate")
    if mosquitto.folder is not None:
        yield from _pair("mosquitto", mosquitto.certificate, mosquitto.key, now_ms, "certificate")
    if settings.storage.blob_store != "files":
        own = (cassandra.tls_certificate, cassandra.tls_key)
        yield from _pair("cassandra", *own, now_ms, "tls_certificate")
        if cassandra.tls_ca is not None and os.access(cassandra.tls_ca, os.R_OK):
            yield _validity("cassandra.tls_ca", cassandra.tls_ca, now_ms, last=True)


def _authority(paths: Paths, now_ms: int) -> Iterator[Finding]:
    """Yield what was found of the network's own authority, if it is here."""
    if not paths.key.exists():
        return
    yield _validity("pki", paths.certificate, now_ms, last=False)
    yield _list("pki", paths.crl, now_ms)
    try:
        entries = Authority(paths.folder).entries()
    except RejectedError as problem:
        yield error("pki", problem, private(paths.key, "restore it from the backup"))
        return
    now = datetime.fromtimestamp(now_ms / 1_000, UTC)
    late = sorted(
        {each.name for each in entries if each.files and each.holds(now) and each.is_due(now)}
    )
    if late:
        why = f"certificates are past two thirds of their time: {', '.join(late)}"
        yield warning("pki", why, f"wayseal-gateway pki renew --folder {paths.folder}")


def _list(subject: str, path: Path, now_ms: int) -> Finding:
    """Judge a revocation list: past its time, it shuts out every client with a certificate."""
    renew = f"wayseal-gateway pki crl, where the authority is; put the new list at {path}"
    try:
        until = next_update(path)
    except RejectedError as problem:
        return error(subject, problem, renew)
    if until is None:
        return ok(subject, f"{path} holds until another one comes")
    ends = utc_ms_of(until)
    if ends <= now_ms:
        why = f"{path} ended at {rfc3339(ends)}: every client with a certificate is refused"
        return error(subject, why, renew)
    left = (ends - now_ms) // _DAY_MS
    if left < CRL_SOON_DAYS:
        return warning(subject, f"{path} ends in {left} days, at {rfc3339(ends)}", renew)
    return ok(subject, f"{path} holds until {rfc3339(ends)}")


def _pair(
    table: str, certificate: Path | None, key: Path | None, now_ms: int, name: str
) -> Iterator[Finding]:
    if certificate is None or not os.access(certificate, os.R_OK):
        return  # `check` tells it
    subject = f"{table}.{name}"
    yield _validity(subject, certificate, now_ms, last=False)
    if key is None or not os.access(key, os.R_OK):
        return
    mode = key.stat().st_mode
    if mode & 0o007:
        yield error(
            f"{table}.{name.replace('certificate', 'key')}",
            f"everybody on this machine may use {key}: its mode is {mode & 0o777:04o}",
            f"chmod o= {key}; if others may have copied it, make a new key and certificate",
        )
    try:
        # The password keeps OpenSSL from asking for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as problem:
        remedy = f"put the key of {certificate} there, or have a certificate made for {key}"
        yield error(subject, f"{certificate} does not go with {key}: {problem}", remedy)


def _validity(subject: str, path: Path, now_ms: int, *, last: bool) -> Finding:
    """Judge the first certificate that expires, or of authorities the last one."""
    renew = f"have {path} renewed, put the new file there, and restart what reads it"
    try:
        begins, ends = validity(Named(subject, path, last))
    except (OSError, RejectedError) as problem:
        return error(subject, f"{path}: {problem}", "put a PEM file with the certificate there")
    if ends <= now_ms:
        return error(subject, f"{path} expired at {rfc3339(ends)}", renew)
    if begins > now_ms:
        clock = (
            "set this machine's clock; if that is right, wait, or have the certificate made again"
        )
        return error(subject, f"{path} is not valid before {rfc3339(begins)}", clock)
    left = (ends - now_ms) // _DAY_MS
    if left < SOON_DAYS:
        return warning(subject, f"{path} expires in {left} days, at {rfc3339(ends)}", renew)
    return ok(subject, f"{path} holds until {rfc3339(ends)}")


def _certificates(path: Path) -> list[bytes]:
    """Return the certificates of a PEM file, DER.

    Raises:
        RejectedError: It has no certificate, or a malformed one.
    """
    text = path.read_text("ascii", "replace")
    found = [f"{_BEGIN}{each.partition(_END)[0]}{_END}\n" for each in text.split(_BEGIN)[1:]]
    if not found:
        raise RejectedError("expected a certificate in PEM form, got none")
    try:
        return [ssl.PEM_cert_to_DER_cert(each) for each in found]
    except ValueError as error:
        raise RejectedError(f"a certificate is malformed: {error}") from error


def _period(der: bytes) -> tuple[int, int]:
    """Return from when to when a certificate is valid, UTC, ms.

    Source: RFC 5280, 4.1; X.690, 8.1.

    Raises:
        RejectedError: It is malformed.
    """
    try:
        _, certificate, _ = _element(der)
        _, rest, _ = _element(certificate)
        if rest[0] == _EXPLICIT_0:  # the version
            _, _, rest = _element(rest)
        for _ in range(_BEFORE_VALIDITY):
            _, _, rest = _element(rest)
        _, validity, _ = _element(rest)
        first, begins, after = _element(validity)
        second, ends, _ = _element(after)
        return _time(first, begins), _time(second, ends)
    except (IndexError, ValueError) as error:
        raise RejectedError(f"a certificate is malformed: {error}") from error


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """Return tag and content of the first element, and what follows it."""
    length, start = data[1], 2
    if length & _LONG:
        start += length & ~_LONG
        length = int.from_bytes(data[2:start], "big")
    return data[0], data[start : start + length], data[start + length :]


def _time(tag: int, text: bytes) -> int:
    form = "%y%m%d%H%M%SZ" if tag == _UTC_TIME else "%Y%m%d%H%M%SZ"
    # UTCTime is for the years up to 2049 only, where %y agrees with RFC 5280, 4.1.2.5.1.
    return utc_ms_of(datetime.strptime(text.decode("ascii"), form).replace(tzinfo=UTC))
