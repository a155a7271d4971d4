"""What devices say of themselves in evidence, and a recorded file that must keep its verdict."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.evidence.words import as_text
from contracts.proto.state_pb2 import Remarked
from contracts.records.reading import Reading
from contracts.records.remark import WORDS, Remark, RemarkKind, amount_words
from contracts.rendered_remarks import stretches
from contracts.rules.version import RulesVersion
from support.evidence.chain import evidence_of, trust_in
from support.evidence.telling import FILM, LEFT_OUT, evidence, recorded
from support.network.world import Trip, reading, registrations

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "evidence-remarks"


def judged(wire: bytes, trust: Trust) -> Verdict:
    return verify_evidence(io.BytesIO(wire), trust, [])


def test_the_recorded_file_keeps_its_verdict() -> None:
    wire, trust = (GOLDEN / "trip.evidence").read_bytes(), Trust.load(GOLDEN / "trip.keys.json")
    verdict = judged(wire, trust)
    assert as_json(verdict) == json.loads((GOLDEN / "trip.verdict.json").read_text("utf-8"))
    assert as_text(verdict) == (GOLDEN / "trip.txt").read_text("utf-8")


def test_the_recorded_file_is_what_the_rules_make_today() -> None:
    assert recorded() == {each.name: each.read_bytes() for each in GOLDEN.iterdir()}


def test_a_seal_that_leaves_film_out_makes_the_evidence_incomplete() -> None:
    found = evidence((FILM[0], LEFT_OUT))
    problems = judged(found.wire(), trust_in(found.heads)).problems
    assert any("recording-left-out" in each for each in problems)


def told_of(version: RulesVersion, *values: Reading) -> dict[str, Any]:
    trip = Trip(version=version)
    batches = [*registrations(), *trip.whole(values)]
    found = evidence_of([[batch] for batch in batches], [trip.trip_id])
    verdict = judged(found.wire(), trust_in(found.heads))
    return {"text": as_text(verdict), **as_json(verdict)["trips"][0]}


def test_a_device_that_told_nothing_is_said_to_have_told_nothing() -> None:
    told = told_of(RulesVersion.V1_2, reading(0), reading(1))
    assert "device truck-1 tells what is wrong with it, and told nothing" in told["text"]
    assert (told["remarks"], told["corrections"]) == ([], [])
    assert told["first_reading_corrected_at"] is None


def test_a_device_of_1_1_is_said_to_tell_nothing_of_itself() -> None:
    told = told_of(RulesVersion.V1_1, reading(0))
    assert (
        "device truck-1 does not tell what is wrong with it, so a fault would not show"
        in told["text"]
    )
    assert told["telling"][0]["readings_telling"] == 0


def test_a_replayed_trip_says_nothing_of_the_device() -> None:
    told = told_of(RulesVersion.V1_1, replace(reading(0), derived=True))
    assert "what is wrong with it" not in told["text"]


def test_the_words_of_each_remark_are_documented() -> None:
    page = Path("docs/evidence.md").read_text("utf-8")
    for kind, words in WORDS.items():
        assert f"\n| {kind.value} | {words.format(subject='*S*', amount='*A*')} |\n" in page


def remarked(
    kind: RemarkKind, since_ms: int, subject: str = "", *, ended: bool = False
) -> Remarked:
    said = Remark(kind, since_ms, subject, ended)
    return Remarked(device_id="truck-1", remark=said.message())


def test_beginnings_meet_their_ends() -> None:
    found = stretches(
        [
            remarked(RemarkKind.SENSOR_LOST, 1, "a"),
            remarked(RemarkKind.SENSOR_LOST, 2, "b"),
            remarked(RemarkKind.SENSOR_LOST, 3, "a", ended=True),
            remarked(RemarkKind.SENSOR_LOST, 4, "c", ended=True),
            remarked(RemarkKind.INTERRUPTED, 5),
            remarked(RemarkKind.SENSOR_LOST, 6, "b"),
        ]
    )
    spans = [(each.entry.remark.since_ms, each.until_ms) for each in found]
    assert spans == [(1, 3), (2, 5), (5, None), (6, None)]
    assert str(found[-1]).endswith("from 1970-01-01T00:00:00.006Z, not ended")


@pytest.mark.parametrize(
    ("amount_ms", "words"),
    [
        (0, "0 s"),
        (1900, "1.9 s"),
        (61_005, "61.005 s"),
        (172_799_999, "172799.999 s"),
        (172_800_000, "172800 s (2 days)"),
    ],
)
def test_amounts_in_words(amount_ms: int, words: str) -> None:
    assert amount_words(amount_ms) == words
