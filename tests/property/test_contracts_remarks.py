"""What devices say of themselves: it comes back as it went, whole or not at all."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from contracts.actions.payload import decode, encode
from contracts.errors import RejectedError
from contracts.evidence.corrected import CorrectedTimes
from contracts.proto.payload_pb2 import RecordReading, RecordRun
from contracts.proto.state_pb2 import Remarked
from contracts.records.corrections import CORRECTIONS_MAX, Corrections
from contracts.records.reading import (
    ERROR_MS_MAX,
    ChainLink,
    Clock,
    ClockOrigin,
    DeviceChain,
    Reading,
    Tamper,
    reading_of,
    record_of,
    run_of,
)
from contracts.records.remark import AMOUNT_END, Remark, RemarkKind, Told
from contracts.rendered_remarks import remark as rendered
from contracts.rendered_remarks import stretches
from support.network.world import START_MS, Trip, reading

KINDS: Final = list(RemarkKind)
BOOTS: Final = (b"\x01" * 16, b"\x02" * 16)
DEVICES: Final = ("truck-1", "cam-1")
ids = st.sampled_from(["cargo", "hold-000001.mp4", "0", "x" * 64])
times = st.integers(0, 1 << 45)


@st.composite
def remarks(draw: st.DrawFn) -> Remark:
    """Draw a remark."""
    kind = draw(st.sampled_from(KINDS))
    ended = draw(st.booleans()) and not kind.happens_once
    amount = draw(st.integers(0, AMOUNT_END - 1))
    return Remark(kind, draw(times), draw(st.just("") | ids), ended, amount)


told = st.builds(
    Told,
    st.lists(remarks(), max_size=2).map(tuple),
    st.lists(
        st.tuples(st.binary(min_size=32, max_size=32), st.integers(0, AMOUNT_END - 1)), max_size=2
    ).map(tuple),
    st.lists(st.tuples(ids, times), max_size=2).map(tuple),
)
clocks = st.builds(
    Clock,
    st.sampled_from([1_000_000, START_MS]).flatmap(lambda base: st.integers(base, base + 500_000)),
    st.integers(0, 500_000),
    st.sampled_from(BOOTS),
    st.sampled_from(list(ClockOrigin)),
    st.none() | st.integers(0, ERROR_MS_MAX),
)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    """Draw a reading that tells something, with any signs; it need not measure anything."""
    value = Reading(draw(clocks), tamper=Tamper(draw(st.integers(0, 511))), told=draw(told))
    return replace(value, temperature_mcel=draw(st.none() | st.integers(-1000, 1000)))


def signed(values: Sequence[Reading]) -> list[RecordReading]:
    """Return readings as links of a chain."""
    trip = Trip()
    return [trip.following(value) for value in values]


@given(st.lists(readings(), min_size=1, max_size=3))
def test_readings_come_back_as_they_went_alone_and_in_a_run(values: list[Reading]) -> None:
    records = signed(values)
    for value, record in zip(values, records, strict=True):
        alone = decode(encode(record))
        assert isinstance(alone, RecordReading)
        assert reading_of(alone) == value
    run = decode(encode(run_of(records)))
    assert isinstance(run, RecordRun)
    assert [reading_of(each) for each in run.readings] == values


def again(payload: bytes) -> bytes | None:
    """Return what the reading in a payload encodes to; None if it is refused, and nothing else."""
    try:
        action = decode(payload)
        if not isinstance(action, RecordReading):
            return None
        chain = DeviceChain(action.trip_id, action.device_id)
        link = ChainLink(chain, action.sequence, action.previous_sha256)
        return encode(record_of(reading_of(action), link))
    except RejectedError:
        return None


@given(readings())
def test_a_reading_that_is_cut_at_any_byte_is_refused(value: Reading) -> None:
    payload = encode(signed([value])[0])
    for size in range(len(payload)):
        assert again(payload[:size]) is None


@given(readings(), st.lists(st.tuples(st.integers(0), st.integers(1, 255)), max_size=16))
def test_a_reading_with_a_changed_byte_is_refused_or_says_what_its_bytes_say(
    value: Reading, changes: list[tuple[int, int]]
) -> None:
    payload = encode(signed([value])[0])
    assert again(payload) == payload
    for place, bits in changes:
        changed = bytearray(payload)
        changed[place % len(payload)] ^= bits
        assert again(bytes(changed)) in (None, bytes(changed))


def entry(device_id: str, sequence: int, value: Reading, said: Remark) -> Remarked:
    """Return a remark as the rules tell it."""
    return Remarked(
        device_id=device_id, sequence=sequence, clock=value.clock.message(), remark=said.message()
    )


@given(st.lists(st.tuples(st.sampled_from(DEVICES), remarks()), max_size=12))
def test_whatever_began_is_told_once_in_order(said: list[tuple[str, Remark]]) -> None:
    entries = [entry(device_id, at, reading(at), each) for at, (device_id, each) in enumerate(said)]
    found = stretches(entries)
    assert [each.entry for each in found] == [each for each in entries if not each.remark.ended]
    assert all(str(each) for each in found)
    assert len([rendered(each, None) for each in entries]) == len(entries)


correcting = st.builds(Remark, st.just(RemarkKind.CLOCK_CORRECTED), st.just(0))


@given(
    st.lists(
        st.tuples(st.sampled_from(DEVICES), clocks, st.lists(correcting, max_size=2).map(tuple)),
        max_size=40,
    )
)
def test_ledger_and_evidence_correct_each_reading_alike(
    drawn: list[tuple[str, Clock, tuple[Remark, ...]]],
) -> None:
    seen, entries, read = CorrectedTimes(), [], []
    for sequence, (device_id, clock, said) in enumerate(drawn):
        value = Reading(clock, temperature_mcel=0, told=Told(said))
        seen.take(device_id, sequence, signed([value])[0])
        entries += [entry(device_id, sequence, value, each) for each in said]
        read.append((device_id, sequence, clock))
    known = Corrections(entries)
    right = [known.corrected_ms(who, number, clock.message()) for who, number, clock in read]
    assert [seen.of_reading(who, number) for who, number, _ in read] == right
    assert bool(known) == bool(seen.corrections) == any(said for _, _, said in drawn)
    times_ms = [
        clock.utc_ms if at is None else at for at, (*_, clock) in zip(right, read, strict=True)
    ]
    assert len(seen.corrections) <= CORRECTIONS_MAX * len(DEVICES)
    span = (min(times_ms), max(times_ms)) if seen.corrections else None
    assert seen.span() == span
