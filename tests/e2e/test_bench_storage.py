"""`make bench-storage` at its smallest: every figure is there, and nothing is left behind."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storage.bench.goals.goals import STORAGE_GOALS
from storage.bench.run.directories import WORKPLACE
from support.project.checkout import ROOT, environment, live_data, make, running
from support.trucks.rogue import until

pytestmark = pytest.mark.e2e

MODULE = "storage.bench.goals.wayseal_bench_storage"
RATES = {
    *("upload_mib_per_s", "upload_dd_twice_mib_per_s", "upload_sha256sum_mib_per_s"),
    *("volume_read_mib_per_s", "volume_read_read_and_sha256_mib_per_s"),
    *("cassandra_write_mib_per_s", "cassandra_write_bare_loop_mib_per_s"),
    *("cassandra_write_hashing_loop_mib_per_s", "cassandra_write_hashing_ratio"),
    *("cassandra_read_hashing_loop_mib_per_s", "cassandra_read_hashing_ratio"),
    *("cassandra_read_mib_per_s", "cassandra_read_bare_loop_mib_per_s"),
}


@pytest.fixture
def bench(checkout: Path) -> Path:
    """Return a checkout that has the server's jars already, if this one has."""
    jars = ROOT / "build" / "cassandra" / "lib"
    if jars.is_dir():
        (checkout / "build" / "cassandra").mkdir(parents=True)
        (checkout / "build" / "cassandra" / "lib").symlink_to(jars)
    return checkout


@pytest.mark.long
def test_every_figure_is_printed_and_written(bench: Path) -> None:
    done = make(bench, "bench-storage", OPTIONS="--smallest")
    assert done.returncode == 0, done.stdout + done.stderr
    *shown, last = done.stdout.splitlines()
    figures = json.loads(last)
    assert figures == json.loads((bench / "build" / "bench" / "storage.json").read_text())
    for name in STORAGE_GOALS.keys() | RATES:
        assert figures[name] > 0
    names = [name.removesuffix("_ratio") for name in STORAGE_GOALS if name.endswith("_ratio")]
    for name in names:
        (run,) = figures[name]["runs"]
        assert run["ratio"] == figures[f"{name}_ratio"]
        (line,) = [line for line in shown if line.startswith(f"{name}_ratio ")]
        assert ("MISSED" in line) == (run["ratio"] < STORAGE_GOALS[f"{name}_ratio"].bound)
    assert figures["memory"]["samples_mb"]
    assert (
        figures["bare_loop"]["tried"]["write"].keys()
        == figures["bare_loop"]["tried"]["read"].keys()
    )
    assert running(bench) == []
    assert not live_data(bench).exists()
    assert not (bench / "build" / "bench" / WORKPLACE).exists()


@pytest.mark.long
def test_an_interrupted_run_removes_what_it_made_and_a_killed_one_is_swept(bench: Path) -> None:
    work = bench / "build" / "bench" / WORKPLACE
    killed = _begun(bench)
    killed.kill()
    killed.communicate()
    assert work.exists()
    until("the end of the killed run's server", lambda: running(bench) == [])
    interrupted = _begun(bench)
    interrupted.send_signal(signal.SIGTERM)
    _, said = interrupted.communicate()
    assert (interrupted.returncode, "interrupted by SIGTERM" in said) == (1, True), said
    assert running(bench) == []
    assert not work.exists()


def _begun(bench: Path) -> subprocess.Popen[str]:
    """Start the part with a server, and return once that works."""
    command = [
        "-m",
        "storage.bench.goals.wayseal_bench_storage",
        "--smallest",
        "--only",
        "cassandra",
    ]
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, *command],
        cwd=bench,
        env=environment(bench),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if "the bare loop's best write" in line:
            return process
    pytest.fail(said)
