"""`make bench-ledger` at its smallest: every figure is there, and what misses is profiled."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from storage.bench.goals.goals import LEDGER_GOALS
from storage.bench.run.directories import WORKPLACE
from storage.bench.run.savedrun import opened
from support.project.checkout import live_data, make, running

pytestmark = pytest.mark.e2e

SMALLEST = (
    "--in-a-row 2000 --chain 4000 --runs 4000 --singles 2000 --paced 2000 --network 2000 "
    "--network-runs 4000 --network-paced 2000 --network-killed 2000 --trip 2000 --trucks 2000"
)
MORE = {
    "cpu_s_per_1000_readings",
    "times_real_node",
    "readings_loader_cpu_s",
    "trucks_receipts",
    "trucks_p95_s",
}


@pytest.mark.long
def test_every_figure_is_printed_and_written(checkout: Path) -> None:
    done = make(checkout, "bench-ledger", OPTIONS=SMALLEST)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures == json.loads((checkout / "build" / "bench" / "ledger.json").read_text())
    assert figures.keys() >= LEDGER_GOALS.keys() | MORE
    assert all(figures[name] > 0 for name in LEDGER_GOALS)
    assert (figures["size_in_a_row"], figures["size_chain"]) == (2000, 4000)
    shown = done.stdout.splitlines()
    for name, goal in LEDGER_GOALS.items():
        (row,) = [line for line in shown if line.startswith(f"{name:28} ")]
        assert ("MISSED" in row) == (not goal.met_by(figures[name]))
        assert row.endswith(goal.words)
    assert running(checkout) == []
    assert not live_data(checkout).exists()
    assert not (checkout / "build" / "bench" / WORKPLACE).exists()
    (page,) = [line.removeprefix("report: ") for line in shown if line.startswith("report: ")]
    assert Path(page).exists()
    assert opened(Path(page).parent).result["complete"]


@pytest.mark.parametrize("wrong", ["--chain 100", "--in-a-row 4000 --chain 2000"])
def test_sizes_that_make_no_sense_are_refused(checkout: Path, wrong: str) -> None:
    done = make(checkout, "bench-ledger", OPTIONS=wrong)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert wrong.split(maxsplit=1)[0] in done.stderr


def test_a_profile_names_functions(tmp_path: Path) -> None:
    out = tmp_path / "node.profile"
    module = ["-m", "storage.bench.servers.profiled"]
    command = [sys.executable, *module, str(out), "wayseal-node", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert "wayseal-node --data d" in done.stdout
    assert re.search(r"[.\w]+(\.py|>):\d+\(\w+\)$", out.read_text(), re.MULTILINE)
