"""However readings are grouped into transactions, the ledger concludes the same."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from contracts import address
from contracts.actions.payload import build
from contracts.proto.payload_pb2 import (
    Clock,
    Limit,
    OpenDelivery,
    Position,
    RecordReading,
    RegisterDevice,
)
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Finding
from contracts.records.reading import digest, run_of
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, breaches, findings, tampers
from support.network.world import START_MS, TERMS, Trip, key, one, registrations

TRIP = Trip(deliveries=["delivery-1", "delivery-2"])
UNTIL_MS = START_MS + 60_000

clocks = st.builds(
    Clock,
    utc_ms=st.integers(START_MS, START_MS + 120_000),
    monotonic_ms=st.integers(0, 120_000),
    boot_id=st.sampled_from([bytes(16), bytes(16), b"x" * 16]),
    origin=st.integers(0, 3),
)
measured = st.builds(
    RecordReading,
    clock=clocks,
    temperature_mcel=st.none() | st.integers(-5_000, 15_000),
    humidity_mpct=st.none() | st.integers(0, 100_000),
    pressure_pa=st.none() | st.integers(0, 2_000_000),
    position=st.none() | st.builds(Position, latitude_e7=st.integers(-(10**8), 10**8)),
    tamper_flags=st.sampled_from([0, 0, 0, 1, 2, 3, 32]),
    derived=st.booleans(),
)


@st.composite
def series(draw: st.DrawFn) -> list[list[RecordReading]]:
    """Draw stretches of consecutive records, which may repeat, skip, or not follow each other."""
    stretches: list[list[RecordReading]] = []
    for _ in range(draw(st.integers(1, 3))):
        sequence = draw(st.integers(0, 6))
        previous = draw(st.binary(min_size=32, max_size=32)) if sequence else b""
        if sequence and stretches and draw(st.booleans()):
            sequence, previous = stretches[-1][-1].sequence + 1, digest(stretches[-1][-1])
        stretch = []
        for value in draw(st.lists(measured, min_size=1, max_size=7)):
            record = RecordReading()
            record.CopyFrom(value)
            record.trip_id, record.device_id = TRIP.trip_id, TRIP.device_id
            record.sequence, record.previous_sha256 = sequence, previous
            stretch.append(record)
            sequence, previous = sequence + 1, digest(record)
        stretches.append(stretch)
    return stretches


def cut(stretch: Sequence[RecordReading], draw: st.DataObject) -> Iterator[list[RecordReading]]:
    """Yield a stretch in pieces."""
    at = 0
    while at < len(stretch):
        size = draw.draw(st.integers(1, len(stretch) - at))
        yield list(stretch[at : at + size])
        at += size


def ready() -> DirectHost:
    """Return a ledger with a trip under way: two deliveries, one with limits of all kinds."""
    second = OpenDelivery()
    second.CopyFrom(TERMS)
    second.delivery_id = "delivery-2"
    del second.limits[:]
    second.limits.extend(
        [
            Limit(quantity=Limit.TEMPERATURE_MCEL, maximum=6000),
            Limit(quantity=Limit.HUMIDITY_MPCT, minimum=20_000, tolerated_s=5),
            Limit(quantity=Limit.PRESSURE_PA, minimum=50_000, maximum=1_500_000, tolerated_s=30),
        ]
    )
    device = RegisterDevice(
        device_id="truck-1",
        party_id="carrier",
        public_keys=[key("truck-1").public_key],
        calibrated_until_ms=UNTIL_MS,
    )
    host = DirectHost()
    signed = [one(key(name), second) for name in ("seller", "buyer")]
    registered = [*registrations(), one(key("carrier"), device), *signed]
    apply_all(host, [*registered, one(TRIP.signer, TRIP.start)])
    return host


def submit(
    host: DirectHost, records: Sequence[RecordReading], declared: Sequence[str]
) -> list[Event]:
    action = records[0] if len(records) == 1 else run_of(records)
    return host.apply(build_batch(TRIP.signer, [build(TRIP.signer, action, deliveries=declared)]))


def untied(found: Sequence[Finding]) -> list[Finding]:
    """Return findings without the transactions that they are about."""
    for finding in found:
        finding.transaction_id = ""
    return list(found)


@given(series(), st.data(), st.sampled_from([TRIP.deliveries, []]))
def test_any_grouping_comes_to_the_same(
    stretches: list[list[RecordReading]], draw: st.DataObject, deliveries: list[str]
) -> None:
    declared = [address.delivery(name) for name in deliveries]
    alone, grouped = ready(), ready()
    single = [
        event
        for stretch in stretches
        for record in stretch
        for event in submit(alone, [record], declared)
    ]
    pieces = [piece for stretch in stretches for piece in cut(stretch, draw)]
    several = [event for piece in pieces for event in submit(grouped, piece, declared)]
    assert breaches(several) == breaches(single)
    assert tampers(several) == tampers(single)
    assert untied(findings(several)) == untied(findings(single))
    assert conclusions(grouped) == conclusions(alone)


def conclusions(host: DirectHost) -> dict[str, bytes]:
    """Return all state but the findings, whose addresses name transactions."""
    of_findings = address.finding(TRIP.trip_id, "")[:-30]
    return {
        place: value for place, value in host.dump().items() if not place.startswith(of_findings)
    }
