"""What docs/operator.md installs on a truck works, and brings nothing of a gateway."""

import json
import os
import subprocess
from pathlib import Path

import pytest

# `make test` holds each part elsewhere: what a role's lock brings, that its command needs no more,
# what `scripts/install` does with other roles, a simulated trip, the help.
pytestmark = [pytest.mark.e2e, pytest.mark.long]

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300
UNWANTED = {
    "amqtt",
    "cassandra-driver",
    "fastapi",
    "lmdb",
    "pydantic",
    "pydantic-core",
    "pydantic-settings",
    "starlette",
    "uvicorn",
}
SETTINGS = """\
device_id = "truck-1"
data = "data"

[trip]
origin_site = "site-a"
destination_site = "site-b"
deliveries = ["delivery-1"]
"""


class Pi:
    """A device that is installed by `scripts/install`, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"

    def run(self, *command: str | Path) -> str:
        """Run a command; it must work."""
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        places = {"PREFIX": str(self.folder / "opt"), "BIN": str(self.bin)}
        done = subprocess.run(  # noqa: S603 - our own commands
            command,
            cwd=self.folder,
            env=os.environ | places | {"PATH": path, "PYTHONPATH": ""},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def device(self, *arguments: str) -> dict[str, object]:
        said = self.run(
            self.bin / "wayseal-device", "--config", "device.toml", *arguments, "--json"
        )
        found: dict[str, object] = json.loads(said.strip().splitlines()[-1])
        return found


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Pi:
    made = Pi(tmp_path_factory.mktemp("pi"))
    made.run(ROOT / "scripts" / "install", "device-camera", "verify")
    (made.folder / "device.toml").write_text(SETTINGS)
    return made


def test_it_brings_nothing_of_a_gateway(pi: Pi) -> None:
    code = "import importlib.metadata as all; print(*(each.name for each in all.distributions()))"
    names = set(pi.run(pi.folder / "opt" / "device" / "bin" / "python", "-c", code).lower().split())
    assert {"wayseal", "coincurve", "paho-mqtt"} <= names
    assert not names & UNWANTED


def test_it_records_a_simulated_trip(pi: Pi) -> None:
    device = pi.bin / "wayseal-device"
    pi.run(device, "simulate", "--out", "trip", "--minutes", "20")
    pi.device("init")
    files = ("readings.csv", "track.gpx", "video.avi")
    options = zip(("--readings", "--track", "--video"), files, strict=True)
    words = [word for name, file in options for word in (name, f"trip/{file}")]
    trip = pi.device("record", *words, "--speed", "max")
    assert (trip["readings"], trip["recordings"]) == (240, 1)
    status = pi.device("status")
    assert isinstance(status["trips"], list)
    assert status["trips"][0]["state"] == "sealed"


@pytest.mark.parametrize("program", ["wayseal-device", "wayseal-verify"])
def test_the_help_teaches(pi: Pi, program: str) -> None:
    said = pi.run(pi.bin / program, "--help")
    assert "exit " in said
    assert "  wayseal-" in said or "example" in said
