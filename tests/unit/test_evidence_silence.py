"""Silence and block times in the verdict, also when all is well."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contracts.actions.payload import build, decode
from contracts.evidence.report import as_json
from contracts.evidence.statenodes import message_of
from contracts.evidence.verify import Verdict
from contracts.evidence.words import as_text
from contracts.proto.evidence_pb2 import StateNode
from contracts.proto.payload_pb2 import CloseTrip, OpenDelivery, RegisterDevice
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader, Transaction
from contracts.records.reading import Reading
from contracts.rules.blocktimes import TOLERANCE_MS
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.block_info import block_info_batch
from contracts.sawtooth.pruned import Pruning, Wanted
from support.evidence.chain import evidence_of, trust_in
from support.evidence.forgery import verdict_on
from support.network.world import START_MS, TERMS, Trip, handovers, key, one, reading, registrations

START_S = START_MS // 1000
CALM = [reading(number) for number in range(10)]
MUTE = [Reading(each.clock, humidity_mpct=50_000) for each in CALM]


def verdict(*groups: Sequence[Batch]) -> Verdict:
    """Return the verdict on a ledger's evidence about the trip; it must hold."""
    evidence = evidence_of(groups, [Trip().trip_id])
    found = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert found.problems == []
    return found


def lines(told: Verdict, word: str) -> list[str]:
    return [line.strip() for line in as_text(told).splitlines() if word in line]


def test_the_longest_silence_is_told_when_all_is_well() -> None:
    trip = Trip()
    told = verdict(registrations(), trip.whole(CALM), handovers(trip.trip_id))
    assert lines(told, "longest silence") == [
        "longest silence: temperature 5 s of 900 s allowed, device truck-1"
    ]
    assert "0 breaches, 0 silences" in as_text(told)
    assert lines(told, "nobody can say") == []
    (found,) = as_json(told)["trips"]
    assert found["silences"] == [
        {
            "device_id": "truck-1",
            "quantity": "temperature",
            "measured": True,
            "longest_s": 5.0,
            "allowed_s": 900.0,
            "gaps": 0,
        }
    ]
    assert found["deliveries"][0]["limits_kept"] is True


def test_breaches_do_not_stand_alone_when_the_truck_was_silent() -> None:
    trip = Trip()
    late = [reading(0), reading(3600)]
    told = verdict(registrations(), trip.whole(late), handovers(trip.trip_id))
    assert lines(told, "longest silence") == [
        "longest silence: temperature 18000 s of 900 s allowed, gaps: 1, device truck-1"
    ]
    (delivery,) = lines(told, "breaches")
    assert "0 breaches, 1 silence" in delivery
    assert "; nobody can say that its limits were kept" in delivery
    (found,) = as_json(told)["trips"][0]["deliveries"]
    assert (found["silences"], found["limits_kept"]) == (1, None)


def test_a_quantity_that_nobody_measured_is_named() -> None:
    told = verdict(registrations(), Trip().whole(MUTE))
    assert lines(told, "longest silence") == [
        "longest silence: temperature, which is limited, was measured by no device"
    ]
    assert Rule.QUANTITY_MISSING in as_text(told)


def test_version_1_0_cannot_tell() -> None:
    old, trip = RulesVersion.V1_0, Trip()
    for value in CALM:
        trip.record(value)
    driven = [one(trip.signer, trip.start, version=old)]
    driven += [one(trip.signer, each, version=old) for each in trip.records]
    driven += [one(trip.signer, trip.sealing(), version=old)]
    told = verdict(registrations(old), driven)
    assert lines(told, "longest silence") == [
        "longest silence: unknown, rules of version 1.0 do not judge it"
    ]
    assert "nobody can say" in as_text(told)
    (found,) = as_json(told)["trips"]
    assert found["silences"] is None
    assert found["deliveries"][0]["limits_kept"] is None


# Times of blocks.


def begun(block_num: int, utc_s: int) -> Batch:
    """Return the batch with which a block begins."""
    return block_info_batch(key("node"), BlockHeader(block_num=block_num - 1), "0" * 128, utc_s)


def timed(agreed_s: int, now_s: int) -> list[list[Batch]]:
    trip = Trip()
    driven = [one(trip.signer, trip.start), build_batch(trip.signer, [trip.run(CALM)])]
    return [
        [begun(1, agreed_s), *registrations()],
        [begun(2, now_s), *driven, build_batch(trip.signer, [trip.seal()])],
    ]


