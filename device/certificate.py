"""This device's own certificate: its key, which never leaves the device, and its renewal.

Adapter: the only importer of cryptography here.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs7 import load_der_pkcs7_certificates
from cryptography.x509.oid import NameOID

from contracts.errors import RejectedError
from contracts.runtime.files import OWNER_ONLY, check_private, make_directory, write_file
from device.settings import TlsFiles

RENEW_AT: Final = 2 / 3
"""The part of its lifetime after which a certificate is renewed."""


def request(files: TlsFiles, device_id: str) -> bytes:
    """Return a certificate request for this device's key, DER; make the key if it is missing.

    Raises:
        RejectedError: The key is damaged, or others may read it.
        UnavailableError: It cannot be written.
    """
    key = _key(files.key)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, device_id)])
    made = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return made.public_bytes(Encoding.DER)


def authority_of(pkcs7: bytes, fingerprint: str) -> bytes:
    """Return the certificate with this fingerprint, PEM, of those that a gateway sent.

    Raises:
        RejectedError: It is not among them: this is another network's gateway, or nobody's.
    """
    found = _certificates(pkcs7)
    for each in found:
        if each.fingerprint(hashes.SHA256()).hex() == fingerprint:
            return each.public_bytes(Encoding.PEM)
    seen = ", ".join(each.fingerprint(hashes.SHA256()).hex() for each in found)
    raise RejectedError(
        f"expected the authority with the fingerprint {fingerprint} of the claim, got {seen}: the "
        f"claim is of another network, or somebody claims to be the gateway"
    )


def keep(files: TlsFiles, pkcs7: bytes, device_id: str) -> None:
    """Keep a certificate that was signed for this device's key, in place of the one before.

    Raises:
        RejectedError: It is not for this key or this device.
        UnavailableError: It cannot be written; the file is the old one.
    """
    certificate = _certificates(pkcs7)[0]
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if certificate.public_key() != _key(files.key).public_key():
        raise RejectedError("expected a certificate for this device's key, got one for another")
    if [each.value for each in names] != [device_id]:
        raise RejectedError(f"expected a certificate for {device_id}, got {names!r:.80}")
    write(files.certificate, certificate.public_bytes(Encoding.PEM))


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a certificate holds, UTC."""

    begins: datetime
    ends: datetime

    @property
    def renewed_from(self) -> datetime:
        """Return when it is time to renew it."""
        return self.begins + (self.ends - self.begins) * RENEW_AT


def lifetime(path: Path) -> Lifetime:
    """Return how long a certificate holds.

    Raises:
        RejectedError: It cannot be read.
    """
    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RejectedError(f"certificate {path}: {error}") from error
    return Lifetime(found.not_valid_before_utc, found.not_valid_after_utc)


def is_due(path: Path) -> bool:
    """Say whether it is time to renew a certificate.

    Raises:
        RejectedError: It cannot be read.
    """
    return datetime.now(UTC) >= lifetime(path).renewed_from


def write(path: Path, pem: bytes) -> None:
    """Replace a file that is for this user alone.

    Raises:
        UnavailableError: It cannot be written; it is the old one.
    """
    write_file(path, pem, temporary=path.with_suffix(".new"), mode=OWNER_ONLY)


def _key(path: Path) -> ec.EllipticCurvePrivateKey:
    make_directory(path.parent)
    if not path.exists():
        made = ec.generate_private_key(ec.SECP256R1())
        write(path, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    try:
        check_private("key", path)
        found = load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise RejectedError(f"key {path}: {error}") from error
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise RejectedError(f"key {path}: expected an EC P-256 key, got another kind")
    return found


def _certificates(pkcs7: bytes) -> list[x509.Certificate]:
    try:
        found = load_der_pkcs7_certificates(pkcs7)
    except ValueError as error:
        raise RejectedError(f"expected certificates (PKCS #7) from the gateway: {error}") from error
    if not found:
        raise RejectedError("expected a certificate from the gateway, got none")
    return found
