"""The rig's judge of a run that compares volumes: what it accepts, and each thing it does not."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError
from rig.comparison import counted_bytes, require_compared, require_one_page
from storage.bench.commands.report import PAGE, written
from storage.bench.run.folder import RESULT
from storage.bench.run.plan import Part
from storage.bench.run.savedrun import SavedRun, opened
from support.bench.results import HEADING, NVMEOF, SATA, made_run

INTERFACES = {NVMEOF: "nvme-tcp", SATA: "sata-ssd"}
BLOCKS = 1000
"""Of 1 MiB: less than made-up drives move."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    """Return a run of two volumes with its page, not to be altered."""
    heading = replace(
        HEADING,
        settings={"io": {"volumes": {"direct_blocks": BLOCKS}}},
        targets=[each for each in HEADING.targets if each["kind"] == "volume"],
    )
    folder = tmp_path_factory.mktemp("run")
    run = made_run(folder, heading=heading, repetitions=1, parts=[Part.IO])
    written(run)
    return run


@pytest.fixture
def run(drawn: SavedRun, tmp_path: Path) -> SavedRun:
    """Return a copy, to be altered."""
    shutil.copytree(drawn.folder, tmp_path / "run")
    return opened(tmp_path / "run")


def alter(run: SavedRun, change: Callable[[dict[str, Any]], None]) -> None:
    """Edit a result where it lies."""
    path = run.folder / RESULT
    result = json.loads(path.read_text("utf-8"))
    change(result)
    path.write_text(json.dumps(result), "utf-8")


def judged(run: SavedRun) -> str:
    return require_compared(run.folder / RESULT, INTERFACES)


def without_a_metric(result: dict[str, Any]) -> None:
    """Take one figure of one target away."""
    figures = result["figures"]
    figures.remove(next(each for each in figures if each["target"] == SATA))


def at_rest(result: dict[str, Any]) -> None:
    """Let one target have measured nothing."""
    figure = next(each for each in result["figures"] if each["target"] == NVMEOF)
    figure["median"] = 0.0


def test_a_run_that_compares_passes_and_says_what_it_has(run: SavedRun) -> None:
    figures = run.result["figures"]
    workloads = len({each["workload"] for each in figures})
    counts = f"{len(figures)} figures of {workloads} workloads"
    assert judged(run) == f"nvme-tcp, sata-ssd in one run: {counts}"


def test_what_a_device_counted_is_the_sum_of_its_seconds(run: SavedRun) -> None:
    (done,) = (
        each
        for each in run.result["executions"]
        if (each["workload"], each["target"]) == ("direct", SATA)
    )
    table = "s,read_bytes_per_s,written_bytes_per_s\n1.0,7,100\n2.0,7,50\n2.5,7,10\n"
    (run.folder / done["folder"] / "write.csv").write_text(table)
    assert counted_bytes(run, SATA, "write") == [155.0]
    with pytest.raises(
        AssertionError, match=r"sata: expected 1048576000 bytes in write, .*\[155\]"
    ):
        judged(run)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda result: result.pop("seed"), "of schema .*'seed' is a required property"),
        (lambda result: result.update(complete=False, ended="interrupted"), "interrupted"),
        (
            lambda result: result["failures"].append(
                {"part": "io", "workload": "fsync", "target": SATA, "why": "EIO"}
            ),
            "EIO",
        ),
        (lambda result: result["targets"][0].update(interface="nvme-pcie"), "got .*nvme-pcie"),
        (lambda result: result["targets"].pop(), "got {'nvmeof': 'nvme-tcp'}"),
        (without_a_metric, "sata has no .*, nvmeof has"),
        (at_rest, "nvmeof has no .*, sata has"),
        (
            lambda result: result["figures"][0]["flags"].append(
                {"flag": "CACHED", "why": "expected 7 bytes, it counted 0"}
            ),
            "it counted 0",
        ),
        (lambda result: result["executions"].clear(), "nvmeof: no write of the file was sampled"),
    ],
)
def test_a_run_that_does_not_is_refused(
    run: SavedRun, change: Callable[[dict[str, Any]], None], why: str
) -> None:
    alter(run, change)
    with pytest.raises((AssertionError, RejectedError), match=why):
        judged(run)


def test_a_page_must_show_them_side_by_side(run: SavedRun) -> None:
    page = run.folder / PAGE
    seen = require_one_page(page, INTERFACES)
    assert re.fullmatch(r"[1-9][0-9]* charts of its page show all 2", seen)
    page.write_text(page.read_text("utf-8").replace(f">{SATA}<", "><"), "utf-8")
    with pytest.raises(AssertionError, match=r"no chart of .* has all of nvmeof, sata"):
        require_one_page(page, INTERFACES)
