"""A batch of runs is held under the same conditions as a batch of single readings."""

import pytest

from contracts.actions.payload import build
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import RUN_READINGS_MAX, run_of
from contracts.sawtooth.batches import build_batch
from gateway.intake.admission import admit_records
from gateway.intake.held import State
from support.network.world import Trip, key, reading
from support.trucks.rogue import wire_of


def run_batch(count: int) -> Batch:
    trip = Trip()
    values = [reading(at) for at in range(count)]
    return build_batch(key("truck-1"), [trip.sign(trip.start), trip.run(values)])


@pytest.mark.parametrize("count", [1, 60, RUN_READINGS_MAX])
def test_the_readings_of_a_run_are_counted(count: int) -> None:
    held = admit_records(wire_of(run_batch(count)), "truck-1")
    assert (held.state, held.readings) == (State.HELD, count)


def test_a_run_beyond_its_limit_is_quarantined() -> None:
    held = admit_records(wire_of(run_batch(RUN_READINGS_MAX + 1)), "truck-1")
    assert held.state is State.QUARANTINED
    assert str(RUN_READINGS_MAX) in held.reason


def test_a_run_with_a_value_outside_its_range_is_quarantined() -> None:
    trip = Trip()
    for at in range(3):
        trip.record(reading(at))
    run = run_of(trip.records)
    run.readings[1].humidity_mpct = 100_001
    held = admit_records(wire_of(build_batch(key("truck-1"), [build(trip.signer, run)])), "truck-1")
    assert held.state is State.QUARANTINED
    assert "humidity_mpct" in held.reason
