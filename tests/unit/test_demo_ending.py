"""The last line of a command is one line, says why, and agrees with the exit status."""

import signal
import subprocess
import sys

import pytest

from support.project.checkout import HEEDING

PROGRAM = """\
from contracts.errors import RejectedError
from demo.ending import conclude
def work():
    {work}
conclude("demo", work)
"""
WAITING = """\
from demo.ending import conclude
def work():
    try:
        print("begun", flush=True)
        input()
    finally:
        print("cleaning", flush=True)
        input()
        print("cleaned")
    return "done"
conclude("demo", work)
"""


def ran(work: str) -> tuple[int, list[str], str]:
    """Conclude a piece of work; return exit status, lines of output, and errors."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM.format(work=work)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_work_that_is_done() -> None:
    assert ran('return "a=1"') == (0, ["demo: ok a=1"], "")


@pytest.mark.parametrize(
    ("work", "line"),
    [
        ('raise RejectedError("expected a,\\n got b")', "demo: failed expected a, got b"),
        ('raise KeyError("x")', "demo: failed KeyError: 'x'"),
        ("raise MemoryError", "demo: failed MemoryError: "),
        ("raise KeyboardInterrupt", "demo: failed KeyboardInterrupt: "),
        ("return work()", "demo: failed RecursionError: "),
        ('raise OSError(28, "No space left on device")', "demo: failed OSError: [Errno 28] No"),
    ],
)
def test_work_that_fails(work: str, line: str) -> None:
    status, lines, errors = ran(work)
    assert (status, len(lines), errors) == (1, 1, "")
    assert lines[0].startswith(line)


@pytest.mark.parametrize("status", [0, 2])
def test_wrong_usage_was_explained_already(status: int) -> None:
    assert ran(f"raise SystemExit({status})") == (status, [], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_stop_the_cleaning(number: signal.Signals) -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        [*HEEDING, sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        assert process.stdout.readline() == "cleaning\n"
        for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process.send_signal(again)
        said, errors = process.communicate("\n", timeout=60)
    assert said == f"cleaned\ndemo: failed interrupted by {number.name}\n"
    assert errors == ""
    assert process.returncode == 1
