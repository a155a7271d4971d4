"""bash completes every command, by the lines in docs/operator.md, without heavy imports."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.project.pages import ROOT, code_lines
from support.project.roles import ROLES

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
BIN = Path(sys.executable).parent
COMPLETE = """
eval "$(register-python-argcomplete "$1")"
complete -p "$1" >&2
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
read -ra COMP_WORDS <<< "$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete "$1" "${COMP_WORDS[$COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""
HEAVY = {"amqtt", "cassandra", "cv2", "fastapi", "httpx", "lmdb", "matplotlib", "numpy"}
"""What no command needs to complete; wayseal-bench names its parts by their own modules."""
LINES: list[tuple[str, list[str]]] = [
    ("wayseal-bench comp", ["compare"]),
    ("wayseal-device re", ["record"]),
    ("wayseal-device record --wi", ["--without"]),
    ("wayseal-device record --align s", ["stretch"]),
    ("wayseal-gateway token --ro", ["--role"]),
    ("wayseal-gateway volumes dis", ["disconnect", "discover"]),
    ("wayseal-node --block", ["--block-interval"]),
    ("wayseal-party make-", ["make-key"]),
    ("wayseal-tp --conn", ["--connect"]),
    ("wayseal-verify trip.ev", ["trip.evidence"]),
]


def completed(folder: Path, line: str) -> list[str]:
    """Return what bash offers at the end of `line`."""
    command = line.partition(" ")[0]
    done = subprocess.run(  # noqa: S603 - a shell and our own command
        [str(shutil.which("bash")), "--norc", "-c", COMPLETE, "bash", command, line],
        capture_output=True,
        check=True,
        cwd=folder,
        env={"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        text=True,
        timeout=60,
    )
    assert "-F _python_argcomplete" in done.stderr
    return sorted(word.strip() for word in done.stdout.splitlines() if word.strip())


@pytest.mark.parametrize(
    ("line", "offered"),
    LINES,
)
def test_bash_completes(tmp_path: Path, line: str, offered: list[str]) -> None:
    (tmp_path / "trip.evidence").touch()
    assert completed(tmp_path, line) == offered
    assert [path.name for path in tmp_path.iterdir()] == ["trip.evidence"]


def test_what_the_page_says_switches_it_on_for_each_command(tmp_path: Path) -> None:
    register = BIN / "register-python-argcomplete"
    for role in ROLES.values():
        file = tmp_path / role.name / "completion.sh"
        file.parent.mkdir()
        file.write_bytes(subprocess.check_output([register, *role.commands]))  # noqa: S603
    page = ROOT / "docs" / "operator.md"
    (line,) = (line for line in code_lines(page) if "/completion.sh" in line)
    line = line.replace("/opt/wayseal", str(tmp_path))
    done = subprocess.run(  # noqa: S603 - a shell, with a line of ours
        [str(shutil.which("bash")), "--norc", "-c", f"{line}\ncomplete -p"],
        capture_output=True,
        check=True,
        text=True,
    )
    completing = {each.split()[-1] for each in done.stdout.splitlines() if "argcomplete" in each}
    assert completing == SCRIPTS.keys()


def test_the_lines_complete_each_command() -> None:
    assert {line.partition(" ")[0] for line, _ in LINES} == SCRIPTS.keys()


@pytest.mark.parametrize(
    "module",
    [
        "contracts.evidence.wayseal_verify",
        "contracts.party.wayseal_party",
        "device.wayseal_device",
    ],
)
def test_completing_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, text=True
    )
    found = {name.partition(".")[0] for name in done.stdout.split()}
    allowed = {"httpx"} if "party" in module else set()  # it is there to talk to a ledger
    assert found & HEAVY <= allowed
    assert "argcomplete" not in found


def test_without_the_extra_a_shell_is_offered_nothing_and_nothing_starts(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['argcomplete'] = None; sys.argv = ['x', '--report', 'out']; "
        "from contracts.runtime.entries import verify; verify()"
    )
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={"_ARGCOMPLETE": "1", "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
