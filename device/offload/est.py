"""Gets this device's certificate from a gateway, and renews it.

Source: RFC 7030, 4.1 and 4.2.
"""

import base64
import binascii
import http.client
import json
import logging
import re
import ssl
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError, UnavailableError
from device import certificate
from device.offload.tls import context_of
from device.settings import GatewaySettings, TlsFiles

ANSWER_BYTES_MAX: Final = 128 << 10
_PREFIX: Final = "/.well-known/est"
_CLAIM: Final = re.compile(
    r"([0-9A-Za-z-]{1,40})\.([0-9a-f]{64})(?:/([A-Za-z0-9][A-Za-z0-9._-]{0,63})/([^/\s]{1,260}))?"
)
_OK: Final = 200
_BUSY: Final = (429, 500, 502, 503, 504)
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """What `wayseal-gateway enrol --claim` printed.

    Attributes:
        code: Counts once.
        fingerprint: Of the authority: SHA-256 of its certificate, hexadecimal.
        device_id: Whom it is for; None if the claim does not say.
        address: HOST:PORT of the gateway's REST; None if the claim does not say.
    """

    code: str
    fingerprint: str
    device_id: str | None = None
    address: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a claim.

        Raises:
            RejectedError: It has another form. The error does not repeat it: it is a secret.
        """
        found = _CLAIM.fullmatch(text.strip())
        if found is None:
            raise RejectedError(
                "expected a claim as `wayseal-gateway enrol --claim` prints it: a code, a dot and "
                "64 hexadecimal digits, and perhaps a device and an address after slashes"
            )
        return cls(*found.groups())

    def login(self, device_id: str) -> str:
        """Return it as HTTP's basic authentication of a device."""
        return "Basic " + base64.b64encode(f"{device_id}:{self.code}".encode()).decode("ascii")


def enrol(
    gateway: GatewaySettings, files: TlsFiles, claim: Claim, device_id: str, line: Enrolment | None
) -> None:
    """Get this device's first certificate, and keep it with the authority's.

    The code goes only to a gateway whose certificate the authority of the claim has signed, or, if
    the settings have `tls_ca`, that one: trucks may have an authority of their own.

    Args:
        gateway: Where.
        files: Where the certificate is kept; its key is made if it is missing.
        claim: The code and the authority.
        device_id: This device.
        line: Its enrolment for the gateway's site; None: its token is made in another way.

    Raises:
        RejectedError: The gateway refuses it, or is of another authority.
        UnavailableError: The gateway does not answer, or a file cannot be written.
    """
    asked = certificate.request(files, device_id)
    pem = authority(gateway, claim)
    trusted = _trusted(gateway, pem)
    headers = {"Authorization": claim.login(device_id)}
    if line is not None:
        encoded = base64.b64encode(line.to_json().encode()).decode("ascii")
        headers["Wayseal-Enrolment"] = encoded
    signed = _ask(gateway, trusted, "POST", "/simpleenroll", headers, asked)
    certificate.write(files.ca, pem)
    certificate.keep(files, signed, device_id)


def _trusted(gateway: GatewaySettings, authority: bytes) -> ssl.SSLContext:
    """Return what a truck without a certificate trusts: `tls_ca`, else the claim's authority."""
    try:
        if gateway.tls_ca is not None:
            return ssl.create_default_context(cafile=gateway.tls_ca)
        return ssl.create_default_context(cadata=authority.decode("ascii"))
    except OSError as error:
        raise RejectedError(f"{gateway}: tls_ca: {error}") from error


def authority(gateway: GatewaySettings, claim: Claim) -> bytes:
    """Return the certificate of the claim's authority, PEM, as the gateway has it.

    Raises:
        RejectedError: The gateway is of another authority.
        UnavailableError: It does not answer.
    """
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE  # what it answers is compared with the fingerprint
    return certificate.authority_of(
        _ask(gateway, anybody, "GET", "/cacerts", {}), claim.fingerprint
    )


def renew_if_due(gateway: GatewaySettings, files: TlsFiles, device_id: str) -> None:
    """Renew this device's certificate after two thirds of its time; it holds on until then.

    A failure is logged: the next offload tries again, and there is a month for it.
    """
    if gateway.tls_certificate != files.certificate:
        return  # none, or one that somebody else looks after
    try:
        if not certificate.is_due(files.certificate):
            return
        asked = certificate.request(files, device_id)
        signed = _ask(gateway, context_of(gateway), "POST", "/simplereenroll", {}, asked)
        certificate.keep(files, signed, device_id)
    except (RejectedError, UnavailableError) as error:
        _log.warning("the certificate of this device is not renewed yet: %s", error)
    else:
        _log.info("the certificate of this device is renewed")


def _ask(
    gateway: GatewaySettings,
    trust: ssl.SSLContext,
    method: str,
    path: str,
    headers: dict[str, str],
    asked: bytes | None = None,
) -> bytes:
    """Return the certificates that a gateway answers, PKCS #7, DER."""
    body = None if asked is None else base64.b64encode(asked)
    kind = {} if body is None else {"Content-Type": "application/pkcs10"}
    said = exchange(gateway, trust, method, _PREFIX + path, kind | headers, body)
    try:
        return base64.b64decode(b"".join(said.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnavailableError(
            f"{gateway.rest}{_PREFIX}{path}: expected certificates in base64, got {error}"
        ) from error


def exchange(
    gateway: GatewaySettings,
    trust: ssl.SSLContext,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None = None,
) -> bytes:
    """Return what a gateway answers with 200.

    Raises:
        RejectedError: It refuses, or its address is not `https://`.
        UnavailableError: It does not answer, or is busy.
    """
    url = urlsplit(gateway.rest)
    where = f"{gateway.rest}{path}"
    if url.scheme != "https" or url.hostname is None:
        raise RejectedError(f"expected a gateway with https://, for certificates, got {where}")
    connection = http.client.HTTPSConnection(
        url.hostname, url.port, timeout=gateway.timeout_s, context=trust
    )
    try:
        connection.request(method, f"{url.path}{path}", body, headers)
        answer = connection.getresponse()
        said = answer.read(ANSWER_BYTES_MAX)
    except (OSError, http.client.HTTPException) as error:
        raise UnavailableError(f"{where}: {error}") from error
    finally:
        connection.close()
    if answer.status != _OK:
        words = f"{where} answered {answer.status}: {_detail(said)}"
        raise (UnavailableError if answer.status in _BUSY else RejectedError)(words)
    return said


def _detail(said: bytes) -> str:
    try:
        return str(json.loads(said)["detail"])[:400]
    except (ValueError, LookupError, TypeError, RecursionError):
        return said[:80].decode("utf-8", "replace")
