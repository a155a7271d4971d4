"""Forgers of the state proof, and files about something else than was asked for."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.evidence.expected import Expected, LotName
from contracts.evidence.report import as_json, not_shown
from contracts.evidence.words import as_text
from contracts.proto.evidence_pb2 import StateNode
from contracts.proto.payload_pb2 import OpenDelivery, SetLotStatus
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import Evidence, digest_of, evidence_of, trust_in
from support.evidence.forgery import SpyTrip, problems, verdict_on
from support.evidence.rich import FIRST, OTHER, rich, signed
from support.network.goods import made, newcomers
from support.network.world import (
    GTIN,
    START_MS,
    TERMS,
    Trip,
    device,
    key,
    one,
    reading,
    registrations,
)

TRUST = trust_in(rich().heads)
LAX = [reading(at, 12_000) for at in range(10)]


def changed(change: Callable[[list[StateNode]], object]) -> Evidence:
    """Return the rich evidence with other state nodes."""
    whole = rich()
    told = Evidence(whole.header, whole.heads, whole.batches, state=whole.state)
    told.nodes = [StateNode.FromString(canonical(node)) for node in whole.nodes]
    change(told.nodes)
    return told


@pytest.mark.parametrize("at", range(len(rich().nodes)))
def test_no_node_can_be_removed(at: int) -> None:
    assert problems(changed(lambda nodes: nodes.pop(at)), TRUST)


@pytest.mark.parametrize("at", range(len(rich().nodes)))
def test_no_node_can_be_altered_or_repeated(at: int) -> None:
    def alter(nodes: list[StateNode]) -> None:
        hashes = bytearray(nodes[at].hashes)
        hashes[-1] ^= 1
        nodes[at].hashes = bytes(hashes)

    found = problems(changed(alter), TRUST)
    assert "not in the state that the last block commits to" in found or "must be the root" in found
    found = problems(changed(lambda nodes: nodes.insert(at, nodes[at])), TRUST)
    assert "out of order" in found


def test_an_added_node() -> None:
    leaf = StateNode(path=b"\xff" * 35, value=b"forged")
    assert "has no place in the tree" in problems(changed(lambda nodes: nodes.append(leaf)), TRUST)


def test_no_nodes_at_all() -> None:
    assert "the state nodes that prove its entry are missing" in problems(
        changed(lambda nodes: nodes.clear()), TRUST
    )


def test_an_older_last_block_is_told_and_can_be_asked_away() -> None:
    """The dispute and the rotation came in the last block."""
    whole = rich()
    older = Evidence(whole.header, whole.heads[:-1], whole.batches, state=whole.state)
    older.prove()
    assert problems(older, TRUST)
    groups = [[*registrations()], Trip().whole(LAX)]
    early = evidence_of(groups, [Trip().trip_id])
    verdict = verdict_on(early.wire(), trust_in(early.heads))
    assert verdict.holds
    assert "anything after block 2" in not_shown(verdict)[-1]
    strange = verdict_on(b"WAYSEAL EVIDENCE 2\n", trust_in(early.heads))
    assert "no block of the file could be judged" in not_shown(strange)[-1]
    asked = verdict_on(early.wire(), trust_in(early.heads), expected=Expected(block_num=3))
    assert asked.problems == ["block 3 was asked for; the file ends with block 2"]


def draft(**other: str) -> OpenDelivery:
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    for name, value in other.items():
        setattr(terms, name, value)
    terms.limits[0].maximum = 20_000
    return terms


@pytest.mark.parametrize("lax", [draft(), draft(product="water"), draft(order_id="order-9")])
def test_a_draft_of_the_seller_does_not_pass_as_terms(lax: OpenDelivery) -> None:
    """The attack on format 1: leave out what both signed, and show the seller's draft."""
    *before, seller, buyer = registrations()
    early = signed(("seller", lax))
    told = evidence_of([[*before, *early, seller, buyer], Trip().whole(LAX)], [Trip().trip_id])
    trust = trust_in(told.heads)
    assert verdict_on(told.wire(), trust).trips[Trip().trip_id].breaches
    told.batches = [batch for batch in told.batches if batch not in (seller, buyer)]
    told.prove()
    old = verdict_on(told.wire_of_format_1(), trust, expected=Expected(format_1=True))
    assert old.holds
    assert not old.trips[Trip().trip_id].breaches
    assert f"draft: when the trip started, {lax.seller_id} alone had signed" in as_text(old)
    assert "delivery delivery-1: the ledger has another entry" in problems(told, trust)