def test_times_of_blocks_are_replayed() -> None:
    told = verdict(*timed(START_S, START_S + 60))
    assert lines(told, "times:") == ["times: claimed times were compared with those of 2 blocks"]
    assert told.trips[Trip().trip_id].findings == []
    early = verdict(*timed(START_S + 3600, START_S + 3600))
    found = early.trips[Trip().trip_id].findings
    assert [each.rule for each in found] == [Rule.TIME_IMPLAUSIBLE] * 2
    late = verdict(*timed(START_S - 2 * TOLERANCE_MS // 1000, START_S - 2 * TOLERANCE_MS // 1000))
    found = late.trips[Trip().trip_id].findings
    assert [each.rule for each in found] == [Rule.TIME_IMPLAUSIBLE] * 2
    assert as_json(late)["ledger"]["blocks_with_time"] == 2


def test_nobody_can_say_that_limits_were_kept_at_times_that_cannot_be() -> None:
    """Readings of last week, signed for the trip of today, say nothing of the goods."""
    assert kept(verdict(*timed(START_S, START_S + 60))) is True
    assert kept(verdict(*timed(START_S + 3600, START_S + 3600))) is None


def test_blocks_without_a_time_are_told() -> None:
    first, second = timed(START_S, START_S + 60)
    assert lines(verdict(first, second[1:]), "times:") == [
        "times: 1 of 2 blocks have one, so some claimed times were not compared"
    ]
    close = one(key("carrier"), CloseTrip(trip_id=Trip().trip_id, party_id="carrier"))
    assert lines(verdict(first[1:], second[1:], [close]), "times:") == [
        "times: the blocks have none, so claimed times were compared with nothing"
    ]


# Whether the limits were kept is never said without anyone having watched them.


def kept(told: Verdict) -> object:
    return as_json(told)["trips"][0]["deliveries"][0]["limits_kept"]


def test_limits_are_not_kept_when_a_breach_was_not_declared() -> None:
    trip = Trip()
    hot = [trip.sign(trip.start), undeclared(trip, [reading(n, 30_000) for n in range(9)])]
    told = verdict(registrations(), [build_batch(trip.signer, [*hot, trip.seal()])])
    (delivery,) = told.trips[trip.trip_id].deliveries
    assert delivery.breaches == 0
    assert kept(told) is False


def test_nobody_can_say_that_limits_were_kept_when_silence_was_not_declared() -> None:
    trip = Trip()
    silent = [trip.sign(trip.start), undeclared(trip, [reading(0), reading(3600)])]
    told = verdict(registrations(), [build_batch(trip.signer, [*silent, trip.seal()])])
    (delivery,) = told.trips[trip.trip_id].deliveries
    assert delivery.silences == 0
    assert kept(told) is None


def undeclared(trip: Trip, values: Sequence[Reading]) -> Transaction:
    """Return readings that cannot mark the delivery."""
    return build(trip.signer, decode(trip.run(values).payload))


def test_nobody_can_say_that_limits_were_kept_by_replayed_readings() -> None:
    told = verdict(registrations(), Trip().whole([replace(each, derived=True) for each in CALM]))
    assert kept(told) is None


def test_nobody_can_say_that_limits_were_kept_when_the_trip_kept_other_ones() -> None:
    trip, lax = Trip(), OpenDelivery()
    lax.CopyFrom(TERMS)
    lax.limits[0].maximum = 50_000
    known = registrations()
    hot = [reading(number, 30_000) for number in range(10)]
    told = verdict([*known[:-2], one(key("seller"), lax)], trip.whole(hot), known[-2:])
    assert told.trips[trip.trip_id].breaches == {}
    assert kept(told) is None


def test_nobody_can_say_that_limits_were_kept_under_a_revoked_key() -> None:
    trip = Trip()
    lost = RegisterDevice(
        device_id="truck-1", party_id="carrier", public_keys=[key("truck-1's new").public_key]
    )
    start = build_batch(trip.signer, [trip.sign(trip.start)])
    rest = build_batch(trip.signer, [trip.run([reading(0), reading(3600)]), trip.seal()])
    told = verdict(registrations(), [start, one(key("carrier"), lost), rest])
    assert kept(told) is None


def test_a_block_of_a_year_without_a_form_stops_no_verdict() -> None:
    """Its signer is not trusted, but that is said only at the end."""
    trip = Trip()
    evidence = evidence_of(
        [registrations(), [begun(2, 1 << 62), *trip.whole(CALM)]], [trip.trip_id]
    )
    known = {k: v for k, v in evidence.state.items() if not k.startswith("00b10c")}
    evidence.nodes = every_node(evidence.state, known)
    told = verdict_on(evidence.wire(), trust_in(evidence.heads))
    assert told.last_block_ms is None
    assert as_text(told)
    assert as_json(told)["ledger"]["last_block_at"] is None


def every_node(values: Mapping[str, bytes], known: Mapping[str, bytes]) -> list[StateNode]:
    pruning = Pruning(Wanted(map(bytes.fromhex, values)), known)
    for place in sorted(values):
        pruning.add(bytes.fromhex(place), values[place])
    return [message_of(node) for node in pruning.finish()]
