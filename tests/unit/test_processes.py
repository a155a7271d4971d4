"""A tied process ends with its parent, even when that is killed."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contracts.runtime import processes
from support.machine.waiting import wait_until

PARENT = """
import subprocess, sys, time
from contracts.runtime.processes import tied
child = subprocess.Popen(tied([sys.executable, "-c", "import time; time.sleep(600)"]))
print(child.pid, flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_when_its_parent_is_ended(number: signal.Signals) -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.send_signal(number)
        wait_until(lambda: not is_alive(child))


def test_it_does_not_begin_under_another_parent_than_the_one_that_it_is_tied_to() -> None:
    other = ["sh", "-c", '"$@"; echo ended', "other", *processes.tied(["echo", "begun"])]
    assert subprocess.run(other, capture_output=True, text=True, check=False).stdout == "ended\n"  # noqa: S603


def test_a_command_keeps_its_output_and_status() -> None:
    command = processes.tied(["sh", "-c", "echo said; exit 3"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.stdout, done.returncode) == ("said\n", 3)


def test_where_a_sandbox_refuses_setpriv_a_command_runs_untied(tmp_path: Path) -> None:
    """As under systemd, whose filter of system calls may lack capset."""
    refused = tmp_path / "setpriv"
    refused.write_text("#!/bin/sh\necho 'setpriv: activate capabilities: refused' >&2\nexit 127\n")
    refused.chmod(0o755)
    code = "from contracts.runtime.processes import tied; print(tied(['true']), tied(['false']))"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['true'] ['false']\n"
    assert done.stderr.count("does not work here (setpriv: activate capabilities: refused)") == 1


def test_without_setpriv_a_command_runs_untied_and_a_warning_comes_once() -> None:
    code = "from contracts.runtime.processes import tied; print(tied(['true']), tied(['false']))"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['true'] ['false']\n"
    assert done.stderr.count("setpriv (Debian package util-linux) is missing") == 1
