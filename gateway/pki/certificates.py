"""What certificates and revocation lists say; nothing here touches a file.

Keys are EC P-256. A device's certificate has its id as common name, which mosquitto takes as user
name, and as the URI `urn:wayseal:device:ID`, which only such a certificate has.

Source: RFC 5280.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from contracts.errors import RejectedError
from contracts.ids import DEVICE_URN, check_id

CA_DAYS: Final = 3650
LEAF_DAYS: Final = 90
CRL_DAYS: Final = 30
NAME_MAX: Final = 64
"""Longest common name (RFC 5280, A.1, ub-common-name-length)."""
BACKDATED: Final = timedelta(hours=1)
"""A certificate is valid from so long ago on, because clocks of trucks and sites differ."""
REVOKED_NAME: Final = x509.ObjectIdentifier("2.25.207346207297240376840322378929609228521")
"""Extension of an entry in a revocation list: the revoked common name, a UTF8String.

Source: X.667 (an arc of a UUID, of the name urn:wayseal:revoked-name).
"""
_UTF8_STRING: Final = 0x0C
_SAN: Final = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,250}[A-Za-z0-9])?")
_ORGANIZATION: Final = "Wayseal"

SigningKey: TypeAlias = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey: TypeAlias = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


@dataclass(frozen=True, slots=True)
class Issuer:
    """A certificate authority.

    Attributes:
        key: Signs; an EC or RSA key.
        certificate: Its certificate.
    """

    key: SigningKey
    certificate: x509.Certificate

    @classmethod
    def make(cls, name: str, now: datetime) -> "Issuer":
        """Make a new authority that signs itself and may not have authorities below it.

        Raises:
            RejectedError: The name is empty or too long.
        """
        if not 0 < len(name) <= NAME_MAX:
            raise RejectedError(
                f"name of the authority: expected 1..{NAME_MAX} characters, got {len(name)}"
            )
        key = new_key()
        subject = _name(name)
        certificate = (
            _builder(subject, subject, key.public_key(), now, CA_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(key, certificate)

    def server(
        self, public_key: PublicKey, name: str, sans: Sequence[str], now: datetime
    ) -> x509.Certificate:
        """Return a certificate for a server, which may also be the client of another one.

        Gateways are clients of Cassandra and mosquitto, and nodes of Cassandra are each other's.
        """
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        names = [_general(text) for text in dict.fromkeys([name, *sans])]
        return self._leaf(public_key, name, names, usages, now)

    def device(self, public_key: PublicKey, device_id: str, now: datetime) -> x509.Certificate:
        """Return a certificate for a device, as client only."""
        names = [x509.UniformResourceIdentifier(DEVICE_URN + device_id)]
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        return self._leaf(public_key, device_id, names, usages, now)

    def revocations(
        self,
        revoked: Iterable[tuple[int, datetime, str]],
        before: x509.CertificateRevocationList | None,
        now: datetime,
    ) -> x509.CertificateRevocationList:
        """Return a new revocation list.

        OpenSSL takes a list only if its lastUpdate is later than that of the one before, and
        compares seconds; so each list is at least a second later, and all begin in the past.

        Args:
            revoked: Serial number, time and common name of each revoked certificate. The name goes
                into the list, so that every site knows whose sessions to end.
            before: The list that it replaces.
            now: The time.
        """
        last, number = now - BACKDATED, int(now.timestamp())
        if before is not None:
            last = max(last, before.last_update_utc + timedelta(seconds=1))
            number = max(number, _number(before) + 1)
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self.certificate.subject)
            .last_update(last)
            .next_update(now + timedelta(days=CRL_DAYS))
            .add_extension(x509.CRLNumber(number), critical=False)
            .add_extension(self._key_identifier, critical=False)
        )
        for serial, at, name in revoked:
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder()
                .serial_number(serial)
                .revocation_date(at)
                .add_extension(_naming(name), critical=False)
                .build()
            )
        return builder.sign(self.key, hashes.SHA256())

    def _leaf(
        self,
        public_key: PublicKey,
        name: str,
        names: Sequence[x509.GeneralName],
        usages: Sequence[x509.ObjectIdentifier],
        now: datetime,
    ) -> x509.Certificate:
        issuer = self.certificate.subject
        return (
            _builder(_name(name), issuer, public_key, now, LEAF_DAYS)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(self._key_identifier, critical=False)
            .sign(self.key, hashes.SHA256())
        )

    @property
    def _key_identifier(self) -> x509.AuthorityKeyIdentifier:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())


def new_key() -> ec.EllipticCurvePrivateKey:
    """Make a key."""
    return ec.generate_private_key(ec.SECP256R1())


def fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 of a certificate's DER form, 64 hexadecimal digits."""
    return certificate.fingerprint(hashes.SHA256()).hex()


def requested(der: bytes) -> tuple[PublicKey, str]:
    """Return the public key and the device id of a certificate request.

    What else the request asks for is ignored: the authority decides what a certificate says.

    Args:
        der: A PKCS #10 request, DER.

    Raises:
        RejectedError: It is malformed, not signed by its own key, or the key is of another kind.
    """
    try:
        request = x509.load_der_x509_csr(der)
        key, is_own = request.public_key(), request.is_signature_valid
        names = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RejectedError(f"expected a certificate request (PKCS #10), got {error}") from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise RejectedError("certificate request: expected an EC P-256 key, got another one")
    if not is_own:
        raise RejectedError("certificate request: its signature is not by its own key")
    if len(names) != 1:
        raise RejectedError(f"certificate request: expected one common name, got {len(names)}")
    return key, check_id("device", str(names[0].value))


def check_san(text: str) -> str:
    """Return `text` if it is an IP address or a host name, perhaps with `*.` before it.

    Raises:
        RejectedError: It is neither.
    """
    _general(text)
    return text


def _general(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        if not _SAN.fullmatch(text):
            raise RejectedError(
                f"name of a server: expected a host name or an IP address, got {text!r:.80}"
            ) from None
        return x509.DNSName(text)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: PublicKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    begins = now.replace(microsecond=0) - BACKDATED
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(now.replace(microsecond=0) + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, _ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def revoked_name(of: x509.RevokedCertificate) -> str:
    """Return the common name in an entry of a revocation list; empty if it tells none."""
    for each in of.extensions:
        if each.oid == REVOKED_NAME and isinstance(each.value, x509.UnrecognizedExtension):
            return each.value.value[2:].decode("ascii", "replace")
    return ""


def _naming(name: str) -> x509.UnrecognizedExtension:
    text = name.encode("ascii")  # at most NAME_MAX, so that one byte holds its length
    return x509.UnrecognizedExtension(REVOKED_NAME, bytes([_UTF8_STRING, len(text)]) + text)


def _number(revocations: x509.CertificateRevocationList) -> int:
    try:
        return revocations.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number
    except x509.ExtensionNotFound:
        return 0


def utc_now() -> datetime:
    """Return the time, UTC, in whole seconds as certificates have it."""
    return datetime.now(UTC).replace(microsecond=0)
