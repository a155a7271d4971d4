"""`make measure` at its smallest: every figure is there, and stands beside its limit."""

import json
import sys
from pathlib import Path

import pytest

from support.project.checkout import live_data, run, running

pytestmark = pytest.mark.e2e

SMALLEST = ("--readings", "240", "--runs", "1")


@pytest.mark.long
def test_the_figures_stand_beside_their_limits(checkout: Path) -> None:
    done = run(checkout, sys.executable, "-m", "demo.measure", *SMALLEST)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result == json.loads((checkout / "build" / "measure.json").read_text())
    readings = result["readings"]
    assert readings["count"] == 240
    assert readings["median_per_s"] == readings["runs_per_s"][0] > 0
    assert readings["node_only_per_s"] == readings["node_only_runs_per_s"][0] > 0
    assert readings["ratio"] == readings["ratio_runs"][0] > 0
    assert readings["gateway_cpu_s_per_1000"] > 0
    assert readings["node_cpu_s_per_1000"] > 0
    assert running(checkout) == []
    assert not live_data(checkout).exists()
    assert not (checkout / "build" / "measure").exists()
