"""Our commands as processes: started until ready, killed, run to their end."""

import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.runtime.processes import tied
from demo import pids
from storage.bench.servers.processes import environment, executable

STOP_TIMEOUT_S: Final = 20
COMMAND_TIMEOUT_S: Final = 600
SAID_MAX: Final = 500
ERROR_MAX: Final = 20_000
"""More than a log's longest header, which an error shows whole."""


class Service:
    """A long-running process that prints one line, `ready NAME=VALUE …`, once it serves."""

    def __init__(
        self,
        command: list[str],
        log: Path,
        settings: Mapping[str, str] | None = None,
        *,
        lasting: bool = False,
    ) -> None:
        """Start `command` and wait for its line.

        Args:
            command: Name of one of our commands, and its arguments.
            log: Where its standard error is appended; the pid file lies beside it.
            settings: Variables that win over its settings file.
            lasting: Whether it outlives the process that starts it.

        Raises:
            UnavailableError: It ended without getting ready.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        run: list[str | Path] = [executable(command[0]), *command[1:]]
        with log.open("ab") as errors:
            start = errors.tell()
            self.process = subprocess.Popen(  # noqa: S603  # our own commands
                run if lasting else tied(run),
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment() | dict(settings or {}),
                text=True,
                start_new_session=True,
            )
        try:
            # Before it is ready: killed earlier than this, we leave a pipe on which it fails.
            self._pid_file = pids.pid_file(log.parent, log.stem)
            pids.note(self._pid_file, self.pid)
            self.addresses = self._ready(command[0], log, start)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self.process.pid

    def stop(self) -> int:
        """Ask it to end; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.process.returncode
        finally:
            self._close()

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self.process.kill()
        self.process.wait()
        self._close()

    def _ready(self, name: str, log: Path, start: int) -> dict[str, str]:
        """Return the addresses that it prints once it serves."""
        assert self.process.stdout is not None  # noqa: S101  # a pipe was asked for
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise UnavailableError(
                f"{_last_line(log, start) or name} ({name} did not get ready, see {log})"
            )
        return dict(word.split("=", 1) for word in line.split()[1:])

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._pid_file.unlink(missing_ok=True)


def run(command: list[str], *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of our commands to its end and return what it printed."""
    return subprocess.run(  # noqa: S603  # our own commands
        [executable(command[0]), *command[1:]],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_TIMEOUT_S,
    )


def run_json(command: list[str]) -> dict[str, Any]:
    """Run one of our commands and return the JSON object that it prints last.

    Raises:
        UnavailableError: It failed; the message is what it said.
    """
    found: dict[str, Any] = json.loads(said(command).strip().splitlines()[-1])
    return found


def said(command: list[str]) -> str:
    """Run one of our commands and return what it printed.

    Raises:
        UnavailableError: It failed; the message is what it said.
    """
    done = run(command)
    if done.returncode:
        problem = done.stderr.strip().rpartition(f"{command[0]}: ")[2]
        raise UnavailableError(f"{' '.join(command[:2])} failed: {problem[:ERROR_MAX]}")
    return done.stdout


def _last_line(log: Path, start: int) -> str:
    """Return the last line of a log after byte `start`: why its process ended."""
    with log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][-SAID_MAX:] if lines else ""
