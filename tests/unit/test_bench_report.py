"""What people read of a run: numbers in words, every flag, every failure, nobody's markup."""

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from contracts.errors import RejectedError
from storage.bench import wayseal_bench as bench
from storage.bench.commands.report import written
from storage.bench.cost.parameters import read_parameters
from storage.bench.report.flagged import MEANINGS, UNKNOWN, names
from storage.bench.run.directories import WORKPLACE
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import SavedRun, opened
from support.bench.results import (
    HEADING,
    SATA,
    MadeUp,
    breakdown,
    ctrl_c,
    defect,
    made_run,
    quick,
)

HOSTILE = "<script>alert('1')</script>$x^{&]]>--\N{SNOWMAN}\N{CJK UNIFIED IDEOGRAPH-4E2D}"
RAISED = [{"flag": "ONE OF TOMORROW", "why": "expected <b>, got </b>"}]


class Read(HTMLParser):
    """What a browser would make of a page: its words, its tags, what it links to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words = ""
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.words += data


def page_of(run: SavedRun) -> Read:
    return Read(Path(written(run)["report"]).read_text("utf-8"))


def altered(run: SavedRun, change: Callable[[dict[str, Any]], None]) -> SavedRun:
    """Return a run whose result somebody edited."""
    path = run.folder / "result.json"
    result = json.loads(path.read_text("utf-8"))
    change(result)
    path.write_text(json.dumps(result), "utf-8")
    return opened(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    """Return a run of everything, not to be altered."""
    return made_run(tmp_path_factory.mktemp("run"), repetitions=3, fails=True)


@pytest.fixture(scope="module")
def page(run: SavedRun) -> Read:
    return page_of(run)


def test_every_figure_stands_on_the_page_with_its_interval_and_flags(
    run: SavedRun, page: Read
) -> None:
    for each in run.result["figures"]:
        assert each["metric"] in page.words
        for flag in each["flags"]:
            assert flag["why"] in page.words
    for name in {flag["flag"] for each in run.result["figures"] for flag in each["flags"]}:
        assert MEANINGS[name] in page.words
    assert run.result["settings_sha256"] in page.words
    assert f"seed {HEADING.seed}" in page.words


def test_what_holds_for_all_figures_is_said_once(run: SavedRun, page: Read) -> None:
    assert all("FEW REPETITIONS" in names(each) for each in run.result["figures"])
    assert page.words.count("expected at least 6 repetitions, got 3") == 1
    count = len(run.result["figures"])
    assert f"All {count} figures: FEW REPETITIONS" in page.words
    more = sum(len(names(each)) > 1 for each in run.result["figures"])
    assert f"{more} of {count} figures are flagged beyond that" in page.words


def test_a_page_begins_with_what_matters_and_folds_the_rest(page: Read) -> None:
    _, _, after = page.words.split("At a glance")  # the first is a link to the second
    glance = after.split("Targets")[0]
    assert "Ahead is who is better than the next one, by more than noise (Mann-Whitney U, 5%)" in (
        glance
    )
    assert re.search(r"trucks\s*video[0-9]+ MB/s [0-9]+ to [0-9]+", glance)
    assert "too few values to tell" in glance
    assert "write-max" not in glance
    assert re.search(r"[0-9]+ more figures of [a-z0-9-]+\n", page.words)


def test_a_flag_of_a_folded_figure_is_named_outside(tmp_path: Path) -> None:
    def change(result: dict[str, Any]) -> None:
        for each in result["figures"]:
            if each["metric"] == "committed-max":
                each["flags"].append({"flag": Flag.FEW_SAMPLES, "why": "expected 5, got 4"})

    run = made_run(tmp_path, repetitions=2, parts=[Part.LEDGER])
    words = page_of(altered(run, change)).words
    assert re.search(r"[0-9]+ more figures of [a-z0-9-]+, flagged: FEW SAMPLES 2\n", words)


def test_a_sweep_is_two_charts_and_one_table(run: SavedRun, page: Read) -> None:
    for title in ("rate over queue depth", "latency over queue depth"):
        assert page.words.count(f"sweep: random, 70 % reads: {title}") == 1
    assert "random-4k-qd1-read70: medians" not in page.words
    assert "4k, depth 32" in page.words
    (drawn,) = run.folder.glob("charts/*rate-over-queue-depth.svg")
    words = {each.text for each in ET.fromstring(drawn.read_text("utf-8")).iter() if each.text}  # noqa: S314
    assert {"4k read", "4k write", "1m read", "1m write", "1", "32", "MB/s", "GB/s"} <= words


def test_a_papers_figure_without_samples_enough_is_not_drawn_and_says_so(tmp_path: Path) -> None:
    run = made_run(tmp_path, repetitions=1, parts=[Part.IO])
    for table in tmp_path.glob("raw/*-cassandra-*/*.csv"):
        table.write_text("".join(table.read_text("utf-8").splitlines(keepends=True)[:3]), "utf-8")
    page = page_of(run)
    assert "Figure 5 (a, b), video in Cassandra, is not drawn" in page.words
    assert "Figure 5 (c, d): one large file" in page.words


def test_failures_stand_at_the_top(page: Read) -> None:
    failed = page.words.index("broken on sata (12 times): expected a drive that answers, got EIO")
    assert failed < page.words.index("Targets")
    assert "Partial" not in page.words
    assert "Indicative" not in page.words


def test_a_page_needs_nothing_but_its_folder(run: SavedRun, page: Read) -> None:
    assert "script" not in page.tags
    for link in page.links:
        assert link.startswith(("#", "data:")) or (run.folder / link).is_file(), link
    charts = sorted(run.folder.glob("charts/*.svg"))
    assert page.tags.count("svg") == len(charts) > 10
    for chart in charts:
        ET.fromstring(chart.read_text("utf-8"))  # noqa: S314 - our own
        assert chart.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_the_papers_figures_and_bep_23s_graphs_are_drawn(page: Read) -> None:
    for title in (
        *("Figure 5 (a, b)", "Figure 5 (c, d)", "Figure 6 (a)", "Figure 6 (b)", "Figure 6 (c)"),
        *("time to accept", "time to finalise", "transactions per second"),
    ):
        assert title in page.words


def test_a_page_can_be_made_again_and_keeps_no_old_chart(tmp_path: Path) -> None:
    run = made_run(tmp_path, repetitions=1, parts=[Part.SYSTEM])
    page_of(run)
    left = tmp_path / "charts" / "999-old.svg"
    left.touch()
    page_of(run)
    assert not left.exists()


def test_quick_and_partial_runs_say_so(tmp_path: Path) -> None:
    run = made_run(tmp_path, heading=quick(), repetitions=2, parts=[Part.SYSTEM])
    page = page_of(
        altered(run, lambda it: it.update(complete=False, ended="interrupted by SIGINT"))
    )
    assert "Indicative." in page.words
    assert "Partial." in page.words
    assert "interrupted by SIGINT" in page.words
    assert Flag.FEW_REPETITIONS in page.words


def test_the_cost_of_a_run_stands_on_its_page(tmp_path: Path) -> None:
    """Of the paper's Xeon edge: 0.1994 USD an hour, 0.8844 with manpower."""
    prices = read_parameters().described
    heading = replace(HEADING, settings={"offload": {}, "cost": prices})
    run = made_run(tmp_path, heading=heading, repetitions=1, parts=[Part.OFFLOAD])
    page = page_of(run)
    assert "Cost of a node-hour" in page.words
    assert "0.199" in page.words
    assert "0.884" in page.words
    assert "trucks readings on nvmeof, per million transactions" in page.words
    prices["nodes"] = "ten"
    run = altered(run, lambda it: it["settings"].update(cost=prices))
    assert "Costs are not shown: settings of the run" in page_of(run).words


