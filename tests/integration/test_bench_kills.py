"""`wayseal-bench` killed with kill -9: the next one leaves nothing of it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from storage.bench.run.directories import WORKPLACE
from storage.bench.run.savedrun import opened
from storage.bench.servers.processes import executable
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

PATIENCE_S = 120
NO_VOLUMES = ("--repetitions", "1", "--quick", "--direct-gb", "0", "--sweep-seconds", "0",
              "--working-set-gb", "0.01")  # fmt: skip
ONLY_CASSANDRA = (*NO_VOLUMES, "--video-gb", "0.5", "--gateway-video-gb", "0")
ONLY_GATEWAY = (*NO_VOLUMES, "--video-gb", "0", "--gateway-video-gb", "0.1", "--auditors", "2")
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


def stored_in(directory: Path) -> int:
    size = 0
    for where, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                size += Path(where, name).stat().st_size
    return size


def working_in(directory: Path) -> dict[int, bytes]:
    """Return the commands of all processes that have a directory in their command or environment.

    Workers of a process have its command; all have its TMPDIR.
    """
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes()
            inherited = (process / "environ").read_bytes()
        except OSError:
            continue
        if int(process.name) != os.getpid() and os.fsencode(directory) in told + inherited:
            found[int(process.name)] = told
    return found


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("io", marks=pytest.mark.long),
        "ledger",
        pytest.param("offload", marks=pytest.mark.long),
    ],
)
def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, part: str) -> None:
    scratch, runs = tmp_path / "tmp", tmp_path / "runs"
    scratch.mkdir()
    words = {
        "io": ("io", *ONLY_CASSANDRA, "--out", runs),
        "ledger": ("ledger", "--ledger-workload", "reading-runs", "--out", runs),
        "offload": ("offload", "--quick", "--truck-video-mb", "200", "--out", runs),
    }
    begun = {  # the server has blobs; batches are signed; trucks are on their way
        "io": lambda: any(runs.glob(f"*/{WORKPLACE}/cassandra/**/blob-*/*-Data.db")),
        "ledger": lambda: any(scratch.glob("*/signed/*/*")),
        "offload": lambda: any(scratch.glob("*/trucks/*")),
    }
    killed(words[part], scratch, begun[part])
    assert any(runs.glob(f"*/{WORKPLACE}"))
    assert any(scratch.iterdir())
    begin_next(runs, scratch)
    assert [path.name for path in scratch.iterdir()] == []
    assert not any(runs.glob(f"*/{WORKPLACE}"))
    # Trucks end with the fleet that was ended: a moment later.
    until("nobody works there", lambda: not working_in(tmp_path), PATIENCE_S)


@pytest.mark.parametrize(
    ("words", "stored_bytes", "server", "workloads"),
    [
        pytest.param(
            # More than warming it leaves, and than segments of the log that are as yet empty.
            *(ONLY_CASSANDRA, 300e6, b"CassandraDaemon", {"cassandra"}),
            id="cassandra",
            marks=pytest.mark.long,
        ),
        pytest.param(
            # Twice what auditors are going to read, which is there before the first step.
            *(ONLY_GATEWAY, 250e6, b"wayseal-gateway", {"gateway", "gateway-mixed"}),
            id="gateway",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_server_that_dies_in_the_middle_is_a_failure_and_the_rest_goes_on(
    tmp_path: Path, words: Sequence[str], stored_bytes: float, server: bytes, workloads: set[str]
) -> None:
    runs = tmp_path / "runs"
    command: list[str | Path] = [executable("wayseal-bench"), "io", *words, "--out", runs]
    with subprocess.Popen(  # noqa: S603 - our own command
        command,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        until(
            "so much is stored",
            lambda: running.poll() is not None or stored_in(runs) > stored_bytes,
            PATIENCE_S,
        )
        (pid,) = (each for each, told in working_in(runs).items() if server in told)
        os.kill(pid, signal.SIGKILL)
        out, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1, said
    assert "Traceback" not in said
    result = opened(Path(json.loads(out.splitlines()[-1])["result"])).result
    assert result["complete"]
    # Those of a stage, which can't end its server in good order, have no target.
    assert {each["workload"] for each in result["failures"] if each["target"]} == workloads
    done = {each["workload"] for each in result["executions"]}
    assert done == {"fsync", "ingest-and-audit"}
    assert not any(runs.glob(f"*/{WORKPLACE}"))
    until("nobody works there", lambda: not working_in(tmp_path), PATIENCE_S)
