"""The certificate of a trip, read again by PDFium, pyHanko and OpenCV."""

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest

from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.state_pb2 import (
    Finding,
    TamperEvent,
)
from contracts.records.reading import Tamper
from gateway.exports.certificate.document import certificate
from gateway.exports.certificate.identity import Identity, own
from gateway.records.digests import DigestRecord
from gateway.records.trips import TamperRecord
from support.project.certificates import (
    ADDRESS,
    GRAZ,
    JUDGED,
    START_MS,
    TRIP,
    breach,
    bucket,
    check_laid_out,
    der,
    facts,
    moved,
)
from support.project.pdfs import (
    drawn,
    qr_of,
    reader_of,
    signed_by,
    sizes_of,
    text_of,
)

HOSTILE: Final = (
    "<b>&amp;</b>",
    "=cmd|' /C calc'!A0",
    "L" * 128,
    "a\u202eb",
    "\u6f22\u5b57",
    "\u0639\u0631\u0628\u064a",
    "e\u0301",
    "Ж Ω ß Ł",
    ") Tj ET Q q BT (",
    "%%EOF",
)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return own(tmp_path_factory.mktemp("identity") / "documents.pem", "site-b")


@pytest.fixture(scope="module")
def whole(identity: Identity) -> bytes:
    tamper = TamperEvent(
        trip_id=TRIP,
        device_id="truck-1",
        sequence=30,
        utc_ms=START_MS + 300_000,
        flags=Tamper.ENCLOSURE_OPEN,
    )
    video = RecordVideo(sha256=bytes(32), size=12_022_672, started_at_ms=START_MS)
    found = replace(
        facts(moved(90), ["L42"]),
        breaches=(breach(41),),
        tampers=(TamperRecord(tamper, None),),
        findings=(Finding(rule="clock-jump", device_id="truck-1", detail="by 3 s"),),
        digests=(DigestRecord(video, "aa", 7),),
    )
    return certificate(found, JUDGED, identity)


def test_it_says_what_happened_in_plain_words(whole: bytes) -> None:
    said = text_of(whole)
    for words in (
        "Dock of Graz to Dock of Wien",
        "Genuine and complete, with 1 excursion, 1 tamper event and 1 finding",
        "Temperature reached 9.141 °C",
        "outside 2 to 8 °C for 1 min 20 s from 47.0707° N, 15.4395° E on; delivery",
        "Sign of tampering: enclosure open",
        "Clock jump by 3 s",
        "L42 (GTIN 00012345678905)",
        "12,022,672",
        "the gateway's word and no proof",
        "anything after block 9",
    ):
        assert words in said
    check_laid_out(whole)


def test_its_qr_code_leads_to_the_verification(whole: bytes) -> None:
    assert qr_of(whole) == ADDRESS


def test_its_signature_is_pades_and_covers_it_whole(whole: bytes, identity: Identity) -> None:
    found = signed_by(whole, der(identity))
    assert found.intact
    assert found.whole
    assert found.trusted
    assert found.subfilter == "/ETSI.CAdES.detached"
    (signature,) = reader_of(whole).embedded_signatures
    attributes = signature.signer_info["signed_attrs"]
    kinds = {each["type"].native for each in attributes}
    assert kinds == {"content_type", "message_digest", "signing_certificate_v2"}


def test_a_changed_byte_is_caught(whole: bytes, identity: Identity) -> None:
    chance = random.Random(16)
    begin = whole.index(b"/Contents <") + len(b"/Contents <")
    signature = range(begin, whole.index(b">", begin))
    for at in (chance.randrange(len(whole)) for _ in range(60)):
        changed = bytearray(whole)
        changed[at] ^= 1 << chance.randrange(8)
        assert at in signature or not is_sound(bytes(changed), identity), at


def is_sound(content: bytes, identity: Identity) -> bool:
    with suppress(Exception):  # the file may be no PDF any more
        found = signed_by(content, der(identity))
        return found.intact and found.whole
    return False


def test_what_was_appended_is_caught(whole: bytes, identity: Identity) -> None:
    assert not signed_by(whole + b"\n% more\n", der(identity)).whole


