"""The keys and certificates that sign certificates of trips."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from contracts.errors import UnavailableError, WaysealError
from gateway.exports.certificate.document import certificate
from gateway.exports.certificate.identity import Identity, given, identity_of, own
from gateway.pki.certificates import new_key
from gateway.settings import Settings
from support.project.certificates import (
    JUDGED,
    der,
    facts,
    moved,
)
from support.project.pdfs import (
    signed_by,
)


def chain(
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, now: datetime | None = None
) -> Identity:
    """Return an identity with a certificate by an authority, valid a day before and after `now`."""
    now = now or datetime.now(UTC)
    authority = ec.generate_private_key(ec.SECP256R1())
    found = []
    for name, public, is_authority in (
        ("leaf", key.public_key(), False),
        ("authority", authority.public_key(), True),
    ):
        usage = dict.fromkeys(
            ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
        )
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name.from_rfc4514_string(f"CN={name}"))
            .issuer_name(x509.Name.from_rfc4514_string("CN=authority"))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=not is_authority,
                    key_cert_sign=is_authority,
                    crl_sign=is_authority,
                    encipher_only=False,
                    decipher_only=False,
                    **usage,
                ),
                critical=True,
            )
        )
        found.append(builder.sign(authority, hashes.SHA256()))
    return Identity(key, tuple(found))


@pytest.mark.parametrize("kind", ["EC", "RSA"])
def test_an_operators_own_certificate_signs_with_what_vouches_for_it(kind: str) -> None:
    is_rsa = kind == "RSA"
    key = (
        rsa.generate_private_key(65537, 2048) if is_rsa else ec.generate_private_key(ec.SECP384R1())
    )
    made = chain(key)
    found = signed_by(certificate(facts(moved(2)), JUDGED, made), der(made))
    assert found.intact
    assert found.trusted


def test_a_long_name_of_the_authority_has_room_in_the_signature() -> None:
    key = new_key()
    names = ",".join(f"OU={'n' * 60}{at:02}" for at in range(50))
    name = x509.Name.from_rfc4514_string(names)
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    found = signed_by(
        certificate(facts(moved(2)), JUDGED, Identity(key, (made,))), der(Identity(key, (made,)))
    )
    assert (found.intact, found.whole) == (True, True)


def test_a_damaged_file_is_the_gateways_fault_and_not_the_askers(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, site_id="site-b")
    settings.documents_file.write_text("none")
    with pytest.raises(UnavailableError, match=r"cannot sign documents: .*documents\.pem"):
        identity_of(settings)


def test_a_gateways_own_certificate_stays(tmp_path: Path) -> None:
    path = tmp_path / "documents.pem"
    first = own(path, "site-b")
    assert own(path, "site-b").fingerprint == first.fingerprint
    assert path.stat().st_mode & 0o077 == 0


def written(identity: Identity, folder: Path) -> tuple[Path, Path]:
    """Write an identity as an operator does; return the paths of certificate and key."""
    certificate, key = folder / "documents.crt", folder / "documents.key"
    pem = b"".join(each.public_bytes(Encoding.PEM) for each in identity.chain)
    certificate.write_bytes(pem)
    key.write_bytes(identity.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key.chmod(0o600)
    return certificate, key


def test_an_operators_files_are_read_with_all_that_vouches(tmp_path: Path) -> None:
    made = chain(new_key())
    assert given(*written(made, tmp_path)).chain == made.chain


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda c, _k: c.write_text("none"), "expected an unencrypted private key and its certif"),
        (lambda _c, k: k.write_text("none"), "expected an unencrypted private key and its certif"),
        (lambda _c, k: k.chmod(0o644), "documents.key"),
        (lambda c, _k: c.unlink(), "documents.crt"),
        (
            lambda c, _k: c.write_bytes(chain(new_key()).certificate.public_bytes(Encoding.PEM)),
            "expected the key's own certificate first, got another's",
        ),
        (lambda c, _k: expire(c.parent), "expected one that is valid now, got one from 2020-"),
    ],
)
def test_files_that_cannot_sign_are_named(
    spoil: Callable[[Path, Path], object], says: str, tmp_path: Path
) -> None:
    certificate_file, key_file = written(chain(new_key()), tmp_path)
    spoil(certificate_file, key_file)
    with pytest.raises(WaysealError, match=re.escape(says)):
        given(certificate_file, key_file)


def expire(folder: Path) -> None:
    written(chain(new_key(), datetime(2020, 1, 2, tzinfo=UTC)), folder)
