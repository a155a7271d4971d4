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
from contracts.runtime.processes import tied
from storage.bench.servers.groups import joining

STOP_TIMEOUT_S: Final = 120
"""A node updates its index before it ends."""
SAID_CHARS_MAX: Final = 500
_BIN: Final = Path(sys.executable).parent
_SETTINGS_PREFIX: Final = "WAYSEAL_"


@dataclass(slots=True)
class Service:
    """A running command of Wayseal.

    Attributes:
        pid: Its process.
        started_s: Seconds from its start until it was ready.
        addresses: Its addresses by the names in its ready line.
        killed: Whether `kill` ended it.
    """

    pid: int
    started_s: float
    addresses: dict[str, str]
    killed: bool = False

    def kill(self) -> None:
        """End it as a power cut does; `serving` then does not ask for its own end."""
        self.killed = True
        os.kill(self.pid, signal.SIGKILL)


@contextmanager
def serving(
    command: Sequence[str | Path],
    log: Path,
    profile: Path | None = None,
    group: Path | None = None,
) -> Iterator[Service]:
    """Run one of our commands until it is ready; ask it to end on the way out.

    Args:
        command: Its name and arguments.
        log: Where its standard error goes.
        profile: File for its profile, see `storage.bench.servers.profiled`; None runs it without.
        group: Of the control group that it joins; see `joining`.

    Raises:
        UnavailableError: It did not get ready, or did not end with status 0.
    """
    run: list[str | Path] = [executable(command[0])]
    if profile is not None:
        run = [sys.executable, "-m", "storage.bench.servers.profiled", profile, command[0]]
    with log.open("ab") as errors:
        start_s = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 - our own commands
            tied(joining(group, [*run, *command[1:]])),
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
        service = Service(process.pid, time.monotonic() - start_s, words)
        yield service
        process.send_signal(signal.SIGTERM)
        if process.wait(STOP_TIMEOUT_S) and not service.killed:
            raise UnavailableError(f"{command[0]} ended with status {process.returncode}: {log}")
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{command[0]} did not end in {STOP_TIMEOUT_S} s") from error
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def ask(command: Sequence[str | Path], told: str = "", *, kept: str | tuple[str, ...] = ()) -> str:
    """Run a command of Wayseal or a Python module to its end; return its output.

    Args:
        command: Its name and arguments, which every user of this machine sees.
        told: What it reads from its standard input.
        kept: Beginnings of the names of settings that it gets anyway.

    Raises:
        UnavailableError: It failed.
    """
    done = subprocess.run(  # noqa: S603 - our own commands
        [executable(command[0]), *command[1:]],
        env=environment(kept),
        input=told,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()[-SAID_CHARS_MAX:]}")
    return done.stdout


def executable(name: str | Path) -> Path:
    """Return the file of a command of Wayseal in this Python environment."""
    return _BIN / name


def environment(kept: str | tuple[str, ...] = ()) -> dict[str, str]:
    """Return the caller's environment variables without settings of Wayseal but the kept ones.

    WAYSEAL_DATA in the caller's shell belongs to a live gateway, whose data nothing here may touch.
    """
    return {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(_SETTINGS_PREFIX) or name.startswith(kept)
    }