def test_an_empty_run_has_a_page_too(tmp_path: Path) -> None:
    page = page_of(made_run(tmp_path, parts=[]))
    assert "None: no figure broke a rule." in page.words


def test_nothing_in_a_result_becomes_markup(tmp_path: Path) -> None:
    heading = replace(HEADING, run=HOSTILE, notes=[HOSTILE], machine={HOSTILE: HOSTILE})
    run = made_run(tmp_path, heading=heading, repetitions=2, parts=[Part.IO])

    def change(result: dict[str, Any]) -> None:
        for each in (*result["figures"], *result["executions"]):
            each["workload"] = HOSTILE if each["workload"] == "fsync" else each["workload"]
            each["target"] = HOSTILE if each["target"] == SATA else each["target"]
        for each in result["figures"]:
            each["metric"] += HOSTILE
            each["flags"] = RAISED
        result["targets"][1]["name"] = HOSTILE
        result["failures"] = [
            {"part": "io", "workload": HOSTILE, "target": HOSTILE, "why": HOSTILE}
        ]

    page = page_of(altered(run, change))
    assert "script" not in page.tags
    assert page.words.count("<script>alert('1')</script>") > 10
    assert UNKNOWN in page.words
    for chart in tmp_path.glob("charts/*.svg"):
        tags = {each.tag for each in ET.fromstring(chart.read_text("utf-8")).iter()}  # noqa: S314
        assert not any(tag.endswith("script") for tag in tags)


