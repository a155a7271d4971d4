"""Whatever a terminal can show, each command says what it has to say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = [
    "contracts.evidence.wayseal_verify",
    "contracts.ledger.wayseal_node",
    "contracts.party.wayseal_party",
    "demo.down",
    "demo.main",
    "demo.measure",
    "demo.up",
    "device.wayseal_device",
    "gateway.wayseal_gateway",
]
SCRIPT = """
import contextlib, importlib, sys
main = importlib.import_module(sys.argv[1]).main
sys.argv = ["command", "--help"]
with contextlib.suppress(SystemExit):
    main()
print("said: caf\\xe9\\u2026 \\u65e5")
"""


LATIN_1 = {"PYTHONIOENCODING": "latin-1"}
POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    ("command", "terminal"),
    [
        *(pytest.param(each, POSIX, id=f"posix-{each}") for each in COMMANDS),
        pytest.param(COMMANDS[0], LATIN_1, id="latin-1"),
        *(
            pytest.param(each, LATIN_1, id=f"latin-1-{each}", marks=pytest.mark.long)
            for each in COMMANDS[1:]
        ),
    ],
)
def test_what_a_terminal_cannot_show_is_escaped(
    command: str, terminal: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", SCRIPT, command],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **terminal},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(rb"\u2026 \u65e5")
