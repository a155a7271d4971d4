"""The certificate of a trip: what its first page says, and who says so."""

from typing import Final

import segno
from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

from gateway.exports.certificate import sections
from gateway.exports.certificate.facts import TripFacts
from gateway.exports.certificate.identity import Identity
from gateway.exports.certificate.judgement import Judgement
from gateway.exports.certificate.outline import Box
from gateway.exports.certificate.sheet import BAD, GOOD, INK, MARGIN, SOFT, WIDE, Sheet
from gateway.exports.certificate.signing import Slot
from gateway.exports.certificate.text import BOLD
from gateway.exports.certificate.wording import claimed, counted, unsealed, what_is_bad, when

_QR: Final = 86.0
_TINT: Final = {GOOD: HexColor(0xEAF5EE), BAD: HexColor(0xFCEDEB), SOFT: HexColor(0xF0F2F4)}
"""The ground of a verdict by the colour of its words."""


def certificate(facts: TripFacts, judged: Judgement, identity: Identity) -> bytes:
    """Return the certificate of a trip as a signed PDF."""
    trip_id = facts.trip.start.trip_id
    slot = Slot(identity, judged.at, f"Certificate of trip {trip_id}")
    sheet = Sheet(
        f"Certificate of trip {trip_id}",
        f"Trip {trip_id} · made {judged.at:%Y-%m-%d %H:%M:%S} UTC by the gateway of site "
        f"{judged.site_id}",
        slot.put,
    )
    _head(sheet, facts, judged)
    _verdict(sheet, facts, judged)
    sections.route(sheet, facts)
    sections.readings(sheet, facts)
    sections.happened(sheet, facts)
    sections.goods(sheet, facts)
    sections.films(sheet, facts)
    _checking(sheet, judged, identity)
    return slot.sign(sheet.finish())


def _head(sheet: Sheet, facts: TripFacts, judged: Judgement) -> None:
    start, sites = facts.trip.start, facts.sites
    top, room = sheet.y, WIDE - _QR - 16
    sheet.paragraph("Wayseal · certificate of a trip", 8.5, colour=SOFT, room=room)
    route = f"{sites[start.origin_site_id]} to {sites[start.destination_site_id]}"
    sheet.paragraph(route, 17, BOLD, room=room, role="H1")
    sheet.y -= 4
    last = f"{when(facts.measured.until_ms)} UTC" if facts.measured.readings else "none"
    via = ", ".join(sites[each] for each in start.via_site_ids)
    devices = [start.device_id, *start.other_device_ids]
    sealed = f"{len(facts.trip.seals)} of {len(devices)}"
    said = {
        "Trip": start.trip_id,
        "Devices": ", ".join(devices),
        "Began": f"{claimed(start.started_at_ms, facts.trip.started_corrected_ms)} UTC",
        "Last reading": last,
        **({"By way of": via} if via else {}),
        "On record": f"{counted(facts.trip.readings, 'reading')}, "
        f"{counted(len(facts.digests), 'recording', or_more='recordings' in facts.cut)}; sealed by "
        f"{sealed} devices",
    }
    for name, words in said.items():
        at = sheet.y
        sheet.paragraph(name, 8.5, BOLD, SOFT, room=80)
        sheet.y = at
        sheet.paragraph(words, 8.5, left=82, room=room - 82)
    if start.derived_from:
        names = ", ".join(each.name for each in start.derived_from)
        words = f"Replayed or simulated, not measured on the road: from {names}"
        sheet.paragraph(words, 9, BOLD, BAD, room=room)
    with sheet.element("Figure", f"QR code of {judged.address}") as canvas:
        _qr(canvas, judged.address, Box(MARGIN + WIDE - _QR, top - _QR, _QR, _QR))
    bottom, sheet.y = sheet.y, top - _QR
    sheet.paragraph("Scan to verify", 7, BOLD, INK, left=WIDE - _QR, room=_QR)
    sheet.paragraph(judged.address, 5.5, colour=SOFT, left=WIDE - _QR, room=_QR)
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


def _verdict(sheet: Sheet, facts: TripFacts, judged: Judgement) -> None:
    bad, open_end = what_is_bad(facts), unsealed(facts)
    if judged.holds:
        title = "Genuine and complete"
        if open_end:
            title = "Genuine, not sealed by all devices"
        if bad:
            title = f"{title}, with {bad}"
        words = [
            "The record was not changed since the truck signed it. "
            + ("What it records is not good: see below." if bad else _all_well(facts))
        ]
    elif judged.problems:
        title = "The evidence does not hold"
        words = [
            "What this certificate shows may have been changed or be incomplete:",
            *judged.problems,
        ]
    else:
        title = "The keys are not trusted"
        distrust = (
            "The signatures do not lead to keys that this gateway trusts: anybody may have made "
            "what this certificate shows."
        )
        words = [distrust]
    if open_end:
        words.append(open_end)
    colour, room = GOOD, WIDE - 24
    if bad or not judged.holds:
        colour = BAD
    elif open_end:
        colour = SOFT
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


def _all_well(facts: TripFacts) -> str:
    if not any(each.terms.limits for each in facts.deliveries):
        return (
            "No sign of tampering is on record. No delivery on board sets a limit, so nothing can "
            "be an excursion."
        )
    return "It records no excursion and no sign of tampering."


def _checking(sheet: Sheet, judged: Judgement, identity: Identity) -> None:
    sheet.heading("Who says so, and how to check it", 2)
    trip_page, _, _ = judged.address.partition("?")
    checked = (
        f"The gateway of site {judged.site_id} checked the evidence of this trip on "
        f"{judged.at:%Y-%m-%d at %H:%M:%S} UTC: every signature, the chain of readings, the seal, "
        f"and {counted(judged.blocks, 'block')} of the ledger with their rules. It judged by keys "
        "that it names itself, so this certificate is the gateway's word and no proof."
    )
    proof = (
        f"For proof that needs no trust in this gateway, take the evidence at {trip_page} and "
        "check it offline with wayseal-verify or the verifier's HTML page, with keys from another "
        "source."
    )
    signed = (
        "The PDF is signed (PAdES, ETSI.CAdES.detached). Fingerprint of the signer's certificate, "
        f"SHA-256: {identity.fingerprint}. Compare it with what the gateway's operator tells you."
    )
    fonts = (
        "Characters that the fonts of this document lack are written as their Unicode numbers, "
        "such as [U+6F22]."
    )
    ledger = f"Ledger: first block {judged.genesis_id}, last block {judged.last_block_id}."
    words = (checked, proof, ledger, signed, fonts)
    for each in words:
        sheet.paragraph(each, 8)
        sheet.y -= 2
    sheet.paragraph("This does not show:", 8, BOLD)
    for each in judged.not_shown:
        sheet.paragraph(each, 8, left=10, room=WIDE - 10)
