"""A reading that decodes, by a registered device on a trip, is never invalid."""

from hypothesis import given
from hypothesis import strategies as st

from contracts import address
from contracts.actions.payload import build
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Clock, Position, RecordReading, RegisterDevice
from contracts.proto.state_pb2 import Chain
from contracts.records.clock import UTC_MS_MAX
from contracts.records.reading import TAMPER_ALL_1_1, reading_of
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import DirectHost, apply_all, breaches, refused, rules_found
from support.network.world import START_MS, Trip, key, link_of, one, reading, registrations

TRIP = Trip()
U32, U63, U64 = (1 << 32) - 1, (1 << 63) - 1, (1 << 64) - 1


def around(low: int, high: int, most: int, least: int = 0) -> st.SearchStrategy[int]:
    """Draw within the range, at its ends, just beyond, and at the ends of what can be encoded."""
    edges = (low - 1, low, high, high + 1, least, most)
    inside = st.sampled_from([each for each in edges if least <= each <= most])
    return inside | st.integers(low, high)


I32 = {"most": (1 << 31) - 1, "least": -(1 << 31)}
clocks = st.builds(
    Clock,
    utc_ms=around(0, UTC_MS_MAX, U64) | st.integers(START_MS, START_MS + 100_000),
    monotonic_ms=around(0, U63, U64) | st.integers(0, 100_000),
    boot_id=st.sampled_from([bytes(16), b"x" * 16]) | st.binary(max_size=17),
    origin=st.integers(0, 4),
)
positions = st.builds(
    Position,
    latitude_e7=around(-900_000_000, 900_000_000, **I32),
    longitude_e7=around(-1_800_000_000, 1_800_000_000, **I32),
    accuracy_cm=st.integers(0, U32),
)
records = st.builds(
    RecordReading,
    trip_id=st.just(TRIP.trip_id),
    device_id=st.sampled_from(["truck-1", "truck-1", "truck-1", "truck-2"]) | st.text(max_size=9),
    sequence=st.integers(0, 5) | around(0, U63, U64),
    previous_sha256=st.just(b"") | st.binary(min_size=32, max_size=32) | st.binary(max_size=33),
    clock=clocks,
    temperature_mcel=st.none() | around(-273_150, 1_000_000, **I32),
    humidity_mpct=st.none() | around(0, 100_000, **I32),
    pressure_pa=st.none() | around(0, 2_000_000, **I32),
    position=st.none() | positions,
    tamper_flags=st.integers(0, TAMPER_ALL_1_1) | around(0, TAMPER_ALL_1_1, U32),
    derived=st.booleans(),
)


def fitted(record: RecordReading, sequence: int, hash_: bytes, clock: Clock) -> RecordReading:
    """Return `record` with a place and a clock that decode; the rest may not."""
    fit = RecordReading()
    fit.CopyFrom(record)
    fit.device_id = "truck-1" if not record.device_id.startswith("truck") else record.device_id
    fit.sequence, fit.previous_sha256 = sequence, hash_ if sequence else b""
    fit.clock.CopyFrom(clock)
    return fit


decodable = st.builds(
    fitted,
    records,
    st.integers(0, 8) | st.just(U63),
    st.binary(min_size=32, max_size=32),
    st.builds(
        Clock,
        utc_ms=st.integers(START_MS, START_MS + 100_000) | st.sampled_from([0, UTC_MS_MAX]),
        monotonic_ms=st.integers(0, 100_000) | st.just(U63),
        boot_id=st.sampled_from([bytes(16), b"x" * 16]),
        origin=st.integers(0, 3),
    ),
)


def decodes(record: RecordReading) -> bool:
    try:
        reading_of(record)
        link_of(record)
    except RejectedError:
        return False
    return record.tamper_flags <= TAMPER_ALL_1_1  # a client's usual version knows no other sign


def ready() -> DirectHost:
    host = DirectHost()
    spy = RegisterDevice(device_id="spy", party_id="buyer", public_keys=[key("spy").public_key])
    apply_all(host, [*registrations(), one(key("buyer"), spy), one(TRIP.signer, TRIP.start)])
    return host


@given(
    st.lists(st.tuples(records | decodable, st.booleans(), st.booleans()), max_size=12),
    st.sampled_from(["none", "key revoked", "sealed"]),
)
def test_a_reading_that_decodes_is_never_invalid(
    drawn: list[tuple[RecordReading, bool, bool]], event: str
) -> None:
    host = ready()
    for number, (record, foreign, declared) in enumerate(drawn):
        if number == len(drawn) // 2:
            happen(host, event)
        signer = key("spy") if foreign else TRIP.signer
        deliveries = [address.delivery("delivery-1")] if declared else []
        batch = build_batch(signer, [build(signer, record, deliveries=deliveries)])
        if decodes(record):
            host.apply(batch)
        else:
            assert refused(host, batch) is Rule.FORM


def happen(host: DirectHost, event: str) -> None:
    """Let something come in between."""
    if event == "sealed":
        host.apply(build_batch(TRIP.signer, [Trip().seal()]))
    elif event == "key revoked":
        revoked = RegisterDevice(device_id="truck-1", party_id="carrier")
        host.apply(one(key("carrier"), revoked))


@given(st.lists(st.integers(-10_000, 20_000), min_size=1, max_size=40), st.integers(1, 9))
def test_an_honest_trip_has_no_findings_and_breaches_begin_and_end(
    temperatures: list[int], size: int
) -> None:
    values = [reading(number, value) for number, value in enumerate(temperatures)]
    hosts = DirectHost(), DirectHost()
    story = [*registrations(), *Trip().whole(values, size=size)]
    first, second = (apply_all(host, story) for host in hosts)
    assert first == second
    assert list(hosts[0].dump().items()) == list(hosts[1].dump().items())
    assert rules_found(first) == []
    expected = breached_spans(temperatures)
    ended = [each for each in breaches(first) if each.ended]
    assert [(each.since_sequence, each.until_sequence) for each in ended] == expected
    assert len(breaches(first)) == 2 * len(expected)


def breached_spans(temperatures: list[int]) -> list[tuple[int, int]]:
    """Return first and last reading of every breach, said another way than the rules say it.

    The terms allow 2..8 Cel and tolerate 20 s, which five readings of five seconds exceed not,
    and six do.
    """
    spans: list[tuple[int, int]] = []
    outside: list[int] = []
    for number, value in enumerate([*temperatures, 5000]):
        if not 2000 <= value <= 8000:
            outside.append(number)
            continue
        if len(outside) > 5:
            spans.append((outside[0], outside[-1]))
        outside = []
    return spans


@given(st.permutations(range(6)))
def test_readings_in_any_order_are_all_kept_and_the_chain_tells(order: list[int]) -> None:
    host, trip = ready(), Trip()
    batches = [build_batch(trip.signer, [trip.record(reading(number))]) for number in range(6)]
    found = rules_found(apply_all(host, [batches[number] for number in order]))
    if order == sorted(order):
        assert found == []
    else:
        assert {Rule.SEQUENCE_GAP, Rule.SEQUENCE_REPEATED} & {Rule(rule) for rule in found}
    chain = Chain.FromString(host.state(address.chain(trip.trip_id, "truck-1")) or b"")
    assert chain.next_sequence == 6
    assert chain.count + found.count(Rule.SEQUENCE_REPEATED) == 6