def test_it_is_tagged_with_title_and_language(whole: bytes) -> None:
    catalog = reader_of(whole).root
    assert catalog["/Lang"] == "en"
    assert catalog["/MarkInfo"]["/Marked"]
    assert catalog["/ViewerPreferences"]["/DisplayDocTitle"]
    tags = list(elements(catalog["/StructTreeRoot"]["/K"]))
    roles = [str(each["/S"]) for each in tags]
    assert roles[0] == "/Document"
    assert roles.count("/H1") == 1
    assert {"/H2", "/P", "/Table", "/TR", "/TH", "/TD", "/Figure"} <= set(roles)
    figures = [each for each in tags if each["/S"] == "/Figure"]
    assert all(each["/Alt"] for each in figures)
    assert "Map of the route" in " ".join(str(each["/Alt"]) for each in figures)


def elements(element: object) -> Iterator[dict[str, object]]:
    assert isinstance(element, dict)
    yield element
    children = element.get("/K")
    for child in children if isinstance(children, list) else ():
        yield from elements(child.get_object())


@pytest.mark.parametrize("lot", HOSTILE)
def test_names_of_lots_stay_text_that_tells_them_apart(lot: str, identity: Identity) -> None:
    made = certificate(facts(moved(3), [lot, "other"]), JUDGED, identity)
    said = text_of(made).replace(" ", "")
    shown = {
        "a\u202eb": "a[U+202E]b",
        "\u6f22\u5b57": "[U+6F22][U+5B57]",
        "\u0639\u0631\u0628\u064a": "[U+0639][U+0631][U+0628][U+064A]",
        "e\u0301": "e[U+0301]",
    }.get(lot, lot)
    assert f"{shown}(GTIN".replace(" ", "") in said
    assert signed_by(made, der(identity)).intact
    check_laid_out(made)


def test_a_trip_without_readings_says_so(identity: Identity) -> None:
    made = certificate(facts(), JUDGED, identity)
    said = text_of(made)
    for words in (
        "Last reading none",
        "No reading of this trip has a position, so there is no route to draw.",
        "No reading of this trip measured temperature, humidity or pressure.",
        "No delivery on board sets a limit, so nothing can be an excursion.",
        "The trip names no delivery: an empty run, or nobody linked one.",
        "No recording is on record for this trip.",
        "is on record.",
    ):
        assert words in said
    check_laid_out(made)


def test_a_trip_without_positions_has_charts_and_no_map(identity: Identity) -> None:
    buckets = [bucket(at, 4000, None) for at in range(20)]
    said = text_of(certificate(facts(buckets, ["L42"]), JUDGED, identity))
    assert "there is no route to draw" in said
    assert "Temperature, °C (limits: 2 to 8 °C)" in said
    assert "It records no excursion and no sign of tampering." in said


def test_a_trip_across_180_degrees_is_drawn_as_a_short_line(identity: Identity) -> None:
    there = [(-180_000_000 + at * 1_000_000, 1_799_000_000 + at * 100_000) for at in range(10)]
    back = [(-170_000_000, -1_799_900_000 + at * 100_000) for at in range(10)]
    buckets = [bucket(at, 4000, place) for at, place in enumerate([*there, *back])]
    made = certificate(facts(buckets), JUDGED, identity)
    check_laid_out(made)
    picture = drawn(made)
    blue = (picture == (0xAD, 0x5C, 0x0B)).all(axis=2)[400:800]
    columns = blue.any(axis=0).nonzero()[0]
    assert columns.size > 50
    assert blue.sum() < columns.size * 40


def test_a_trip_that_stood_still_is_a_point_on_the_map(identity: Identity) -> None:
    made = certificate(facts([bucket(0, 4000, GRAZ)]), JUDGED, identity)
    assert "from 47.0707° N, 15.4395° E" in text_of(made)
    check_laid_out(made)


def test_long_lists_go_on_over_pages_and_say_what_is_missing(identity: Identity) -> None:
    found = replace(
        facts(moved(600), [f"{at}-{'L' * 128}"[:128] for at in range(100)]),
        breaches=tuple(breach(at) for at in range(100)),
        cut=("excursions",),
    )
    made = certificate(found, JUDGED, identity)
    assert len(sizes_of(made)) > 3
    said = text_of(made)
    assert "with more than 100 excursions" in said
    assert "More excursions this list has the first 100; the evidence has all" in said
    assert said.count("Time, UTC What About it") > 1
    check_laid_out(made)
