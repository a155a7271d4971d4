"""`wayseal-bench ledger` at its smallest: real nodes, real processors, what the blocks say."""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import TRANSACTION_FAMILIES, propose
from storage.bench import wayseal_bench as bench_main
from storage.bench.commands.ledger import LEDGER
from storage.bench.ledger.committing import commit
from storage.bench.ledger.family import FAMILY
from storage.bench.ledger.ledgers import NodeOnVolume, Pacing
from storage.bench.ledger.modes import Choices, Measurement
from storage.bench.ledger.timeline import CSV
from storage.bench.ledger.workloads import BEP_23, KEY_VALUE, POET, READINGS
from storage.bench.run.flags import Flag
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Place
from storage.bench.run.savedrun import opened
from storage.bench.run.volumetarget import volume_targets
from storage.bench.servers.checkpoint import node
from storage.bench.servers.processes import Service
from storage.bench.trucks.fleet import key
from support.bench import papers
from support.bench.stages import all_flags, values

pytestmark = pytest.mark.integration


def choices(directory: Path, **changes: float) -> Choices:
    return Choices(
        rate_per_s=changes.get("rate_per_s", 50.0),
        open_s=changes.get("open_s", 0.8),
        scale=1,
        latency_s=changes.get("latency_s", 20.0),
        latency_percent=95.0,
        probes=2,
        probe_s=0.5,
        writes=0.5,
        sample_s=0.1,
        seed=3,
        signed=directory / "signed",
    )


@pytest.fixture
def target(tmp_path: Path) -> Iterator[NodeOnVolume]:
    (tmp_path / "volume").mkdir()
    with volume_targets([("a", tmp_path / "volume")]) as (volume,):
        yield NodeOnVolume(volume)


def test_key_value_flat_out_is_executed_and_committed(tmp_path: Path, target: NodeOnVolume) -> None:
    outcome = Measurement(KEY_VALUE, target, choices(tmp_path)).flat_out(Place(tmp_path, 1))
    found = values(outcome)
    assert Flag.INVALID not in all_flags(outcome)  # as many in the blocks as the statuses said
    assert found["executed-rate"] == pytest.approx(found["committed-rate"])
    for name in ("node-cpu-per-transaction", "node-written-max", "processor-cpu-share"):
        assert found[name] > 0
    assert outcome.work.transactions == KEY_VALUE.flat_out
    names = [series.name for series in outcome.series]
    assert names == ["transactions", "latency", "node-process", "processor-process"]
    (transactions, *_) = outcome.series
    assert sum(row[3] for row in transactions.rows) * 0.1 == pytest.approx(KEY_VALUE.flat_out)
    assert list(target.volume.work.iterdir()) == [target.volume.work / "made-by-wayseal-bench"]


def test_bep_23_in_open_loop_gives_its_table(tmp_path: Path, target: NodeOnVolume) -> None:
    outcome = Measurement(BEP_23, target, choices(tmp_path)).open_loop(Place(tmp_path, 1))
    lines = outcome.attachments[CSV].decode().splitlines()
    assert len(lines) == 41
    assert CSV not in {f"{series.name}.csv" for series in outcome.series}
    for line in lines[1:]:
        fields = line.split(",")
        assert fields[1] == "765"
        assert fields[5]  # when it was executed
        assert fields[7] == ""
    assert {"accept-p68", "finalise-p99-7", "response-p95", "service-p95"} <= values(outcome).keys()
    assert [(each.name, each.intended) for each in outcome.latencies] == [
        ("commit-response", True),
        ("commit-service", False),
        ("accept-service", False),
    ]
    assert Flag.FEW_SAMPLES in all_flags(outcome)


@pytest.mark.long
def test_a_rate_that_is_out_of_reach_is_flagged(tmp_path: Path, target: NodeOnVolume) -> None:
    fast = choices(tmp_path, rate_per_s=4_000.0, open_s=0.1)
    outcome = Measurement(BEP_23, target, fast).open_loop(Place(tmp_path, 1))
    assert Flag.BEHIND_SCHEDULE in all_flags(outcome)


def test_pacing_shows_its_ceiling_and_nothing_else(tmp_path: Path, target: NodeOnVolume) -> None:
    pacing = Pacing(batches_per_block=3, interval_s=0.5)
    bench = Measurement(POET, target, choices(tmp_path), pacing)
    outcome = bench.paced(Place(tmp_path, 1), blocks=3)
    (rate, *_) = outcome.observations
    assert rate.metric.name == "committed-rate"
    assert rate.ceiling is not None
    assert rate.ceiling.value == 6.0
    assert rate.value <= 6.0
    decided = [line.split(",")[6] for line in outcome.attachments[CSV].decode().splitlines()[1:]]
    assert [decided.count(each) for each in dict.fromkeys(decided)] == [3, 3, 3]


