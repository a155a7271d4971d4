"""What the compared ledgers guarantee: each has its row, and nobody is promised too much."""

import argparse
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path

import pytest

from storage.bench.commands.ledger import LEDGER
from storage.bench.ledger.consensus import Consensus
from storage.bench.ledger.guarantees import NOT_SEEN, SOLO, Guarantee
from storage.bench.run.part import Setup
from storage.bench.run.volumetarget import volume_targets


@pytest.mark.parametrize(
    ("count", "faults"),
    [
        (1, "None: with fewer than four validators no one may fail."),
        (3, "None: with fewer than four validators no one may fail."),
        (4, "1 of 4 validators may stop or lie."),
        (7, "2 of 7 validators may stop or lie."),
    ],
)
def test_a_network_of_validators_takes_fewer_faults_than_a_third(count: int, faults: str) -> None:
    assert Guarantee.of_validators(count).faults == faults


@pytest.mark.parametrize(
    ("algorithm", "final", "faults"),
    [
        ("pbft", "With its block", "Fewer than a third of its validators may stop or lie"),
        ("PBFT", "With its block", "Fewer than a third of its validators may stop or lie"),
        ("raft", "With its block", "Fewer than half of its validators may stop; none may lie"),
        ("PoET", "Never wholly", "Most of its validators work"),
        ("Devmode", "With its block, if one validator makes all", "None"),
        ("of our own", NOT_SEEN, NOT_SEEN),
    ],
)
def test_a_sawtooth_guarantees_what_its_consensus_does(
    algorithm: str, final: str, faults: str
) -> None:
    found = Guarantee.of_sawtooth(Consensus(algorithm, 0, 0))
    assert found.finality.startswith(final)
    assert found.faults.startswith(faults)


def test_one_node_alone_takes_no_fault() -> None:
    assert SOLO.faults.startswith("None")
    assert all(astuple(SOLO))


def test_each_ledger_of_a_run_has_a_row(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    LEDGER.add_options(parser)
    options = parser.parse_args(["--cometbft", "1", "--cometbft", "4", "--pacing", "none"])
    (tmp_path / "v").mkdir()
    with ExitStack() as stack:
        volumes = stack.enter_context(volume_targets([("a", tmp_path / "v")]))
        setup = Setup(volumes, quick=True, repetitions=1, seed=1, work=tmp_path / "work")
        rows = LEDGER.prepare(options, setup, stack).guarantees
    assert [row["target"] for row in rows] == ["a", "a-cometbft-1", "a-cometbft-4"]
    assert [row["faults"][:4] for row in rows] == ["None", "None", "1 of"]
    assert all(row[name] for row in rows for name in ("finality", "faults", "durable"))
