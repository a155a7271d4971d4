"""`wayseal-bench` killed with kill -9: the next one leaves nothing of it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from storage.bench.processes import executable
from storage.bench.run.workplace import NAME
from support.rogue import until

pytestmark = pytest.mark.integration

PATIENCE_S = 120
ONLY_CASSANDRA = ("--repetitions", "1", "--video-gb", "0.5", "--quick", "--direct-gb", "0",
                  "--sweep-seconds", "0", "--working-set-gb", "0.01",
                  "--gateway-video-gb", "0")  # fmt: skip
NEXT = ("ledger", "--component", "none=tcp://127.0.0.1:1")
"""The shortest run: what cannot be measured is refused once the start has cleaned up."""


def environment(directory: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(directory)}


def killed(words: Sequence[str | Path], directory: Path, once: Callable[[], bool]) -> None:
    """Begin a run, and kill it once something is so."""
    command = [executable("wayseal-bench"), *words]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, env=environment(directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        end_s = time.monotonic() + PATIENCE_S
        while not once():
            assert running.poll() is None, "ended by itself"
            assert time.monotonic() < end_s, "never got there"
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)


def begin_next(runs: Path, scratch: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [executable("wayseal-bench"), *NEXT, "--out", runs],
        env=environment(scratch),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "expected a name of --sawtooth" in done.stderr


def working_in(directory: Path) -> list[bytes]:
    """Return the commands of all processes that have a directory in their command or environment.

    Workers of a process have its command; all have its TMPDIR.
    """
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes()
            inherited = (process / "environ").read_bytes()
        except OSError:
            continue
        if int(process.name) != os.getpid() and os.fsencode(directory) in told + inherited:
            found.append(told)
    return found


@pytest.mark.parametrize("part", ["io", "ledger", "offload"])
def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, part: str) -> None:
    scratch, runs = tmp_path / "tmp", tmp_path / "runs"
    scratch.mkdir()
    words = {
        "io": ("io", *ONLY_CASSANDRA, "--out", runs),
        "ledger": ("ledger", "--ledger-workload", "reading-runs", "--out", runs),
        "offload": ("offload", "--quick", "--truck-video-mb", "200", "--out", runs),
    }
    begun = {  # the server has blobs; batches are signed; trucks are on their way
        "io": lambda: any(runs.glob(f"*/{NAME}/cassandra/**/blob-*/*-Data.db")),
        "ledger": lambda: any(scratch.glob("*/signed/*/*")),
        "offload": lambda: any(scratch.glob("*/trucks/*")),
    }
    killed(words[part], scratch, begun[part])
    assert any(runs.glob(f"*/{NAME}"))
    assert any(scratch.iterdir())
    assert part == "ledger" or working_in(tmp_path)  # servers run on
    begin_next(runs, scratch)
    assert [path.name for path in scratch.iterdir()] == []
    assert not any(runs.glob(f"*/{NAME}"))
    # Trucks end with the fleet that was ended: a moment later.
    until("nobody works there", lambda: not working_in(tmp_path), PATIENCE_S)
