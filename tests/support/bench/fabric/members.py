"""Certificates of a Fabric network for tests: an organisation's members, and a peer's TLS."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

from contracts.proto.fabric_pb2 import SerializedIdentity
from storage.bench.ledger.fabric.identity import ORDER

ECDSA = ec.ECDSA(hashes.SHA256())
DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Member:
    """Somebody with a certificate of an authority."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


class Organisation:
    """An MSP of one authority, which is also that of its peers' TLS."""

    def __init__(self, msp_id: str) -> None:
        self.msp_id = msp_id
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.authority = _signed(_name(f"ca.{msp_id}"), self._key, self._key, _name(f"ca.{msp_id}"))

    def member(
        self,
        name: str,
        *hosts: str,
        curve: ec.EllipticCurve | None = None,
        days: tuple[int, int] = (-1, 30),
    ) -> Member:
        """Return a new member; with hosts, its certificate is one for TLS too."""
        key = ec.generate_private_key(curve or ec.SECP256R1())
        return Member(
            key, _signed(_name(name), key, self._key, self.authority.subject, hosts, days)
        )

    def signed(self, identity: bytes, message: bytes, signature: bytes) -> bool:
        """Say whether a member signed a message, with a low s."""
        member = SerializedIdentity.FromString(identity)
        try:
            certificate = x509.load_pem_x509_certificate(member.id_bytes)
            key = certificate.public_key()
            assert isinstance(key, ec.EllipticCurvePublicKey)
            key.verify(signature, message, ECDSA)
            _, s = utils.decode_dss_signature(signature)
        except (ValueError, InvalidSignature):
            return False
        return member.mspid == self.msp_id and self.has(certificate) and s <= ORDER // 2

    def has(self, certificate: x509.Certificate) -> bool:
        """Say whether the authority issued a certificate."""
        try:
            certificate.verify_directly_issued_by(self.authority)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True

    @property
    def pem(self) -> bytes:
        return self.authority.public_bytes(serialization.Encoding.PEM)

    @cached_property
    def peer(self) -> Member:
        return self.member(f"peer0.{self.msp_id}", "peer0.example.com")

    def serialised(self, member: Member) -> bytes:
        return SerializedIdentity(mspid=self.msp_id, id_bytes=member.pem).SerializeToString()


def settings_file(
    folder: Path,
    target: str,
    organisation: Organisation,
    member: Member,
    **others: str | None,
) -> Path:
    """Write a settings file and what it names; `others` replace settings, None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "member.crt").write_bytes(member.pem)
    (folder / "member.key").write_bytes(member.key_pem)
    (folder / "ca.crt").write_bytes(organisation.pem)
    found: dict[str, str | None] = {
        "url": target, "channel": "trucks", "chaincode": "bench", "msp_id": organisation.msp_id,
        "certificate": "member.crt", "key": "member.key", "tls_ca": "ca.crt",
        "tls_name": "peer0.example.com", **others,
    }  # fmt: skip
    path = folder / "fabric.toml"
    lines = [f"{name} = '{value}'" for name, value in found.items() if value is not None]
    path.write_text("\n".join(lines) + "\n")
    return path


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    hosts: tuple[str, ...] = (),
    days: tuple[int, int] = (-1, 30),
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * DAY)
        .not_valid_after(now + days[1] * DAY)
        .add_extension(x509.BasicConstraints(ca=key is by, path_length=None), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        made = made.add_extension(names, critical=False)
    return made.sign(by, hashes.SHA256())
