"""What a certificate says of the trip first, and when it is green."""

import itertools
from dataclasses import replace

import pytest

from contracts.errors import UnavailableError
from contracts.proto.payload_pb2 import Limit, Source, StartTrip
from contracts.proto.state_pb2 import (
    Chain,
    Finding,
    Hold,
    Remarked,
    Trip,
)
from contracts.records.remark import Remark, RemarkKind
from gateway.exports.certificate.document import certificate
from gateway.exports.certificate.facts import TripFacts, settled
from gateway.exports.certificate.identity import Identity, own
from gateway.records.trips import RemarkRecord
from support.project.certificates import (
    JUDGED,
    START_MS,
    breach,
    check_laid_out,
    facts,
    moved,
)
from support.project.pdfs import (
    drawn,
    text_of,
)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Identity:
    return own(tmp_path_factory.mktemp("identity") / "documents.pem", "site-b")


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
    assert settled("it", lambda: next(asked), lambda: next(verdicts)) == (after, "second")


def test_a_trip_that_does_not_come_to_rest_is_no_certificate() -> None:
    counts = itertools.count(1)
    with pytest.raises(UnavailableError, match="changed each time"):
        settled("it", lambda: facts(moved(next(counts))), lambda: "verdict")
