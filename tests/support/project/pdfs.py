"""PDF files as others read them: PDFium draws them, pyHanko checks their signatures."""

import io
from dataclasses import dataclass

import cv2
import numpy as np
import pypdfium2 as pdfium
from asn1crypto import x509
from numpy.typing import NDArray
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of text on a page: its text, and left, bottom, right, top in points."""

    page: int
    text: str
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Signed:
    """What a reader says of a signature."""

    intact: bool
    whole: bool
    trusted: bool
    subfilter: str


def text_of(content: bytes) -> str:
    """Return all text of a file, its lines joined."""
    with pdfium.PdfDocument(content) as document:
        pages = [page.get_textpage().get_text_bounded() for page in document]
    return " ".join(" ".join(pages).split())


def words_of(content: bytes) -> list[Word]:
    """Return each piece of text with its place."""
    found = []
    with pdfium.PdfDocument(content) as document:
        for number, page in enumerate(document):
            text = page.get_textpage()
            for at in range(text.count_rects()):
                box = text.get_rect(at)
                found.append(Word(number, text.get_text_bounded(*box), box))
    return found


def drawn(content: bytes, page: int = 0, scale: float = 2) -> NDArray[np.uint8]:
    """Return a page as PDFium draws it, (H, W, 3) uint8, BGR."""
    with pdfium.PdfDocument(content) as document:
        picture: NDArray[np.uint8] = document[page].render(scale=scale).to_numpy()
        return picture.copy()


def qr_of(content: bytes) -> str:
    """Return what the QR code on the first page says; empty: it cannot be read."""
    return cv2.QRCodeDetectorAruco().detectAndDecode(drawn(content, scale=3))[0]


def sizes_of(content: bytes) -> list[tuple[float, float]]:
    """Return width and height of each page, points."""
    with pdfium.PdfDocument(content) as document:
        return [page.get_size() for page in document]


def reader_of(content: bytes) -> PdfFileReader:
    """Return a reader that allows nothing that the standard forbids."""
    return PdfFileReader(io.BytesIO(content), strict=True)


def signed_by(content: bytes, trusted: bytes) -> Signed:
    """Return what pyHanko says of a file's only signature.

    Args:
        content: The file.
        trusted: The certificate that a reader trusts, DER.
    """
    (signature,) = reader_of(content).embedded_signatures
    root = x509.Certificate.load(trusted)
    context = ValidationContext(trust_roots=[root], allow_fetching=False)
    usage = KeyUsageConstraints(key_usage={"digital_signature"})
    found = validate_pdf_signature(signature, context, key_usage_settings=usage)
    return Signed(
        found.intact and found.valid,
        found.coverage is SignatureCoverageLevel.ENTIRE_FILE,
        found.trusted,
        signature.sig_object["/SubFilter"],
    )
