"""`wayseal-bench offload` at its smallest: every figure is there, and nothing is left behind."""

import json
import subprocess
from pathlib import Path

import pytest

from storage.bench.run.directories import WORKPLACE
from storage.bench.run.savedrun import opened
from storage.bench.servers.processes import environment, executable
from storage.stages import Stage

pytestmark = pytest.mark.integration

FIGURES = {
    *("offload-p50", "offload-p95", "readings", "video", "errors"),
    *("gateway-cpu", "node-cpu", "gateway-memory-peak"),
    *(f"stage-{stage}" for stage in Stage),
}
ALONE = {"ledger-alone", "disk-alone", "ratio-to-slower-alone"}
SMALLEST = (
    *("--trucks", "2", "--truck-readings", "20", "--truck-video-mb", "1"),
    *("--trip-readings", "120", "--trip-video-mib", "2", "--repetitions", "1", "--quick"),
)


@pytest.mark.long
def test_every_figure_is_there_and_nothing_is_left(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    done = subprocess.run(  # noqa: S603 - our own command
        [
            *(executable("wayseal-bench"), "offload", *SMALLEST),
            *("--target", f"ours={volume}", "--out", tmp_path / "runs"),
        ],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    path = Path(json.loads(done.stdout.splitlines()[-1])["result"])
    result = opened(path).result
    assert result["failures"] == []
    figures = {(each["workload"], each["metric"]): each for each in result["figures"]}
    expected = {
        *(("fleet", name) for name in FIGURES),
        *(("long-trip", name) for name in FIGURES | ALONE),
    }
    assert figures.keys() >= expected  # the runner adds what it watches of the machine
    for (_, metric), figure in ((each, figures[each]) for each in expected):
        assert (figure["median"] == 0) == (metric == "errors"), metric
        assert figure["target"] == "ours"
    trip = {name: figures["long-trip", name]["median"] for name in FIGURES | ALONE}
    slower_s = max(trip["ledger-alone"], trip["disk-alone"])
    assert trip["ratio-to-slower-alone"] == pytest.approx(trip["offload-p50"] / slower_s)
    for execution in result["executions"]:
        folder = path.parent / execution["folder"]
        assert json.loads((folder / "fleet.json").read_text("utf-8"))["errors"] == []
        header, first, *_ = (folder / "servers.csv").read_text("utf-8").splitlines()
        assert len(first.split(",")) == len(header.split(",")) == 5
    assert not (volume / WORKPLACE).exists()
    assert list(volume.iterdir()) == []
