"""A checkout for one test: the project's files, its own build/, and make."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
SHARED: Final = ("Makefile", "demo", "pyproject.toml", "requirements.lock", "scripts")
TIMEOUT_S: Final = 240
HEEDING: Final = ("env", "--default-signal=INT,HUP,TERM")
"""Runs a command that heeds signals, even if nohup or a shell's `&` had this run ignore some."""
PORTS: Final = {"REST_PORT": "0", "MQTT_PORT": "0", "LEDGER_PORT": "0"}


def make_checkout(folder: Path) -> Path:
    """Put the project's files into a new folder."""
    folder.mkdir()
    for name in SHARED:
        (folder / name).symlink_to(ROOT / name)
    return folder


def live_data(checkout: Path) -> Path:
    """Return the data directory of a live gateway of the caller; no test may touch it."""
    return checkout / "live"


def environment(checkout: Path) -> Mapping[str, str]:
    """Return the environment of a caller who also runs a live gateway on this machine."""
    return os.environ | {
        "PYTHONPATH": str(checkout),
        "WAYSEAL_DATA": str(live_data(checkout)),
        "WAYSEAL_LEDGER__URL": "http://127.0.0.1:1",
        "WAYSEAL_DEVICE_ID": "live",
        "WAYSEAL_TRUST": "live",
    }


def make(checkout: Path, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run make with the virtual environment of this process, without setting it up again."""
    command = ["make", "--no-print-directory", "-o", f"{sys.prefix}/.ready", target]
    settings = {"VENV": sys.prefix, **variables}
    return run(checkout, *command, *(f"{name}={value}" for name, value in settings.items()))


def run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout to its end."""
    return subprocess.run(  # noqa: S603 - our own commands
        command,
        cwd=checkout,
        env=environment(checkout),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def begin(checkout: Path, module: str) -> subprocess.Popen[str]:
    """Start one of the commands behind make's targets, to be interrupted."""
    return subprocess.Popen(  # noqa: S603 - our own module
        [*HEEDING, sys.executable, "-m", module],
        cwd=checkout,
        env=environment(checkout),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
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