def test_what_only_one_side_had_signed_at_the_start_is_told() -> None:
    *before, seller, buyer = registrations()
    told = evidence_of([[*before, seller], Trip().whole(LAX), [buyer]], [Trip().trip_id])
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.holds
    (delivery,) = as_json(verdict)["trips"][0]["deliveries"]
    assert delivery["draft_signed_by"] == ["seller"]


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        (Expected(trip_ids=(FIRST.trip_id, OTHER.trip_id)), ""),
        (Expected(delivery_ids=("delivery-1", "delivery-2")), ""),
        (Expected(lots=(LotName("00012345678905", "L42"),)), ""),
        (Expected(block_num=7), ""),
        (Expected(trip_ids=("f" * 32,)), f"trip {'f' * 32} was asked for; the file is about"),
        (Expected(delivery_ids=("delivery-3",)), "about the deliveries delivery-1, delivery-2"),
        (Expected(lots=(LotName("00012345678905", "L43"),)), "the lots 00012345678905:L42"),
        (Expected(block_num=8), "block 8 was asked for; the file ends with block 7"),
    ],
)
def test_a_genuine_file_about_something_else_does_not_hold(
    expected: Expected, problem: str
) -> None:
    verdict = verdict_on(rich().wire(), TRUST, expected=expected)
    assert verdict.holds == (not problem)
    assert problem in "\n".join(verdict.problems)


def test_expectations_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(rich().wire())
    (tmp_path / "keys").write_text(TRUST.to_json())
    command = [sys.executable, "-m", "contracts.evidence.wayseal_verify"]
    command += [str(tmp_path / "file"), "--trust", str(tmp_path / "keys")]

    def run(*asked: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own command
            [*command, *asked], capture_output=True, text=True, check=False
        )

    right = ["--trip", FIRST.trip_id, "--delivery", "delivery-2", "--lot", "00012345678905:L42"]
    assert run(*right, "--at-least-block", "7").returncode == 0
    wrong = run("--delivery", "delivery-9")
    assert wrong.returncode == 1
    assert "delivery delivery-9 was asked for" in wrong.stdout
    assert run("--lot", "no colon").returncode == 2


def test_a_foreign_ledger_ends_the_run_at_the_header() -> None:
    verdict = verdict_on(rich().wire(), replace(TRUST, genesis_block_id="0" * 128))
    assert "which is not the trusted" in verdict.problems[0]
    assert (verdict.blocks, verdict.trips) == (0, {})


def test_one_video_that_two_trips_claim_is_told() -> None:
    video = digest_of(b"the same video")
    trips = [Trip(), Trip(nonce=bytes(15) + b"2")]
    batches = [batch for trip in trips for batch in trip.whole(LAX, [video])]
    ids = [trip.trip_id for trip in trips]
    told = evidence_of([registrations(), batches], ids)
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.holds
    assert f"claimed by 2 trips: {', '.join(ids)}" in as_text(verdict)
    assert as_json(verdict)["recordings"][0]["claimed_by_trip_ids"] == ids


def test_strangers_may_be_left_out_and_are_counted() -> None:
    trip, spy = Trip(), SpyTrip("spy", signer=key("spy"))
    theirs = [device("spy", "seller"), build_batch(spy.signer, [spy.record(reading(0))])]
    told = evidence_of([registrations(), [*trip.whole(LAX), *theirs]], [trip.trip_id])
    told.batches = [batch for batch in told.batches if batch not in theirs]
    told.prove()
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert verdict.problems == []
    assert verdict.trips[trip.trip_id].strangers == {"device-not-on-trip": 1}
    assert "finding on a stranger's batch, not in the file: device-not-on-trip" in as_text(verdict)


def lot_told(*others: Batch) -> tuple[Evidence, list[Batch]]:
    """Return evidence of a ledger on which others did something with the delivered lot."""
    told = evidence_of(
        [[*registrations(), *newcomers()], Trip().whole(LAX), others], [Trip().trip_id]
    )
    told.batches = [batch for batch in told.batches if batch not in others]
    told.prove()
    return told, list(others)


def test_a_recall_cannot_be_left_out_even_of_a_lot_that_nobody_made() -> None:
    recall = SetLotStatus(
        party_id="customs",
        gtin=GTIN,
        lot="L42",
        status=SetLotStatus.RECALLED,
        reason="listeria",
        at_ms=START_MS,
    )
    told, words = lot_told(one(key("customs"), recall))
    assert f"lot {GTIN}:L42" in problems(told, trust_in(told.heads))
    told.batches += words
    told.prove()
    verdict = verdict_on(told.wire(), trust_in(told.heads))
    assert f"  lot {GTIN}:L42 recalled by customs at " in as_text(verdict)
    (status,) = as_json(verdict)["trips"][0]["lot_statuses"]
    assert (status["lot"], status["status"]) == ("L42", "recalled")


def test_uses_of_a_lot_elsewhere_may_be_left_out() -> None:
    told, uses = lot_told(made("cooking", "kitchen", ["L42"], ["P1"]))
    assert verdict_on(told.wire(), trust_in(told.heads)).problems == []
    told.batches += uses
    told.prove()
    assert verdict_on(told.wire(), trust_in(told.heads)).problems == []
