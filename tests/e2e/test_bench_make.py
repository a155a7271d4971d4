"""`make bench`, the very target, with less to do of everything."""

import json
from pathlib import Path

import pytest

from storage.bench.run.plan import Part
from storage.bench.run.savedrun import opened
from support.project.checkout import ROOT, make, running

pytestmark = pytest.mark.e2e

LESS = (
    "--repetitions 1 --direct-gb 0.01 --working-set-gb 0.01 --sweep-seconds 0 "
    "--video-gb 0.01 --gateway-video-gb 0.01 --pacing none --ledger-workload reading-runs "
    "--trucks 1 --truck-readings 20 --truck-video-mb 1 --trip-readings 60 --trip-video-mib 1"
)


@pytest.mark.long
def test_make_bench_measures_all_parts_and_ends_with_where_the_report_is(checkout: Path) -> None:
    (checkout / "build").mkdir()
    (checkout / "build/cassandra").symlink_to(ROOT / "build/cassandra")
    done = make(checkout, "bench", OPTIONS=LESS)
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = done.stdout.splitlines()
    said = json.loads(last)
    assert said.keys() == {"report", "result"}
    assert "<svg" in Path(said["report"]).read_text("utf-8")
    result = opened(Path(said["result"])).result
    assert (result["complete"], result["quick"], result["failures"]) == (True, True, [])
    assert {each["part"] for each in result["figures"]} == set(Part)
    assert set(Part) <= {line.strip() for line in lines}
    home = Path(said["result"]).parent
    assert home.parent == checkout / "build/bench/runs"
    assert {path.name for path in home.iterdir()} == {
        *("result.json", "report.html", "raw", "charts"),
    }
    assert running(checkout) == []
