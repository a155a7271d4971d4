"""What the demo starts: without the caller's settings, and found again by its pid files."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from demo import pids
from storage.bench.servers.processes import environment

SLEEPER = "import sys; print('begun', flush=True); sys.stdin.read()"


def test_the_callers_settings_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYSEAL_DATA", "/live")
    monkeypatch.setenv("WAYSEAL_LEDGER__URL", "http://live")
    monkeypatch.setenv("OTHER", "kept")
    found = environment()
    assert not [name for name in found if "WAYSEAL" in name]
    assert found["OTHER"] == "kept"


def start(*words: str) -> subprocess.Popen[bytes]:
    """Start a process with these words on its command line, and wait until it runs."""
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", SLEEPER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    return process


def test_what_runs_is_found_and_stopped(tmp_path: Path) -> None:
    with start("wayseal-node", "--data", str(tmp_path / "node")) as process:
        pids.note(pids.pid_file(tmp_path, "node"), process.pid)
        assert pids.running(tmp_path) == {"node": process.pid}
        assert pids.stop(tmp_path) == {"node": process.pid}
        process.communicate()
    assert not list(tmp_path.iterdir())
    assert pids.running(tmp_path) == pids.stop(tmp_path) == {}


@pytest.mark.parametrize("name", ["wayseal-node", "sleeper"])
def test_a_process_that_got_the_number_since_is_left_alone(tmp_path: Path, name: str) -> None:
    ours, others = tmp_path / "a", tmp_path / "ab"
    ours.mkdir()
    with start(name, "--data", str(others if name == "wayseal-node" else ours / "node")) as process:
        pids.note(pids.pid_file(ours, "node"), process.pid)
        assert pids.running(ours) == pids.stop(ours) == {}
        assert process.poll() is None
        process.communicate()
    assert process.returncode == 0


def test_a_number_that_nobody_has(tmp_path: Path) -> None:
    pids.note(pids.pid_file(tmp_path, "gateway"), int(Path("/proc/sys/kernel/pid_max").read_text()))
    assert pids.stop(tmp_path) == {}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", [b"", b"{", b"1 2", b"-1", b"\xff", b"9" * 5000])
def test_a_damaged_pid_file(tmp_path: Path, damage: bytes) -> None:
    path = pids.pid_file(tmp_path, "gateway")
    path.write_bytes(damage)
    if damage.isdigit():
        assert pids.running(tmp_path) == {}
        return
    with pytest.raises(RejectedError, match="expected a process id, got") as caught:
        pids.running(tmp_path)
    assert str(path) in str(caught.value)
