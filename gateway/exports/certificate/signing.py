"""A signature inside a PDF: PAdES, level B-B.

The document is written once with room for the signature; then the bytes around that room are hashed
and signed.

Source: ETSI EN 319 142-1, 5.3 and 6 (level B-B); RFC 5652; RFC 5035 (signing certificate).
"""

import hashlib
from datetime import datetime
from typing import Any, Final

from asn1crypto import algos, cms, core, tsp, x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.serialization import Encoding
from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFObject, PDFString

from gateway.exports.certificate.identity import Identity

_NUMBER: Final = b"%010d"
_ROOM: Final = 2048
"""Bytes for attributes and the frame of a CMS, more than they take."""
_PRINTED_AND_LOCKED: Final = 132
_SIGNED_ONLY_APPENDED: Final = 3


class Slot(PDFObject):
    """Room for the signature of a document.

    Args:
        identity: Who is to sign.
        at: When, UTC.
        reason: Why, in words.
    """

    def __init__(self, identity: Identity, at: datetime, reason: str) -> None:
        self._identity = identity
        self._at = at
        self._reason = reason
        self._empty = b"<" + b"0" * 2 * _room(identity) + b">"

    def put(self, document: Any, first_page: Any) -> None:  # noqa: ANN401 - untyped
        """Make it a field of a document, without its own picture."""
        widget = PDFDictionary(
            {
                "Type": PDFName("Annot"),
                "Subtype": PDFName("Widget"),
                "FT": PDFName("Sig"),
                "T": PDFString("Signature"),
                "TU": PDFString("Signature of the gateway"),
                "F": _PRINTED_AND_LOCKED,
                "Rect": PDFArray([0, 0, 0, 0]),
                "P": document.Reference(first_page),
                "V": document.Reference(self),
            }
        )
        reference = document.Reference(widget)
        first_page.Annots = PDFArray([reference])
        document.Catalog.AcroForm = PDFDictionary(
            {"Fields": PDFArray([reference]), "SigFlags": _SIGNED_ONLY_APPENDED}
        )

    def format(self, document: Any) -> bytes:  # noqa: ANN401 - untyped
        """Return the signature's dictionary, as reportlab asks for it."""
        reason = PDFString(self._reason).format(document)
        numbers = b" ".join([_NUMBER % 0] * 4)
        return (
            b"<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached"
            b" /M (D:%s) /Reason %s /ByteRange [%s] /Contents %s >>"
            % (self._at.strftime("%Y%m%d%H%M%SZ").encode(), reason, numbers, self._empty)
        )

    def sign(self, written: bytes) -> bytes:
        """Return the document with its signature."""
        begin = written.index(self._empty)
        end = begin + len(self._empty)
        places = b" ".join(_NUMBER % each for each in (0, begin, end, len(written) - end))
        unsigned = b"/ByteRange [" + b" ".join([_NUMBER % 0] * 4)
        covered = written.replace(unsigned, b"/ByteRange [" + places, 1)
        digest = hashlib.sha256(covered[:begin] + covered[end:]).digest()
        room = len(self._empty) - 2
        value = cms_signature(self._identity, digest).hex().encode().ljust(room, b"0")
        return covered[:begin] + b"<" + value + b">" + covered[end:]


def _room(identity: Identity) -> int:
    """Return how many bytes are enough for the CMS of an identity.

    It has the certificates; once more the issuer's name, which is shorter than the certificate that
    it is part of; and the signature: an RSA key's length, or two numbers of an EC key's length.
    """
    sizes = [len(each.public_bytes(Encoding.DER)) for each in identity.chain]
    return sum(sizes) + sizes[0] + 2 * (identity.key.key_size // 8 + 1) + _ROOM


def cms_signature(identity: Identity, digest: bytes) -> bytes:
    """Return the CMS that signs a document.

    Args:
        identity: Who signs.
        digest: SHA-256 of what is signed.
    """
    chain = [x509.Certificate.load(each.public_bytes(Encoding.DER)) for each in identity.chain]
    own = tsp.ESSCertIDv2({"cert_hash": hashlib.sha256(chain[0].dump()).digest()})
    attributes = cms.CMSAttributes(
        [
            _attribute("content_type", "data"),
            _attribute("message_digest", digest),
            _attribute("signing_certificate_v2", tsp.SigningCertificateV2({"certs": [own]})),
        ]
    )
    is_elliptic = isinstance(identity.key, ec.EllipticCurvePrivateKey)
    algorithm = "sha256_ecdsa" if is_elliptic else "sha256_rsa"
    signer = {"issuer": chain[0].issuer, "serial_number": chain[0].serial_number}
    sha256 = algos.DigestAlgorithm({"algorithm": "sha256"})
    info = cms.SignerInfo(
        {
            "version": "v1",
            "sid": cms.SignerIdentifier(
                name="issuer_and_serial_number", value=cms.IssuerAndSerialNumber(signer)
            ),
            "digest_algorithm": sha256,
            "signed_attrs": attributes,
            "signature_algorithm": algos.SignedDigestAlgorithm({"algorithm": algorithm}),
            "signature": core.OctetString(_signature(identity, attributes.dump())),
        }
    )
    signed = cms.SignedData(
        {
            "version": "v1",
            "digest_algorithms": [sha256],
            "encap_content_info": {"content_type": "data"},
            "certificates": chain,
            "signer_infos": [info],
        }
    )
    whole: bytes = cms.ContentInfo({"content_type": "signed_data", "content": signed}).dump()
    return whole


def _attribute(kind: str, value: object) -> cms.CMSAttribute:
    return cms.CMSAttribute({"type": kind, "values": [value]})


def _signature(identity: Identity, data: bytes) -> bytes:
    if isinstance(identity.key, ec.EllipticCurvePrivateKey):
        return identity.key.sign(data, ec.ECDSA(hashes.SHA256()))
    return identity.key.sign(data, padding.PKCS1v15(), hashes.SHA256())
