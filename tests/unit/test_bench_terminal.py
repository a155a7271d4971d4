"""What a run prints at its end, for a reader with a terminal of 100 columns."""

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import Progress, TextColumn

from storage.bench.report.terminal import ROWS_MAX, WIDTH, tell
from storage.bench.run.document import Document
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Part
from storage.bench.run.progress import Bar
from support.bench.results import DRIVES, made_run, quick


def told(result: Document) -> Sequence[str]:
    out = StringIO()
    tell(result, Console(file=out, width=WIDTH))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= WIDTH
    return [" ".join(line.split()) for line in lines]


def flagged(result: Document, flag: str, wanted: Callable[[Document], bool]) -> None:
    for figure in result["figures"]:
        if wanted(figure):
            figure["flags"].append({"flag": flag, "why": "expected a, got b"})


def figure(workload: str, metric: str, unit: str = "1/s") -> Document:
    return {"part": Part.IO, "workload": workload, "target": "a", "metric": metric, "unit": unit,
            "median": 1.0, "low": 1.0, "high": 1.0, "flags": []}  # fmt: skip


def test_targets_stand_below_each_other_in_the_units_of_people(tmp_path: Path) -> None:
    result = made_run(tmp_path, parts=[Part.LEDGER], heading=quick()).result
    lines = told(result)
    assert lines[0] == "ledger"
    rates = [line.split() for line in lines if " committed-rate " in line or " tx/s " in line]
    targets = [next(word for word in row if word in DRIVES) for row in rates]
    assert targets[:2] in (["nvmeof", "sata"], ["sata", "nvmeof"])
    assert "committed-rate" in rates[0]
    assert "committed-rate" not in rates[1]
    assert lines[-1] == "A quick run is indicative: small sizes, few repetitions."


def test_a_flag_is_said_once_if_all_have_it_and_never_left_out(tmp_path: Path) -> None:
    result = made_run(tmp_path, parts=[Part.IO], repetitions=2).result
    flagged(result, Flag.CACHED, lambda each: each["metric"] == "fsyncs")
    flagged(result, Flag.INVALID, lambda each: each["metric"] == "write-max")
    lines = told(result)
    assert sum(Flag.FEW_REPETITIONS in line for line in lines) == 1
    (others,) = [line for line in lines if "more in the report" in line]
    assert "INVALID 4" in others
    assert "CACHED 2" in others


def test_what_most_rows_have_is_a_letter() -> None:
    figures = [figure("gateway", name, "B/s") for name in ("upload-rate", "stream-rate")]
    figures += [figure("direct", name, "B/s") for name in ("write-rate", "read-rate")]
    result = {"figures": figures, "failures": [], "complete": True, "quick": False}
    flagged(result, Flag.NOT_PRECONDITIONED, lambda each: each["metric"] != "upload-rate")
    flagged(result, Flag.INVALID, lambda each: each["metric"] == "read-rate")
    assert sum("NOT PRECONDITIONED" in line for line in told(result)) == 1
    assert sum(line.endswith("a INVALID") for line in told(result)) == 1


def test_a_sweep_comes_last_by_its_numbers_and_has_an_end() -> None:
    points = [f"random-4k-qd{depth}-read100" for depth in range(2 * ROWS_MAX, 0, -1)]
    figures = [figure(each, "read-operations") for each in points]
    figures += [figure(each, "read-rate") for each in points]
    figures += [figure("zoned", "read-rate"), figure("random-1m-qd2-read100", "read-rate")]
    result = {"figures": figures, "failures": [], "complete": True, "quick": False}
    lines = told(result)
    assert [line.split()[0] for line in lines[2:6]] == [
        "zoned",
        "random-1m-qd2-read100",
        "random-4k-qd1-read100",
        "random-4k-qd2-read100",
    ]
    assert not any("read-rate" in line and "4k" in line for line in lines)
    assert f"{len(figures) - ROWS_MAX} more in the report" in lines


def test_what_failed_and_a_partial_run_are_told(tmp_path: Path) -> None:
    result = made_run(tmp_path, parts=[Part.OFFLOAD], fails=True).result
    lines = told({**result, "complete": False, "ended": "interrupted by SIGINT"})
    assert "FAILED broken sata: expected a drive that answers, got EIO" in lines
    assert "This run is partial: interrupted by SIGINT." in lines


def test_the_time_left_follows_what_the_machine_takes() -> None:
    with Progress(TextColumn(""), console=Console(file=StringIO())) as shown:
        task = shown.add_task("", total=1000, ends_s=0.0)
        bar = Bar(shown, task, 100.0)
        bar.stands_at(0.0)
        assert 99 < shown.tasks[0].fields["ends_s"] - monotonic() <= 100
        bar.stands_at(1.0)
        assert shown.tasks[0].fields["ends_s"] <= monotonic()
        assert shown.tasks[0].completed == shown.tasks[0].total
