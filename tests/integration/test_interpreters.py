"""Each supported Python gives the same answers: rules, state, verdicts, and what is text."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from support.project import vectors
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

SUPPORTED: Final = ("3.11", "3.12", "3.13", "3.14")
NEEDED: Final = ("coincurve==", "protobuf==")
"""Of the lock: what the rules and the verifier need."""
RECORDED: Final = ROOT / "tests" / "golden" / "text" / "vectors.json"
TIMEOUT_S: Final = 280


@pytest.fixture(scope="module")
def own() -> dict[str, Any]:
    return vectors.vectors()


def test_text_and_version_1_0_are_as_recorded(own: dict[str, Any]) -> None:
    """The record is from Python 3.11; `text` and `recorded 1.0` never change again."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert {name: own[name] for name in recorded} == recorded


def test_the_oldest_python_is_the_one_that_the_project_requires() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == f">={SUPPORTED[0]}"


@pytest.mark.parametrize(
    "version",
    [*(pytest.param(each, marks=pytest.mark.long) for each in SUPPORTED[:2]), *SUPPORTED[2:]],
)
def test_each_python_gives_the_same_answers(
    version: str, tmp_path: Path, own: dict[str, Any]
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"python{version} is not on this machine: its answers are not compared")
    assert answers(environment(python, tmp_path)) == own


def interpreter(version: str) -> str | None:
    """Return a Python of that version, from PATH or from pyenv; None if it is missing."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    beside = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for path in (shutil.which(f"python{version}"), *map(str, beside)):
        # A shim of pyenv is on PATH for versions that are not chosen, and fails.
        if path and subprocess.run([path, "-V"], check=False, capture_output=True).returncode == 0:  # noqa: S603  # an interpreter
            return path
    return None


def environment(python: str, folder: Path) -> Path:
    """Return the Python of an environment with what the rules need, locked by hash."""
    lock = folder / "needed.lock"
    entries = re.split(
        r"^(?=\S)", (ROOT / "requirements.lock").read_text("utf-8"), flags=re.MULTILINE
    )
    lock.write_text("".join(each for each in entries if each.startswith(NEEDED)), "utf-8")
    made = folder / "venv" / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    _run([uv, "venv", "--quiet", "--python", python, folder / "venv"])
    _run([uv, "pip", "install", "--quiet", "--python", made, "--require-hashes", "-r", lock])
    return made


def answers(python: Path) -> object:
    """Return the vectors of another interpreter."""
    return json.loads(_run([python, "-m", "support.project.vectors"]))


def _run(command: list[str | Path]) -> str:
    done = subprocess.run(  # noqa: S603  # our own commands
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
