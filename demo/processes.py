"""Our commands as processes: started until ready, killed, run to their end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError

STOP_TIMEOUT_S: Final = 20
COMMAND_TIMEOUT_S: Final = 600
BIN: Final = Path(sys.executable).parent


class Service:
    """A long-running process that prints one line, `ready NAME=VALUE …`, once it serves."""

    def __init__(self, command: list[str], log: Path) -> None:
        """Start `command` and wait for its line.

        Args:
            command: Name of one of our commands, and its arguments.
            log: Where its standard error is appended.

        Raises:
            UnavailableError: It ended without getting ready.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as errors:
            self.process = subprocess.Popen(  # noqa: S603  # our own commands
                [BIN / command[0], *command[1:]],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout is not None  # noqa: S101  # a pipe was asked for
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            self.kill()
            raise UnavailableError(f"{command[0]} did not get ready, see {log}: {_tail(log)}")
        self.addresses = dict(word.split("=", 1) for word in line.split()[1:])

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

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()


def is_ours(pid: int) -> bool:
    """Say whether a process runs under that number and is one of our commands."""
    try:
        return b"wayseal-" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run(
    command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one of our commands to its end and return what it printed."""
    return subprocess.run(  # noqa: S603  # our own commands
        [BIN / command[0], *command[1:]],
        cwd=cwd,
        env=os.environ | (env or {}),
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
    done = run(command)
    if done.returncode:
        raise UnavailableError(f"{' '.join(command[:2])} failed: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _tail(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-400:].strip()
