"""The largest run that can be fits into a payload, and behind a nearly full batch."""

from contracts import address
from contracts.actions.form import DELIVERIES_MAX
from contracts.actions.payload import PAYLOAD_BYTES_MAX, build
from contracts.records.clock import UTC_MS_MAX
from contracts.records.reading import (
    RUN_READINGS_MAX,
    ChainLink,
    Clock,
    ClockOrigin,
    DeviceChain,
    Position,
    Reading,
    Tamper,
    record_of,
    run_of,
)
from contracts.wire import BATCH_BYTES_MAX
from device.chain.writer import BATCH_BYTES_SOFT, Batcher, BatchLimits
from device.journal.trip import Pending
from support.network.world import key

LARGEST = Reading(
    Clock(UTC_MS_MAX, (1 << 63) - 1, bytes(16), ClockOrigin.GNSS),
    1_000_000,
    100_000,
    2_000_000,
    Position(-900_000_000, -1_800_000_000, (1 << 32) - 1),
    Tamper(sum(Tamper)),
    derived=True,
)


def largest_run() -> Pending:
    device_id, number = "d" * 64, (1 << 63) - RUN_READINGS_MAX - 1
    chain = DeviceChain("a" * 32, device_id)
    links = [ChainLink(chain, number + at, bytes(32)) for at in range(RUN_READINGS_MAX)]
    run = run_of([record_of(LARGEST, link) for link in links])
    deliveries = [address.delivery(str(at)) for at in range(DELIVERIES_MAX)]
    made = build(key("truck-1"), run, dependencies=["f" * 128], deliveries=deliveries)
    assert len(made.payload) < PAYLOAD_BYTES_MAX
    return Pending(made.SerializeToString(), RUN_READINGS_MAX, 0)


def test_a_batch_stays_below_what_a_message_takes() -> None:
    item, limits = largest_run(), BatchLimits(1 << 20, 1 << 20, RUN_READINGS_MAX)
    batcher = Batcher(key("truck-1"), limits, [])
    size = 0
    while not batcher.is_full(0):
        batcher = Batcher(key("truck-1"), limits, [item] * (len(batcher) + 1))
        size = len(batcher)
    batch = Batcher(key("truck-1"), limits, [item] * size).close()
    assert BATCH_BYTES_SOFT < len(batch.wire) < 220_000 < BATCH_BYTES_MAX
    # The worst case: all but full before the last one came.
    assert BATCH_BYTES_SOFT + len(item.wire) < 220_000


def test_a_run_fits_as_a_whole_or_opens_the_next_batch() -> None:
    limits = BatchLimits(100, 60, 40)
    items = [Pending(b"", 40, 0), Pending(b"", 40, 0)]
    batcher = Batcher(key("truck-1"), limits, items[:1])
    assert not batcher.is_full(0)
    assert Batcher(key("truck-1"), limits, items).is_full(0)
    assert batcher.is_full(60_000)
    assert batcher.is_over(60_000, 50_000)
    assert not Batcher(key("truck-1"), limits, []).is_over(60_000, 50_000)
