"""Runs scenarios inside the machine, each in a process of its own, and reports the results."""

import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Final

from rig.events import NAME, Begun, Ended, tell
from rig.guest.scenario import Scenario
from rig.guest.scenarios import SCENARIOS

RESULTS: Final = Path("/results")
LOOK_S: Final = 0.05
KILLED_WITHIN_S: Final = 5
SEEN_MAX: Final = 400
CODE_MAX: Final = 13
"""PID 1 uses a greater exit code if not even this program ended."""


def main() -> int:
    """Run the scenarios that the command line names; return how many failed."""
    names = sys.argv[1:]
    failures = 0
    for scenario in SCENARIOS:
        if scenario.name in names:
            tell(RESULTS / NAME, Begun(scenario.name, scenario.limit_s))
            outcome, hung = _run(scenario)
            tell(RESULTS / NAME, outcome)
            failures += not outcome.passed
            if hung:
                break  # its locks and mounts would disturb all other scenarios
    return min(failures, CODE_MAX)


def _run(scenario: Scenario) -> tuple[Ended, bool]:
    began_s = time.monotonic()
    said = RESULTS / f"{scenario.name}.txt"
    child = os.fork()
    if child == 0:
        os._exit(_in_child(scenario, said))
    status = _wait(child, scenario.limit_s)
    took_s = time.monotonic() - began_s
    if status is None:
        seen = f"took more than {scenario.limit_s:.0f} s; it was at {_stack(child)}"
        return Ended(scenario.name, passed=False, seen=seen, took_s=took_s), True
    seen = said.read_text("utf-8").strip() if said.exists() else f"ended with {status}"
    return Ended(scenario.name, passed=status == 0, seen=seen[:SEEN_MAX], took_s=took_s), False


def _in_child(scenario: Scenario, said: Path) -> int:
    os.setsid()
    try:
        said.write_text(scenario.run(), "utf-8")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what was seen
        traceback.print_exc()
        said.write_text(f"{type(error).__name__}: {error}".replace("\n", " / "), "utf-8")
        return 1
    return 0


def _wait(child: int, limit_s: float) -> int | None:
    deadline_s = time.monotonic() + limit_s
    while time.monotonic() < deadline_s:
        if status := _ended(child):
            return os.waitstatus_to_exitcode(status[1])
        time.sleep(LOOK_S)
    return None


def _ended(child: int) -> tuple[int, int] | None:
    pid, status = os.waitpid(child, os.WNOHANG)
    return (pid, status) if pid else None


def _stack(child: int) -> str:
    """Return where a process hangs, and kill it with its children, if possible."""
    try:
        stack = Path(f"/proc/{child}/stack").read_text("utf-8")
    except OSError as error:
        stack = str(error)
    os.killpg(child, signal.SIGKILL)
    deadline_s = time.monotonic() + KILLED_WITHIN_S
    while time.monotonic() < deadline_s and not _ended(child):
        time.sleep(LOOK_S)
    return " < ".join(line.rpartition(" ")[2] for line in stack.splitlines())


if __name__ == "__main__":
    sys.exit(main())
