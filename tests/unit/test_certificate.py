"""The certificate of a trip, read again by PDFium, pyHanko and OpenCV."""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from contracts.errors import UnavailableError, WaysealError
from contracts.proto.payload_pb2 import Limit, Lot, RecordVideo, SealTrip, Source, StartTrip
from contracts.proto.state_pb2 import (
    Breach,
    Chain,
    Delivery,
    Finding,
    Hold,
    Remarked,
    TamperEvent,
    Trip,
)
from contracts.records.reading import Tamper
from contracts.records.remark import Remark, RemarkKind
from gateway.exports.certificate.document import certificate
from gateway.exports.certificate.facts import TripFacts, settled
from gateway.exports.certificate.identity import Identity, given, identity_of, own
from gateway.exports.certificate.judgement import Judgement
from gateway.pki.certificates import new_key
from gateway.records.breaches import BreachRecord
from gateway.records.buckets import Bucket, BucketedReadings, Summary
from gateway.records.digests import DigestRecord
from gateway.records.trips import RemarkRecord, SealRecord, TamperRecord, TripRecord
from gateway.settings import Settings
from support.project.pdfs import (
    drawn,
    qr_of,
    reader_of,
    signed_by,
    sizes_of,
    text_of,
    words_of,
)

TRIP: Final = "5f" * 16
START_MS: Final = 1_790_000_000_000
ADDRESS: Final = f"https://gateway.example/trips/{TRIP}?block=0123456789abcdef"
A4: Final = (595.28, 841.89)
GRAZ: Final = (470_707_000, 154_395_000)
_NOTHING: Final = Summary(None, None, None)
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


def bucket(at: int, temperature: int | None, place: tuple[int, int] | None) -> Bucket:
    value = _NOTHING if temperature is None else Summary(temperature, temperature, temperature)
    return Bucket(START_MS + at * 10_000, 1, value, value, _NOTHING, 0, place)


def measured(buckets: Sequence[Bucket]) -> BucketedReadings:
    last = buckets[-1].since_ms if buckets else 0
    return BucketedReadings(START_MS if buckets else 0, last, len(buckets), 0, tuple(buckets))


def moved(count: int) -> list[Bucket]:
    return [bucket(at, 4000 + at, (GRAZ[0] + at * 40_000, GRAZ[1])) for at in range(count)]


def facts(buckets: Sequence[Bucket] = (), lots: Sequence[str] = ()) -> TripFacts:
    start = StartTrip(
        trip_id=TRIP,
        device_id="truck-1",
        delivery_ids=["delivery-1"] if lots else [],
        origin_site_id="graz",
        destination_site_id="wien",
        started_at_ms=START_MS,
    )
    seals = (SealRecord(SealTrip(trip_id=TRIP, device_id="truck-1"), "aa"),)
    delivery = Delivery()
    delivery.terms.delivery_id = "delivery-1"
    delivery.terms.lots.extend(Lot(gtin="00012345678905", lot=each) for each in lots)
    delivery.terms.limits.add(quantity=Limit.TEMPERATURE_MCEL, minimum=2000, maximum=8000)
    return TripFacts(
        TripRecord(start, Trip(), "aa", len(buckets), 0, seals, (), None),
        {"graz": "Dock of Graz", "wien": "Dock of Wien"},
        (delivery,) if lots else (),
        measured(buckets),
        *((),) * 6,
        (),
    )


def breach(at: int) -> BreachRecord:
    limit = Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2000, maximum=8000)
    since = START_MS + at * 10_000
    entry = Breach(
        trip_id=TRIP,
        device_id="truck-1",
        delivery_id="delivery-1",
        limit=limit,
        since_ms=since,
        until_ms=since + 80_000,
        extreme=9100 + at,
        ended=True,
    )
    entry.position.latitude_e7, entry.position.longitude_e7 = GRAZ
    return BreachRecord(entry, None, None)


JUDGED: Final = Judgement(
    "holds",
    [],
    ["anything after block 9"],
    10,
    "0123456789abcdef" * 8,
    "fedcba9876543210" * 8,
    "site-b",
    datetime(2026, 11, 26, 12, 0, tzinfo=UTC),
    ADDRESS,
)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return own(tmp_path_factory.mktemp("identity") / "documents.pem", "site-b")


def der(identity: Identity) -> bytes:
    return identity.chain[-1].public_bytes(Encoding.DER)


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


def check_laid_out(content: bytes) -> None:
    """Check that all text is within the margins of A4, and that no piece is over another."""
    for size in sizes_of(content):
        assert size == pytest.approx(A4, abs=0.1)
    words = [each for each in words_of(content) if each.text.strip()]
    for each in words:
        left, bottom, right, top = each.box
        assert left > 40
        assert right < A4[0] - 40, each
        assert 30 < bottom < top < A4[1] - 40, each
    by_page = itertools.groupby(words, key=lambda each: each.page)
    for _, of_page in by_page:
        for one, other in itertools.combinations(list(of_page), 2):
            across = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
            up = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
            assert min(across, up) < 1, (one, other)


