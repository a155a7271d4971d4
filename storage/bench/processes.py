"""Our commands as processes of a benchmark: started until ready, asked to end, or profiled."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError

STOP_TIMEOUT_S: Final = 120
"""A node brings its index up to date before it ends."""
SAID_CHARS_MAX: Final = 500
_BIN: Final = Path(sys.executable).parent
_SETTINGS_PREFIX: Final = "WAYSEAL_"


@dataclass(frozen=True, slots=True)
class Service:
    """A running command of ours.

    Attributes:
        pid: Its process.
        started_s: From its start until it was ready, seconds.
        addresses: Where it serves, by the names of its ready line.
    """

    pid: int
    started_s: float
    addresses: dict[str, str]


@contextmanager
def serving(
    command: Sequence[str | Path], log: Path, profile: Path | None = None
) -> Iterator[Service]:
    """Run one of our commands until it is ready; ask it to end on the way out.

    Args:
        command: Its name and arguments.
        log: Where its standard error goes.
        profile: Where its profile goes, if it shall have one; see `storage.bench.profiled`.

    Raises:
        UnavailableError: It did not get ready, or did not end as it should.
    """
    run: list[str | Path] = [executable(command[0])]
    if profile is not None:
        run = [sys.executable, "-m", "storage.bench.profiled", profile, command[0]]
    with log.open("ab") as errors:
        start_s = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - our own commands
            [*run, *command[1:]],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment(),
            text=True,
        )
    try:
        line = "" if process.stdout is None else process.stdout.readline()
        if not line.startswith("ready "):
            said = log.read_text("utf-8", "replace")[-SAID_CHARS_MAX:]
            raise UnavailableError(f"{command[0]} did not get ready: {line.strip()} {said}")
        words = dict(word.split("=", 1) for word in line.split()[1:])
        yield Service(process.pid, time.monotonic() - start_s, words)
        process.send_signal(signal.SIGTERM)
        if process.wait(STOP_TIMEOUT_S):
            raise UnavailableError(f"{command[0]} ended with status {process.returncode}: {log}")
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{command[0]} did not end in {STOP_TIMEOUT_S} s") from error
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def ask(command: Sequence[str | Path]) -> str:
    """Run one of our commands, or a module of Python's, to its end; return what it printed.

    Raises:
        UnavailableError: It failed.
    """
    done = subprocess.run(  # noqa: S603 - our own commands
        [executable(command[0]), *command[1:]],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()[-SAID_CHARS_MAX:]}")
    return done.stdout


def executable(name: str | Path) -> Path:
    """Return the file of one of our commands, of the environment that runs this one."""
    return _BIN / name


def environment() -> dict[str, str]:
    """Return the variables of a process of ours: the caller's, without settings.

    WAYSEAL_DATA in the caller's shell belongs to a live gateway, whose data nothing here may touch.
    """
    return {
        name: text for name, text in os.environ.items() if not name.startswith(_SETTINGS_PREFIX)
    }
