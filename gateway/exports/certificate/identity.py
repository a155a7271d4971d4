"""The key and the certificate that sign documents for people: X.509, as PDF readers know it.

The gateway's key on the ledger is on a curve that no PDF reader knows. Without a certificate in the
settings the gateway makes one of its own; readers then show an unknown signer, and the fingerprint
tells whether it is this gateway.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import OWNER_ONLY, check_private, disk_errors, in_turn, write_file
from gateway.pki.certificates import new_key, utc_now
from gateway.settings import Settings

DAYS: Final = 5 * 365
"""How long a certificate of the gateway's own lasts."""
RENEWED_BEFORE: Final = timedelta(days=30)

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signs: a key, and its certificate before those that vouch for it."""

    key: PrivateKey
    chain: tuple[x509.Certificate, ...]

    @property
    def certificate(self) -> x509.Certificate:
        """Return the certificate of the key."""
        return self.chain[0]

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the certificate, 64 hexadecimal digits."""
        return self.certificate.fingerprint(hashes.SHA256()).hex()


def identity_of(settings: Settings) -> Identity:
    """Return who signs the documents of a gateway.

    Raises:
        UnavailableError: It cannot sign: see `given` and `own`. The question was sound.
    """
    documents = settings.documents
    try:
        if documents.certificate is not None and documents.key is not None:
            return given(documents.certificate, documents.key)
        return own(settings.documents_file, settings.site_id)
    except RejectedError as error:
        raise UnavailableError(
            f"the gateway cannot sign documents: {error}; its operator has to mend that"
        ) from error


def given(certificate: Path, key: Path) -> Identity:
    """Return the identity in the operator's files.

    Raises:
        RejectedError: A file has no such thing, or they do not belong together.
        UnavailableError: A file cannot be read, or the certificate is not valid now.
    """
    check_private("key", key)
    with disk_errors("read", key):
        key_pem = key.read_bytes()
    with disk_errors("read", certificate):
        chain_pem = certificate.read_bytes()
    found = _parse(key_pem, chain_pem, f"{key} and {certificate}")
    now, leaf = utc_now(), found.certificate
    if not leaf.not_valid_before_utc <= now <= leaf.not_valid_after_utc:
        raise UnavailableError(
            f"certificate {certificate}: expected one that is valid now, got one from "
            f"{leaf.not_valid_before_utc:%Y-%m-%d} to {leaf.not_valid_after_utc:%Y-%m-%d}"
        )
    return found


def own(path: Path, site_id: str) -> Identity:
    """Return the identity that a gateway made for itself; make it if it is missing or ends soon.

    Args:
        path: Its file: key and certificate, for the gateway's user alone.
        site_id: The gateway's site, which the certificate names.

    Raises:
        RejectedError: The file has no such thing.
        UnavailableError: The file cannot be read or written.
    """
    with in_turn(path.with_suffix(".lock")):
        with disk_errors("read", path):
            pem = path.read_bytes() if path.exists() else b""
        if pem:
            found = _parse(pem, pem, str(path))
            if found.certificate.not_valid_after_utc > utc_now() + RENEWED_BEFORE:
                return found
        made = _made(site_id)
        key = made.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        whole = key + made.certificate.public_bytes(Encoding.PEM)
        write_file(path, whole, temporary=path.with_suffix(".new"), mode=OWNER_ONLY)
        return made


def _made(site_id: str) -> Identity:
    key, now = new_key(), utc_now().replace(microsecond=0)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Wayseal gateway {site_id}"[:64])])
    usage = dict.fromkeys(
        (
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "key_cert_sign",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(digital_signature=True, content_commitment=True, **usage), critical=True
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Identity(key, (certificate,))


def _parse(key_pem: bytes, chain_pem: bytes, place: str) -> Identity:
    try:
        key = load_pem_private_key(key_pem, None)
        chain = tuple(x509.load_pem_x509_certificates(chain_pem))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RejectedError(
            f"{place}: expected an unencrypted private key and its certificate, PEM: {error}"
        ) from error
    if not isinstance(key, PrivateKey):
        raise RejectedError(f"{place}: expected an EC or RSA key, got {type(key).__name__}")
    if chain[0].public_key() != key.public_key():
        raise RejectedError(f"{place}: expected the key's own certificate first, got another's")
    return Identity(key, chain)
