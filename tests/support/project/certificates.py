"""Facts of made-up trips, for certificates, and how such a certificate is laid out."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from contracts.proto.payload_pb2 import Limit, Lot, SealTrip, StartTrip
from contracts.proto.state_pb2 import (
    Breach,
    Delivery,
    Trip,
)
from gateway.exports.certificate.facts import TripFacts
from gateway.exports.certificate.identity import Identity
from gateway.exports.certificate.judgement import Judgement
from gateway.records.breaches import BreachRecord
from gateway.records.buckets import Bucket, BucketedReadings, Summary
from gateway.records.trips import SealRecord, TripRecord
from support.project.pdfs import (
    sizes_of,
    words_of,
)

TRIP: Final = "5f" * 16
START_MS: Final = 1_790_000_000_000
ADDRESS: Final = f"https://gateway.example/trips/{TRIP}?block=0123456789abcdef"
A4: Final = (595.28, 841.89)
GRAZ: Final = (470_707_000, 154_395_000)
_NOTHING: Final = Summary(None, None, None)


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


def der(identity: Identity) -> bytes:
    return identity.chain[-1].public_bytes(Encoding.DER)


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
