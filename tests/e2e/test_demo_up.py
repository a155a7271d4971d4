"""`make up` interrupted, killed or half dead: the next one works, and nothing is forgotten."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo import pids
from support.project.checkout import PORTS, begin, make, running
from support.trucks.rogue import until

pytestmark = pytest.mark.e2e


@pytest.fixture
def place(checkout: Path) -> Iterator[Path]:
    """Where `make up` works; whatever runs there is stopped after the test."""
    directory = checkout / "build" / "up"
    yield directory
    for name in pids.SERVICES:
        path = pids.pid_file(directory, name)
        if path.exists() and not path.read_text().strip().isdigit():
            path.unlink()
    pids.stop(directory)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for the end of a process; return its status and what it said on standard error."""
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def interrupted(checkout: Path, place: Path, service: str, number: signal.Signals) -> str:
    """Send a signal to a `make up` that has just started a service; return what it said."""
    process = begin(checkout, "demo.up")
    path = pids.pid_file(place, service)
    until(f"the {service}", lambda: path.exists() or process.poll() is not None)
    process.send_signal(number)
    status, said = ended(process)
    assert status != 0, said
    return said


@pytest.mark.parametrize("service", pids.SERVICES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_start_leaves_nothing(
    checkout: Path, place: Path, service: str, number: signal.Signals
) -> None:
    said = interrupted(checkout, place, service, number)
    assert said == f"up: interrupted by {number.name}\n"
    assert running(checkout) == []
    assert not list(place.glob("*.pid"))
    assert not (checkout / "build" / "up.json").exists()


@pytest.mark.parametrize(
    "service",
    [pids.SERVICES[0], *(pytest.param(each, marks=pytest.mark.long) for each in pids.SERVICES[1:])],
)
def test_a_killed_start_is_put_right_by_the_next(checkout: Path, place: Path, service: str) -> None:
    interrupted(checkout, place, service, signal.SIGKILL)
    done = make(checkout, "up", **PORTS)
    assert done.returncode == 0, done.stderr
    assert len(running(checkout)) == 2
    assert make(checkout, "down").returncode == 0
    assert running(checkout) == []


def test_a_killed_start_is_stopped_by_down(checkout: Path, place: Path) -> None:
    interrupted(checkout, place, "gateway", signal.SIGKILL)
    assert make(checkout, "down").returncode == 0
    assert running(checkout) == []


@pytest.mark.long
def test_half_a_gateway_is_named_and_started_afresh(checkout: Path, place: Path) -> None:
    assert make(checkout, "up", **PORTS).returncode == 0
    for dead, rest in (("gateway", "node"), ("node", "gateway")):
        os.kill(int(pids.pid_file(place, dead).read_text()), signal.SIGKILL)
        until(f"the end of the {dead}", lambda: len(running(checkout)) == 1)
        done = make(checkout, "up", **PORTS)
        assert done.returncode == 0, done.stderr
        assert f"up: the {dead} is dead: stopping the {rest}" in done.stderr
        assert len(running(checkout)) == 2
    os.kill(int(pids.pid_file(place, "node").read_text()), signal.SIGKILL)
    until("the end of the node", lambda: len(running(checkout)) == 1)
    down = make(checkout, "down")
    assert down.returncode == 0
    assert "the node was dead already" in down.stderr
    assert running(checkout) == []


def test_who_runs_but_does_not_serve_is_not_called_up(checkout: Path, place: Path) -> None:
    assert make(checkout, "up", **PORTS).returncode == 0
    path = checkout / "build" / "up.json"
    state = json.loads(path.read_text())
    for damage in ({"ledger": "http://127.0.0.1:1"}, {"operator_token": "x"}, {"rest": None}):
        path.write_text(json.dumps(state | damage))
        done = make(checkout, "up", **PORTS)
        assert done.returncode != 0
        assert "do not serve; `make down` stops them" in done.stderr
        assert "Traceback" not in done.stderr
    assert len(running(checkout)) == 2
    assert place.exists()


@pytest.mark.parametrize("damage", ["{", "", "12x", "-1"])
@pytest.mark.parametrize("target", ["up", "down"])
def test_a_damaged_pid_file_is_one_clear_line(
    checkout: Path, place: Path, target: str, damage: str
) -> None:
    place.mkdir(parents=True)
    path = pids.pid_file(place, "node")
    path.write_text(damage)
    done = make(checkout, target, **(PORTS if target == "up" else {}))
    assert done.returncode != 0
    ours = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(ours) == 1, done.stderr
    assert ours[0].startswith(f"{target}: pid file {path}: expected a process id, got ")
    assert running(checkout) == []
