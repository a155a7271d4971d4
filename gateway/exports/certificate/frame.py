"""What every certificate begins and ends with: whose it is, a QR code, a verdict, who says so."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import segno
from reportlab.lib.colors import Color, HexColor
from reportlab.pdfgen.canvas import Canvas

from gateway.exports.certificate.identity import Identity
from gateway.exports.certificate.outline import Box
from gateway.exports.certificate.sheet import BAD, GOOD, INK, MARGIN, SOFT, WIDE, Sheet
from gateway.exports.certificate.text import BOLD

_QR: Final = 86.0
BESIDE_QR: Final = WIDE - _QR - 16
"""The room left of the QR code, points."""
_TINT: Final = {GOOD: HexColor(0xEAF5EE), BAD: HexColor(0xFCEDEB), SOFT: HexColor(0xF0F2F4)}
"""The ground of a verdict by the colour of its words."""


def head(
    sheet: Sheet, kind: str, title: str, said: Mapping[str, str], address: str, warning: str = ""
) -> None:
    """Write what a certificate is of, beside a QR code.

    Args:
        sheet: The document.
        kind: Of the certificate, such as `certificate of a trip`.
        title: What it is of, for people.
        said: Facts by their names.
        address: Where the QR code leads.
        warning: What a reader must know before all else; empty: nothing.
    """
    top = sheet.y
    sheet.paragraph(f"Wayseal · {kind}", 8.5, colour=SOFT, room=BESIDE_QR)
    sheet.paragraph(title, 17, BOLD, room=BESIDE_QR, role="H1")
    sheet.y -= 4
    for name, words in said.items():
        at = sheet.y
        sheet.paragraph(name, 8.5, BOLD, SOFT, room=80)
        sheet.y = at
        sheet.paragraph(words, 8.5, left=82, room=BESIDE_QR - 82)
    if warning:
        sheet.paragraph(warning, 9, BOLD, BAD, room=BESIDE_QR)
    with sheet.element("Figure", f"QR code of {address}") as canvas:
        _qr(canvas, address, Box(MARGIN + WIDE - _QR, top - _QR, _QR, _QR))
    bottom, sheet.y = sheet.y, top - _QR
    sheet.paragraph("Scan to verify", 7, BOLD, INK, left=WIDE - _QR, room=_QR)
    sheet.paragraph(address, 5.5, colour=SOFT, left=WIDE - _QR, room=_QR)
    sheet.y = min(bottom, sheet.y) - 8


def _qr(canvas: Canvas, address: str, box: Box) -> None:
    """Draw an address; its quiet zone is the paper around it."""
    matrix = [bytes(row) for row in segno.make(address, error="m", micro=False).matrix]
    side = box.width / len(matrix)
    canvas.setFillColor(INK)
    path = canvas.beginPath()
    for row, modules in enumerate(matrix):
        for column, is_dark in enumerate(modules):
            if is_dark:
                y = box.y + box.height - (row + 1) * side
                path.rect(box.x + column * side, y, side, side)
    canvas.drawPath(path, stroke=0, fill=1)


def verdict(sheet: Sheet, title: str, words: Sequence[str], colour: Color) -> None:
    """Write a verdict: its title and first sentence on a coloured ground, the others below."""
    room = WIDE - 24
    tall = sheet.tall(title, 13, room, BOLD) + sheet.tall(words[0], 9, room) + 10
    sheet.room(tall)
    with sheet.artifact() as canvas:
        canvas.setFillColor(_TINT[colour])
        canvas.rect(MARGIN, sheet.y - tall, WIDE, tall, stroke=0, fill=1)
        canvas.setFillColor(colour)
        canvas.rect(MARGIN, sheet.y - tall, 4, tall, stroke=0, fill=1)
    sheet.y -= 4
    sheet.paragraph(title, 13, BOLD, colour, left=14, room=room, role="H2")
    sheet.paragraph(words[0], 9, left=14, room=room)
    sheet.y -= 10
    for each in words[1:]:
        sheet.paragraph(each, 9, left=14, room=room)


def checking(
    sheet: Sheet, words: Sequence[str], not_shown: Sequence[str], identity: Identity
) -> None:
    """Write who says so and how to check it, and what the certificate does not show.

    Args:
        sheet: The document.
        words: What this kind of certificate says of that.
        not_shown: What it does not show.
        identity: Who signs.
    """
    sheet.heading("Who says so, and how to check it", 2)
    signed = (
        "The PDF is signed (PAdES, ETSI.CAdES.detached). Fingerprint of the signer's certificate, "
        f"SHA-256: {identity.fingerprint}. Compare it with what the gateway's operator tells you."
    )
    fonts = (
        "Characters that the fonts of this document lack are written as their Unicode numbers, "
        "such as [U+6F22]."
    )
    for each in (*words, signed, fonts):
        sheet.paragraph(each, 8)
        sheet.y -= 2
    sheet.paragraph("This does not show:", 8, BOLD)
    for each in not_shown:
        sheet.paragraph(each, 8, left=10, room=WIDE - 10)


def footer(of: str, at: datetime, site_id: str) -> str:
    """Return the line at the foot of each page: what the certificate is of, when, by whom."""
    return f"{of} · made {at:%Y-%m-%d %H:%M:%S} UTC by the gateway of site {site_id}"
