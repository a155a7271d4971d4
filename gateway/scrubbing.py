"""The scrub as a part of the gateway: its thread, its report, its rate."""

from pathlib import Path
from typing import Final

from gateway.storagesettings import ScrubSettings
from gateway.worker import Worker
from storage.recordings.store import RecordingStore
from storage.scrub.journal import Journal, Round
from storage.scrub.pace import Pace
from storage.scrub.scrub import Scrub
from storage.scrub.upkeep import Upkeep

SCRUB_IDLE_S: Final = 60.0


class Scrubbing:
    """Runs the scrub in a thread of its own.

    Attributes:
        journal: Its report.
        worker: The thread.
    """

    def __init__(self, store: RecordingStore, report: Path, settings: ScrubSettings) -> None:
        """Open the report; nothing is looked at before the worker runs.

        Raises:
            UnavailableError: The report cannot be opened.
        """
        self.journal = Journal(report)
        self.worker = Worker("scrub", self._step, idle_s=SCRUB_IDLE_S)
        self._scrub = Scrub(
            Upkeep(store),
            self.journal,
            Pace(settings.bytes_per_s, self.worker.rest),
            every_days=settings.every_days,
            stopping=lambda: self.worker.stopping,
        )

    def begin(self) -> Round:
        """Begin a round now, unless one is under way; return it."""
        begun = self._scrub.begin()
        self.worker.wake()
        return begun

    def close(self) -> None:
        """Close the report; close the worker before."""
        self.journal.close()

    def _step(self) -> bool:
        return self._scrub.step()
