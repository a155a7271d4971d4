"""A store of recordings that is killed before each change it makes to a disk, in every step."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.storage.killed import STEPS

pytestmark = pytest.mark.integration

TESTS = Path(__file__).parents[1]
LIMIT_S = 300


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_before_any_change_loses_nothing(tmp_path: Path, step: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, TESTS / "support/storage/killed.py", tmp_path / "house", step],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout) > 3
