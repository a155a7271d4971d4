"""The benchmark's chaincode for Fabric, web/chaincode: its own tests, run with Go."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.bench.fabric.chaincode import ABOUT

pytestmark = [pytest.mark.integration, pytest.mark.long]
FOLDER = Path(__file__).parents[2] / "web" / "chaincode"


def go(*words: str, cwd: Path = FOLDER) -> subprocess.CompletedProcess[str]:
    """Run Go with the dependencies as they are locked."""
    found = shutil.which(words[0])
    if found is None:
        pytest.skip(f"{words[0]} is not in the PATH")
    environment = {**os.environ, "GOFLAGS": "-mod=readonly"}
    return subprocess.run(  # noqa: S603 - Go's own programs
        [found, *words[1:]], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_its_rules_pass_their_tests_and_are_formatted() -> None:
    """They import nothing of Fabric's, so that Go alone is needed."""
    assert go("gofmt", "-l", ".").stdout == ""
    vetted = go("go", "vet", "./bench")
    assert vetted.returncode == 0, vetted.stderr
    tested = go("go", "test", "./bench")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_it_is_built_with_fabric_s_libraries(tmp_path: Path) -> None:
    made = go("go", "build", "-o", str(tmp_path / "chaincode"), ".")
    if made.returncode and ("403 Forbidden" in made.stderr or "dial tcp" in made.stderr):
        pytest.skip(f"Fabric's modules cannot be had here: {made.stderr.splitlines()[-1]}")
    assert made.returncode == 0, made.stderr
    program = str(tmp_path / "chaincode")
    started = subprocess.run([program], capture_output=True, text=True, check=False)  # noqa: S603
    assert started.returncode == 1
    assert started.stderr.startswith("wayseal-bench: ")


def test_the_stand_in_says_the_same_of_itself() -> None:
    assert f'const About = "{ABOUT.decode()}"' in (FOLDER / "bench" / "bench.go").read_text()
