"""The papers' figures as data, and a run's beside them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage.bench.paper.known import known
from storage.bench.report.beside import Comparability, PaperPair, beside
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import SavedRun
from storage.bench.wayseal_bench import main
from support.bench.papers import EXECUTED
from support.bench.results import HEADING, NVMEOF, SATA, made_run
from support.project.pages import ROOT

FIGURES: dict[str, Any] = json.loads(
    (ROOT / "storage" / "bench" / "paper" / "figures.json").read_text("utf-8")
)


def relabelled(interfaces: Mapping[str, str]) -> list[Mapping[str, Any]]:
    return [{**each, "interface": interfaces.get(each["name"], "none")} for each in HEADING.targets]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    return made_run(tmp_path_factory.mktemp("run"), repetitions=2, parts=[Part.IO, Part.LEDGER])


def pair(run: SavedRun, where: str, metric: str, config: str) -> PaperPair:
    (found,) = [
        each
        for each in beside(run).rows
        if (each.paper.where, each.paper.metric) == (where, metric)
        and each.paper.config.startswith(config)
    ]
    return found


def test_every_figure_of_the_papers_can_be_read() -> None:
    papers = known()
    assert len(papers.figures) > 200
    for each in papers.figures:
        assert each.paper in papers.papers
        assert papers.si(each)[0] == pytest.approx(each.value * papers.units[each.unit][0])


def test_every_correspondence_is_about_a_figure() -> None:
    about = {(each.paper, each.metric) for each in known().figures}
    assert {(each.paper, each.metric) for each in known().correspondences} <= about


def test_every_figure_has_one_of_ours_or_a_reason_why_not() -> None:
    papers = known()
    for each in papers.figures:
        reason = papers.apart.get((each.paper, each.metric))
        assert bool(papers.about(each)) is (reason is None), each
    about = {(each.paper, each.metric) for each in papers.figures}
    assert papers.apart.keys() <= about


def test_every_correspondence_is_of_a_workload_that_a_test_executes() -> None:
    """Those tests hold the metrics: `papers.unwritten`."""
    papers = known()
    ours = {(each.part, each.workload) for each in papers.correspondences}
    ours |= {(each.part, each.workload) for each in papers.redrawn}
    assert ours == EXECUTED


def test_the_network_of_a_paper_stands_beside_a_link_not_the_loopback(run: SavedRun) -> None:
    figure = {**run.result["figures"][0], "part": "system", "workload": "tcp", "unit": "B/s"}
    figure |= {"metric": "received", "target": "loopback", "median": 2e9}
    result = {**run.result, "figures": [figure]}
    assert beside(SavedRun(run.folder, result)).rows == []
    result = {**run.result, "figures": [{**figure, "target": "link"}]}
    assert {each.paper.metric for each in beside(SavedRun(run.folder, result)).rows} == {"tcp_Mbps"}


def test_the_tables_of_paper_002_are_whole() -> None:
    """Each of tables I and II has two interfaces, by maximum and mean, by write and read."""
    tables = [each for each in known().figures if each.where in ("T.I", "T.II")]
    assert len(tables) == 16
    assert all(each.interfaces for each in tables)


def test_a_paper_s_interface_stands_beside_the_target_of_that_interface(run: SavedRun) -> None:
    found = pair(run, "T.I", "cassandra_mean_write", "nvmeof")
    assert found.measured["target"] == NVMEOF
    assert found.verdict is Comparability.COMPARABLE
    assert found.ratio == pytest.approx(found.measured["median"] / 328e6)
    assert (found.paper_text, found.ratio_text[:2]) == ("328 MB/s", "1.")


def test_sata_above_its_link_exceeds_the_limit(run: SavedRun) -> None:
    found = pair(run, "T.II", "direct_mean_write", "sata")
    assert found.verdict is Comparability.PAPER_EXCEEDS_LIMIT
    assert "2.50 times" in found.why
    assert pair(run, "T.I", "cassandra_mean_read", "sata").verdict is Comparability.COMPARABLE


def test_transaction_rates_above_the_consensus_ceiling_exceed_the_limit(run: SavedRun) -> None:
    assert pair(run, "T.III", "TER_avg", "nvmeof").verdict is Comparability.PAPER_EXCEEDS_LIMIT
    assert pair(run, "T.III", "TER_avg", "sata").verdict is Comparability.PAPER_AMBIGUOUS


def test_bep_23s_two_medians_are_ambiguous() -> None:
    (found,) = [each for each in known().figures if "510" in each.ambiguous]
    assert (found.paper, found.where, found.value) == ("004", "exp 2 parallel", 636)


def test_without_that_interface_it_is_different_hardware(tmp_path: Path) -> None:
    targets = relabelled({NVMEOF: "virtio", SATA: "virtio"})
    heading = replace(HEADING, targets=targets)
    run = made_run(tmp_path, heading=heading, repetitions=1, parts=[Part.IO])
    found = [each for each in beside(run).rows if each.paper.metric == "direct_max_write"]
    assert {each.measured["target"] for each in found} == {NVMEOF, SATA}
    verdicts = {(each.paper.interfaces[0], each.verdict) for each in found}
    assert verdicts == {
        ("nvme-tcp", Comparability.DIFFERENT_HARDWARE),
        ("sata-ssd", Comparability.PAPER_EXCEEDS_LIMIT),
    }


@pytest.mark.parametrize(
    ("model", "verdict"),
    [("Intel(R) Xeon(R) Gold 5115 CPU @ 2.40GHz", Comparability.COMPARABLE),
     ("AMD EPYC", Comparability.DIFFERENT_HARDWARE)],
)  # fmt: skip
def test_a_paper_s_processor_is_known_by_its_name(
    run: SavedRun, model: str, verdict: Comparability
) -> None:
    share = {**run.result["figures"][0], "part": "ledger", "workload": "poet-readings"}
    share |= {"metric": "node-cpu-share", "unit": "1", "median": 0.05, "low": 0.05, "high": 0.06}
    machine = {"cpu": {"model": model}}
    result = {**run.result, "machine": machine, "figures": [share]}
    found = pair(SavedRun(run.folder, result), "V.B", "cpu_util", "Xeon")
    assert found.verdict is verdict
    assert found.ratio == pytest.approx(0.05 / 0.09)


def test_the_command_has_a_line_for_each_figure_measured_or_not(
    run: SavedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["paper", str(run.folder)])
    *lines, last = capsys.readouterr().out.splitlines()
    counts = json.loads(last)
    coremark = lines.index("    T.1, coremark1, rp4: 8,555.1 IPS")
    reasons = [line for line in lines[:coremark] if line.startswith("  not measured: ")]
    assert reasons[-1].startswith("  not measured: CoreMark is in no package registry")
    assert "  not measured: not in this run (system: tcp received on link)" in lines
    assert set(counts) == {*Comparability, "not-measured"}
    assert counts["paper-exceeds-limit"] == 9
    assert len(known().figures) == len(FIGURES["figures"])
