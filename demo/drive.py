"""A drive of the demo's truck: its agent runs, a scripted presence lets it depart and arrive."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from contracts.errors import UnavailableError
from demo.truck import Truck

POLL_S: Final = 0.3
PATIENCE_S: Final = 600.0
"""A log of many hours takes minutes to sign."""
STOP_TIMEOUT_S: Final = 20.0
_FAILURES: Final = ("error", "critical")


@dataclass(slots=True)
class Drive:
    """One drive: `wayseal-device run` on files, from one site to the next; a context manager.

    Attributes:
        truck: Whose agent runs; it has joined.
        source: The lines of [source] in its settings.
    """

    truck: Truck
    source: Sequence[str]
    _agent: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        """Start the agent in the yard of the first site."""
        self.be(present=True)
        with self.truck.settings_file.open("a", encoding="utf-8") as settings:
            settings.write(_more(self.source, self._presence))
        self._agent = self.truck.run(self._log)
        return self

    def __exit__(self, *_: object) -> None:
        agent = self._agent
        if agent is None:
            return
        agent.terminate()
        try:
            agent.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()

    def be(self, *, present: bool) -> None:
        """Let a site's network be there or not."""
        part = self._presence.with_suffix(".new")
        part.write_text("present" if present else "absent", "ascii")
        part.replace(self._presence)

    def recorded(self) -> dict[str, Any]:
        """Wait until the trip is recorded to the end of its files, and return its status.

        Raises:
            UnavailableError: It cannot be recorded; the message is the agent's.
        """
        found: dict[str, Any] = self.waited(lambda: _sealed(self.status()))
        return found

    def waited(self, look: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the look returns
        """Return the first answer of `look` that is not None or False.

        Raises:
            UnavailableError: The agent says that it failed, or ended.
        """
        until_s = time.monotonic() + PATIENCE_S
        while not (found := look()):
            self._check()
            if time.monotonic() > until_s:
                raise UnavailableError(f"nothing came of the drive in {PATIENCE_S:.0f} s")
            time.sleep(POLL_S)
        return found

    def status(self) -> dict[str, Any]:
        """Return what `wayseal-device status` says."""
        return self.truck.ask("status")

    def _check(self) -> None:
        problem = _problem(self._log)
        if problem:
            raise UnavailableError(f"wayseal-device run failed: {problem}")
        if self._agent is None or self._agent.poll() is not None:
            raise UnavailableError(f"wayseal-device run ended, see {self._log}")

    @property
    def _presence(self) -> Path:
        return self.truck.directory / "presence"

    @property
    def _log(self) -> Path:
        return self.truck.directory / "agent.log"


def _more(source: Sequence[str], presence: Path) -> str:
    """Return what a drive adds to the truck's settings."""
    return "\n".join(
        (
            "",
            "[source]",
            *source,
            "",
            "[presence]",
            'by = "file"',
            f"file = {json.dumps(str(presence))}",
            "debounce_s = 0",
            "",
            "[log]",
            'format = "json"',
            "",
        )
    )


def _sealed(status: dict[str, Any]) -> dict[str, Any] | None:
    return next((trip for trip in status["trips"] if trip["state"] == "sealed"), None)


def _problem(log: Path) -> str:
    """Return the first error in the agent's log, or an empty text."""
    for line in log.read_text("utf-8", "replace").splitlines():
        with suppress(ValueError):  # the line is being written
            entry = json.loads(line)
            if isinstance(entry, dict) and entry.get("level") in _FAILURES:
                return str(entry["message"])
    return ""