def test_what_cannot_be_read_is_said_and_the_rest_is_shown(tmp_path: Path) -> None:
    run = made_run(tmp_path, repetitions=1, parts=[Part.IO])

    def change(result: dict[str, Any]) -> None:
        first, second = (each for each in result["executions"] if each["workload"] == "direct")
        first["folder"] = "../elsewhere"
        (tmp_path / second["folder"] / "write.csv").write_text("rate\n1\n2\n3\n", "utf-8")
        (tmp_path / second["folder"] / "read.csv").write_text("s,b\n0,x\n", "utf-8")
        for each in result["executions"]:
            for one in each["latencies"]:
                one["hdr"] = "AAAA" if each["workload"] == "fsync" else one["hdr"]

    page = page_of(altered(run, change))
    assert "expected a path inside" in page.words
    assert "expected a table of numbers" in page.words
    assert "expected an HdrHistogram" in page.words
    assert "write-responsefrom the intended start" in page.words
    assert "direct: write over time" not in page.words


@pytest.mark.parametrize(
    ("content", "why"),
    [("{", "expected JSON"), ("[]", "expected a result of schema"),
     ('{"schema": "wayseal-bench-result/2"}', "expected a result of schema"),
     ('{"schema": "wayseal-bench-result/1"}', "required property"),
     ("[" * 200_000, "expected JSON"), ('{"median": NaN}', "NaN is not a number")],
)  # fmt: skip
def test_what_is_no_result_is_refused(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "result.json").write_text(content, "utf-8")
    with pytest.raises(RejectedError, match=why):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("change", "why"),
    [(lambda result: result["figures"].append({}), "figures.*required property"),
     (lambda result: result["figures"][0].update(values=[]), r"figures\[0\].values"),
     (lambda result: result["figures"][0].update(median="x"), "'x' is not of type 'number'"),
     (lambda result: result.pop("targets"), "'targets' is a required property"),
     (lambda result: result["figures"].append(result["figures"][0]), "one figure .*, got 2")],
)  # fmt: skip
def test_a_result_of_another_shape_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], why: str
) -> None:
    with pytest.raises(RejectedError, match=why):
        altered(made_run(tmp_path, repetitions=1), change)


@pytest.mark.parametrize(
    ("middle", "ended", "end"),
    [
        (None, "", nullcontext()),
        (breakdown, "", pytest.raises(SystemExit, match=r"^1$")),
        (ctrl_c, "interrupted by SIGINT", pytest.raises(SystemExit, match=r"^1$")),
        # It ends the process with its traceback, and so with status 1.
        (defect, "KeyError: 'no such drive'", pytest.raises(KeyError)),
    ],
)
def test_a_measuring_run_ends_with_its_report(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    middle: Callable[[], None] | None,
    ended: str,
    end: AbstractContextManager[object],
) -> None:
    monkeypatch.setattr(bench, "PARTS", (MadeUp(middle),))
    with end:
        bench.main(["all", "--out", str(tmp_path), "--repetitions", "1"])
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(last) == {"report", "result"}
    result = json.loads(Path(last["result"]).read_text("utf-8"))
    assert result["complete"] is not bool(ended)
    page = Read(Path(last["report"]).read_text("utf-8"))
    assert ended in page.words
    assert "offload-p50" in page.words
    assert not list(tmp_path.glob(f"*/{WORKPLACE}"))


def test_a_run_that_only_measures_leaves_its_report_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "PARTS", (MadeUp(),))
    bench.main(["all", "--no-report", "--out", str(tmp_path), "--repetitions", "1"])
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(last) == {"result"}
    folder = Path(last["result"]).parent
    assert not (folder / "report.html").exists()
    bench.main(["report", str(folder)])
    assert json.loads(capsys.readouterr().out) == last | {"report": str(folder / "report.html")}
    assert "offload-p50" in page_of(opened(folder)).words


def test_guarantees_stand_side_by_side_as_the_result_has_them(tmp_path: Path, page: Read) -> None:
    assert "What each ledger guarantees" not in page.words
    row = {"target": "a", "finality": "With its block.", "faults": "None.", "durable": HOSTILE}
    other = {**row, "target": "b", "faults": "1 of 4 validators may stop or lie."}
    made = made_run(tmp_path, repetitions=1, parts=(Part.LEDGER,))
    shown = page_of(altered(made, lambda result: result.update(guarantees=[row, other])))
    table = shown.words.split("What each ledger guarantees", 1)[1]
    places = [table.index(words) for words in ("None.", "1 of 4 validators", HOSTILE)]
    assert places[0] < places[1]
    assert "script" not in shown.tags
