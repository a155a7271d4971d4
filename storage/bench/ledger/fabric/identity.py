"""An identity of a Fabric network: a member of an MSP that signs with ECDSA over P-256."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from contracts.errors import RejectedError
from contracts.proto.fabric_pb2 import SerializedIdentity

ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the group of P-256. Source: SEC 2, 2.4.2."""
# The same octets each time, as files of signed transactions have to be. Source: RFC 6979.
_ALGORITHM: Final = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)


@dataclass(frozen=True)
class FabricIdentity:
    """A member of an organisation, with its key.

    Attributes:
        msp_id: Of the organisation.
        certificate: PEM.
        private: The key of the certificate.
    """

    msp_id: str
    certificate: bytes
    private: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def read(cls, msp_id: str, certificate: bytes, key: bytes, about: Callable[[str], str]) -> Self:
        """Read certificate and key, and check that they belong together.

        Args:
            msp_id: Of the organisation.
            certificate: PEM.
            key: PEM, without a password.
            about: Returns how an error about a setting begins.

        Raises:
            RejectedError: One of them is wrong, or the certificate is not valid now.
        """
        try:
            read = x509.load_pem_x509_certificate(certificate)
        except ValueError as error:
            raise RejectedError(
                f"{about('certificate')}: expected a certificate in PEM, got none"
            ) from error
        private = _key(key, about("key"))
        public = read.public_key()
        if not _on_curve(public):
            raise RejectedError(
                f"{about('certificate')}: expected one of a key on the curve P-256, got another"
            )
        if public != private.public_key():
            raise RejectedError(
                f"{about('key')}: expected the key of the certificate of "
                f"{read.subject.rfc4514_string()}, got another key"
            )
        now = datetime.now(UTC)
        if not read.not_valid_before_utc <= now <= read.not_valid_after_utc:
            raise RejectedError(
                f"{about('certificate')}: expected one that is valid now, got one from "
                f"{read.not_valid_before_utc:%Y-%m-%d} to {read.not_valid_after_utc:%Y-%m-%d}"
            )
        return cls(msp_id, certificate, private)

    @cached_property
    def creator(self) -> bytes:
        """Return the identity as messages have it."""
        return SerializedIdentity(mspid=self.msp_id, id_bytes=self.certificate).SerializeToString()

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, DER, with the lower of both possible s.

        Peers refuse the higher one. Source: Hyperledger Fabric, bccsp/utils, ToLowS.
        """
        signature = self.private.sign(message, _ALGORITHM)
        r, s = utils.decode_dss_signature(signature)
        return signature if s <= ORDER // 2 else utils.encode_dss_signature(r, ORDER - s)


def transaction_id(nonce: bytes, creator: bytes) -> bytes:
    """Return the id of a transaction, 32 octets. Source: Hyperledger Fabric, protoutil."""
    return hashlib.sha256(nonce + creator).digest()


def _key(key: bytes, about: str) -> ec.EllipticCurvePrivateKey:
    # The file's content is not told: it may be a secret that was put there by mistake.
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError) as error:
        raise RejectedError(
            f"{about}: expected a private key in PEM without a password, got none"
        ) from error
    if not isinstance(private, ec.EllipticCurvePrivateKey) or not _on_curve(private):
        raise RejectedError(f"{about}: expected a key on the curve P-256, got another one")
    return private


def _on_curve(key: Any) -> bool:  # noqa: ANN401 - any of the library's kinds of keys
    return isinstance(getattr(key, "curve", None), ec.SECP256R1)
