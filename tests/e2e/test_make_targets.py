"""What a newcomer types: `make demo`, `make up`, `make down`, in a checkout of their own."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
SHARED = ("Makefile", "demo", "pyproject.toml", "requirements.lock", "scripts")
TIMEOUT_S = 240
PORTS = {"REST_PORT": "0", "MQTT_PORT": "0", "LEDGER_PORT": "0"}
KEYS = {"rest", "mqtt", "ledger", "operator_token", "auditor_token", "trust"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the project's files, whose build/ is nobody else's."""
    for name in SHARED:
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def make(checkout: Path, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run make with this very environment, which is not set up again."""
    command = ["make", "--no-print-directory", "-o", f"{sys.prefix}/.ready", target]
    settings = {"VENV": sys.prefix, **variables}
    return subprocess.run(  # noqa: S603 - our own Makefile
        [*command, *(f"{name}={value}" for name, value in settings.items())],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def running(checkout: Path) -> list[str]:
    """Return the command lines of processes that work in a checkout."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if str(checkout) in line:
            found.append(line)
    return found


def fields(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def test_the_demo_ends_ok(checkout: Path) -> None:
    done = make(checkout, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("demo: ok readings=")
    found = fields(last)
    assert list(found) == ["readings", "recordings", "bytes", "trip", "evidence"]
    assert (found["readings"], found["recordings"]) == ("1080", "1")
    assert int(found["bytes"]) > 1 << 20
    assert (checkout / found["evidence"]).stat().st_size > int(found["bytes"])
    assert running(checkout) == []


@pytest.mark.parametrize("damage", ["cell", "empty", "missing", "track"])
def test_the_demo_says_that_it_failed(checkout: Path, damage: str) -> None:
    readings = checkout / "readings.csv"
    if damage != "missing":
        row = "2022-01-31 12:21:15,warm,57.5\n" if damage == "cell" else ""
        readings.write_text("Date/Time,Temperature,Humidity\n" + row)
    variables = {"TRACK" if damage == "track" else "READINGS": str(readings)}
    done = make(checkout, "demo", **variables)
    assert done.returncode != 0
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("demo: failed ")
    assert {
        "cell": "expected a decimal number, got 'warm'",
        "empty": "expected at least one row",
        "missing": "readings.csv",
        "track": "need READINGS",
    }[damage] in last
    assert "Traceback" not in done.stdout + done.stderr
    assert running(checkout) == []


def test_up_and_down(checkout: Path) -> None:
    done = make(checkout, "up", **PORTS)
    try:
        assert done.returncode == 0, done.stderr
        state: dict[str, Any] = json.loads((checkout / "build" / "up.json").read_text())
        assert state.keys() == KEYS
        assert json.loads(done.stdout[done.stdout.index("{") :]) == state
        for role in ("operator", "auditor"):
            headers = {"Authorization": f"Bearer {state[f'{role}_token']}"}
            answer = httpx.get(f"{state['rest']}/v1/status", headers=headers, trust_env=False)
            assert answer.status_code == 200
        assert httpx.get(f"{state['ledger']}/blocks", trust_env=False).status_code == 200
        host, port = state["mqtt"].split(":")
        socket.create_connection((host, int(port)), 5).close()
        assert json.loads(Path(state["trust"]).read_text())
        again = make(checkout, "up", **PORTS)
        assert again.returncode != 0
        assert "already up" in again.stderr
        assert len(running(checkout)) == 2
    finally:
        down = make(checkout, "down")
    assert down.returncode == 0, down.stderr
    assert running(checkout) == []
    assert not (checkout / "build" / "up.json").exists()
    assert "nothing is up" in make(checkout, "down").stderr


@pytest.mark.parametrize("which", ["REST_PORT", "MQTT_PORT", "LEDGER_PORT"])
def test_a_taken_port_is_one_clear_error_and_leaves_nothing(checkout: Path, which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = make(checkout, "up", **{**PORTS, which: port})
    assert done.returncode != 0
    assert port in done.stderr
    assert "Traceback" not in done.stderr
    assert running(checkout) == []
    assert not (checkout / "build" / "up.json").exists()
