"""A device's clocks must agree with themselves."""

from typing import Any

import pytest

from contracts.records.reading import Reading
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found
from support.network.driving import HOUR_MS, MINUTE_MS, at, drive, ready
from support.network.world import (
    Trip,
    one,
    registrations,
)


def test_utc_that_leaves_the_counter_behind_in_small_steps_is_found(host: Host) -> None:
    """Five hours of UTC, five minutes of the counter, and one measurement."""
    trip = ready(host, Trip())
    events = drive(host, trip, [at(0)])
    values = [at(60_000 * step, 1000 * step, None) for step in range(1, 300)]
    events += host.apply(build_batch(trip.signer, [trip.run(values)]))
    found = findings(events)
    assert {each.rule for each in found} == {Rule.CLOCK_JUMP}
    assert found[0].sequence == 2


def test_a_clock_that_runs_a_little_wrong_is_not_found(host: Host) -> None:
    trip = ready(host, Trip())
    values = [at(step * (MINUTE_MS + 10), step * MINUTE_MS) for step in range(300)]
    assert host.apply(build_batch(trip.signer, [trip.run(values)])) == []


def test_a_start_later_than_the_first_reading_is_found(host: Host) -> None:
    known, trip = registrations(), Trip()
    start = trip.start
    start.started_at_ms += HOUR_MS
    apply_all(host, [*known, one(trip.signer, start)])
    assert rules_found(drive(host, trip, [at(0)])) == [Rule.CLOCK_BACK]


@pytest.mark.parametrize(
    ("seal_at", "rule"),
    [(at(HOUR_MS, 5_000), Rule.CLOCK_JUMP), (at(-1, 5_000), Rule.CLOCK_BACK)],
)
def test_a_seal_of_another_time_than_its_counter_says_is_found(
    host: Host, seal_at: Reading, rule: Rule
) -> None:
    trip = ready(host, Trip())
    drive(host, trip, [at(0)])
    late = trip.sealing()
    late.clock.CopyFrom(seal_at.clock.message())
    assert rules_found(host.apply(build_batch(trip.signer, [trip.sign(late)]))) == [rule]


@pytest.mark.parametrize("change", [{"utc_ms": 1 << 60}, {"boot_id": b"x"}, {"utc_ms": 1}])
def test_a_start_states_one_time(host: Host, change: dict[str, Any]) -> None:
    """Silence counts from its clock, and certificates are valid at its time."""
    trip = Trip()
    start = trip.start
    start.clock.CopyFrom(at(0).clock.message())
    for name, value in change.items():
        setattr(start.clock, name, value)
    apply_all(host, registrations())
    assert refused(host, one(trip.signer, start)) is Rule.FORM
