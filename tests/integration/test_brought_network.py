"""The rules on a network that one brings, for which our own node stands in here."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.ledgers import bare_node
from support.ledgers.brought import VARIABLE

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
NETWORK = [
    *(sys.executable, bare_node.__file__, "--data", "{data}"),
    *("--genesis", "{genesis}", "--key", "{key}"),
    *("--rest", "127.0.0.1:0", "--component", "tcp://127.0.0.1:0"),
]
MODULE = "tests/unit/test_rules_handovers.py"


def rules(command: str) -> "subprocess.CompletedProcess[str]":
    """Run a module of the rule tests on a network alone, as docs/node.md tells to."""
    return subprocess.run(  # noqa: S603 - our own tests
        [sys.executable, "-m", "pytest", "-q", MODULE, "-k", "sawtooth", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**os.environ, VARIABLE: command},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_a_network_that_one_brings_is_held_to_the_rules() -> None:
    done = rules(shlex.join(NETWORK))
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.long
def test_a_network_that_does_not_start_is_no_success() -> None:
    done = rules(shlex.join([sys.executable, "-c", "print('not ready')"]))
    assert done.returncode == 1, done.stdout
    assert "'not ready\\n', see " in done.stdout