def test_a_search_narrows_down(tmp_path: Path, target: NodeOnVolume) -> None:
    few = replace(READINGS, flat_out=400)
    found = Measurement(few, target, choices(tmp_path)).search(Place(tmp_path, 1))
    (probes,) = found.series
    rates = [row[0] for row in probes.rows]
    met = [row[4] for row in probes.rows]
    assert len(rates) == 2
    assert rates[1] == pytest.approx(rates[0] * (1.5 if met[0] else 0.5))
    best = max((rate for rate, good in zip(rates, met, strict=True) if good), default=0.0)
    assert values(found) == {"highest-rate": best}
    never = Measurement(few, target, choices(tmp_path, latency_s=1e-9)).search(Place(tmp_path, 1))
    assert values(never) == {"highest-rate": 0.0}
    assert all_flags(never) == {Flag.BEHIND_SCHEDULE}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Service]:
    """Return a ledger of somebody else's; what a Sawtooth network is to a client."""
    with node(tmp_path / "theirs", options=("--component", "tcp://127.0.0.1:0")) as service:
        yield service


def prepared(tmp_path: Path, target: NodeOnVolume, stack: ExitStack, *arguments: str) -> Prepared:
    parser = argparse.ArgumentParser()
    LEDGER.add_options(parser)
    setup = Setup((target.volume,), quick=True, repetitions=1, seed=9, work=tmp_path)
    return LEDGER.prepare(parser.parse_args(arguments), setup, stack)


def steps(plan: Prepared, target: str) -> list[str]:
    found: list[str] = []
    for group in plan.groups:
        with group.opened() as all_steps:
            found += [step.workload for step in all_steps if step.target == target]
    return found


def test_a_network_is_given_what_it_takes(
    tmp_path: Path, target: NodeOnVolume, ledger: Service
) -> None:
    url = f"their={ledger.addresses['rest']}"
    component = f"their={ledger.addresses['component']}"
    with ExitStack() as stack:
        alone = prepared(tmp_path, target, stack, "--sawtooth", url)
        assert steps(alone, "their") == [
            "readings-flat-out",
            "readings-search",
            "reading-runs-flat-out",
            "single-readings-flat-out",
        ]
        assert any("key-value is left out on their" in note for note in alone.notes)
        both = prepared(tmp_path, target, stack, "--sawtooth", url, "--component", component)
        assert {"key-value-flat-out", "bep-23-open-loop"} < set(steps(both, "their"))
        (described,) = both.targets
        assert (described["kind"], described["consensus"]) == ("sawtooth", "Devmode")
        (group, *_) = both.groups
        with group.opened() as found:
            (one,) = [
                each
                for each in found
                if (each.workload, each.target) == ("bep-23-flat-out", "their")
            ]
            for seed in (1, 2):  # what is committed there stays: each load is a new one
                outcome = one.execute(Place(tmp_path / str(seed), seed))
                assert Flag.INVALID not in all_flags(outcome)
                assert values(outcome)["executed-rate"] > 0
                assert "node-cpu-share" not in values(outcome)


def test_a_network_that_lists_other_families_is_refused(
    tmp_path: Path, target: NodeOnVolume, ledger: Service
) -> None:
    families = [{"family": "sawtooth_settings", "version": "1.0"}]
    listed = propose(key("admin"), TRANSACTION_FAMILIES, json.dumps(families))
    commit(ledger.addresses["rest"], [build_batch(key("admin"), [listed])])
    with ExitStack() as stack, pytest.raises(RejectedError, match=f"list family {FAMILY.name}"):
        prepared(tmp_path, target, stack, "--sawtooth", f"their={ledger.addresses['rest']}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sawtooth", "a=http://127.0.0.1:1"], "'a' twice"),
        (["--component", "b=tcp://127.0.0.1:1"], "expected a name of --sawtooth"),
    ],
)
def test_names_that_make_no_sense_are_refused(
    tmp_path: Path, target: NodeOnVolume, arguments: Sequence[str], words: str
) -> None:
    with ExitStack() as stack, pytest.raises(RejectedError, match=words):
        prepared(tmp_path, target, stack, *arguments)


@pytest.mark.long
def test_what_stands_beside_the_papers_is_measured(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    where = ["--target", f"a={tmp_path / 'v'}", "--out", str(tmp_path / "out")]
    workloads = ["--ledger-workload", "bep-23", "--ledger-workload", "key-value"]
    bench_main.main(["ledger", *where, "--quick", "--repetitions", "1", *workloads])
    (folder,) = (tmp_path / "out").iterdir()
    assert papers.unwritten(opened(folder), "ledger") == set()


def test_the_command_measures_and_cleans_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "v").mkdir()
    where = ["--target", f"a={tmp_path / 'v'}", "--out", str(tmp_path / "out")]
    small = ["--quick", "--repetitions", "1", "--pacing", "none", "--ledger-workload", "small-bank"]
    bench_main.main(["ledger", *where, *small])
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    result = json.loads(Path(said["result"]).read_text("utf-8"))
    assert result["failures"] == []
    assert {figure["workload"] for figure in result["figures"]} == {"small-bank-flat-out"}
    assert result["settings"]["ledger"]["workloads"] == ["small-bank"]
    assert list((tmp_path / "v").iterdir()) == []