def test_it_says_what_happened_in_plain_words(whole: bytes) -> None:
    said = text_of(whole)
    for words in (
        "Dock of Graz to Dock of Wien",
        "Genuine and complete, with 1 excursion, 1 tamper event and 1 finding",
        "Temperature reached 9.141 °C",
        "outside 2 to 8 °C for 1 min 20 s; delivery delivery-1, device truck-1",
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


def test_evidence_that_does_not_hold_is_the_first_thing_said(identity: Identity) -> None:
    judged = replace(JUDGED, word="does-not-hold", problems=["block 3: its signature is wrong"])
    start = StartTrip(derived_from=[Source(name="replay.avi", sha256=bytes(32))])
    found = facts(moved(3))
    found.trip.start.MergeFrom(start)
    said = text_of(
        certificate(replace(found, trip=replace(found.trip, seals=())), judged, identity)
    )
    assert "The evidence does not hold" in said
    assert "(does-not-hold)" not in said
    assert "block 3: its signature is wrong" in said
    assert "No device has sealed the trip" in said
    assert "Replayed or simulated, not measured on the road: from replay.avi" in said
    assert "Genuine" not in said


def test_keys_that_nobody_trusts_are_named_though_nothing_else_is_wrong(identity: Identity) -> None:
    judged = replace(JUDGED, word="unanchored")
    said = text_of(certificate(facts(moved(3)), judged, identity))
    assert "The keys are not trusted" in said
    assert "Genuine" not in said
    assert "incomplete:" not in said


def silent(gaps: int) -> TripFacts:
    """Return the facts of a trip that must be measured, with so many pauses that are too long."""
    found = facts(moved(3), ["L42"])
    chain_of = Chain(device_id="truck-1")
    chain_of.silences.add(
        quantity=Limit.TEMPERATURE_MCEL, measured=True, longest_ms=900_000, gaps=gaps
    )
    entry = Trip()
    entry.deliveries.add(delivery_id="delivery-1").limits.add(quantity=Limit.TEMPERATURE_MCEL)
    return replace(found, trip=replace(found.trip, entry=entry, chains=(chain_of,)))


def remarked(*kinds: RemarkKind) -> TripFacts:
    remarks = []
    for at, kind in enumerate(kinds):
        once = kind.happens_once
        said = Remark(kind, START_MS, "" if once else "door", amount=1000 if once else 0)
        entry = Remarked(device_id="truck-1", sequence=at, remark=said.message())
        remarks.append(RemarkRecord(entry, None))
    return replace(facts(moved(3)), remarks=tuple(remarks))


def unsealed(*others: str) -> TripFacts:
    """Return the facts of a trip with other devices, which did not seal; alone: nobody did."""
    found = facts(moved(3))
    found.trip.start.other_device_ids.extend(others)
    return found if others else replace(found, trip=replace(found.trip, seals=()))


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (
            replace(facts(moved(3)), findings=(Finding(rule="clock-jump"),) * 2),
            "Genuine and complete, with 2 findings",
        ),
        (silent(1), "Genuine and complete, with 1 silence"),
        (
            remarked(RemarkKind.SENSOR_LOST, RemarkKind.CLOCK_BACK),
            "Genuine and complete, with 2 device faults",
        ),
        (unsealed(), "Genuine, not sealed by all devices"),
        (unsealed("truck-2"), "1 of 2 devices have sealed the trip"),
    ],
    ids=["findings", "silence", "remarks", "unsealed", "sealed by one of two"],
)
def test_it_is_green_only_when_whole_and_good(
    found: TripFacts, says: str, identity: Identity
) -> None:
    made = certificate(found, JUDGED, identity)
    assert says in text_of(made)
    assert not is_green(made)
    check_laid_out(made)


@pytest.mark.parametrize("found", [silent(0), remarked(RemarkKind.CLOCK_CORRECTED)])
def test_what_is_well_stays_green(found: TripFacts, identity: Identity) -> None:
    made = certificate(found, JUDGED, identity)
    assert "Genuine and complete The record" in text_of(made)
    assert is_green(made)


def is_green(content: bytes) -> bool:
    """Say whether the first page has the ground of a good verdict."""
    return bool((drawn(content) == (0xEE, 0xF5, 0xEA)).all(axis=2).any())


def test_a_legal_hold_stands_at_its_time(identity: Identity) -> None:
    hold = Hold()
    hold.placed.hold_id, hold.placed.reason = "hold-1", "claim of the buyer"
    hold.placed.at_ms = START_MS
    said = text_of(
        certificate(
            replace(facts(moved(90)), holds=(hold,), breaches=(breach(41),)), JUDGED, identity
        )
    )
    assert said.index("Legal hold") < said.index("Temperature reached")


def test_facts_are_those_that_the_evidence_shows() -> None:
    """What is committed while the evidence is judged is told, with a verdict that covers it."""
    before, after = facts(moved(3)), replace(facts(moved(3)), breaches=(breach(1),))
    asked = iter((before, after, after))
    verdicts = iter(("first", "second"))
    assert settled(lambda: next(asked), lambda: next(verdicts)) == (after, "second")


def test_a_trip_that_does_not_come_to_rest_is_no_certificate() -> None:
    counts = itertools.count(1)
    with pytest.raises(UnavailableError, match="changed each time"):
        settled(lambda: facts(moved(next(counts))), lambda: "verdict")


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
