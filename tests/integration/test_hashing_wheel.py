"""The optional extension is in a wheel if it can be built, and not in one for all platforms."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from storage.hashing.onepass import IN_ONE_PASS

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
WHEEL = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
ASK = "from storage.hashing.onepass import recording_hash; print(type(recording_hash()).__name__)"


def wheel(folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own words
        [*WHEEL, "-w", str(folder), str(ROOT)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({"WAYSEAL_NATIVE": "0"}, False), ({}, IN_ONE_PASS), ({"CC": "no-compiler"}, False)],
)
def test_a_wheel_hashes_as_it_can(
    tmp_path: Path, variables: dict[str, str], *, expected: bool
) -> None:
    done = wheel(tmp_path, variables)
    assert done.returncode == 0, done.stderr
    (made,) = tmp_path.glob("*.whl")
    assert made.stem.endswith("-py3-none-any") is not expected
    with zipfile.ZipFile(made) as packed:
        packed.extractall(tmp_path / "installed")
    told = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", ASK],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == ("OnePassHash\n" if expected else "HashlibHash\n")


def test_what_was_asked_for_and_cannot_be_built_ends_the_build(tmp_path: Path) -> None:
    done = wheel(tmp_path, {"WAYSEAL_NATIVE": "1", "CC": "no-compiler"})
    assert done.returncode != 0
    assert "WAYSEAL_NATIVE=1 asks for" in done.stderr + done.stdout
    assert "no C compiler" in done.stderr + done.stdout
    assert not list(tmp_path.iterdir())
