"""Runs an operator's commands, and waits for expected states."""

import subprocess
import time
from collections.abc import Callable
from typing import Final

LIMIT_S: Final = 60
LOOK_S: Final = 0.05


class CommandError(Exception):
    """A command failed; the message ends with its last output."""


def run(*words: object, limit_s: float = LIMIT_S) -> str:
    """Run a command and return its output.

    Raises:
        CommandError: It failed, or did not end in time.
    """
    command = [str(word) for word in words]
    try:
        done = subprocess.run(  # noqa: S603 - inside the rig's machine
            command, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{' '.join(command)}: no end within {limit_s:.0f} s") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-200:]
        raise CommandError(f"{' '.join(command)}: ended with {done.returncode}: {said}")
    return done.stdout


def until(
    what: str, condition: Callable[[], bool], limit_s: float = LIMIT_S, *, look_s: float = LOOK_S
) -> float:
    """Wait until `condition` is true; return the seconds it took.

    Raises:
        AssertionError: It did not within `limit_s`; the message says what never came.
    """
    began_s = time.monotonic()
    while not condition():
        assert time.monotonic() - began_s < limit_s, f"never came within {limit_s:.0f} s: {what}"
        time.sleep(look_s)
    return time.monotonic() - began_s
