"""Runs the scrub within the gateway: its thread, report and rate."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from gateway.storagesettings import ScrubSettings
from gateway.worker import Worker
from storage.checked.damage import DamageNotes
from storage.recordings.blobcopies import Finding
from storage.recordings.store import RecordingStore
from storage.scrub.pace import Pace
from storage.scrub.report import Round, ScrubReport
from storage.scrub.scrub import Scrub

SCRUB_IDLE_S: Final = 60.0


class Scrubbing:
    """Runs the scrub in its own thread.

    Attributes:
        journal: The scrub's report.
        worker: The thread.
    """

    def __init__(
        self,
        store: RecordingStore,
        report: Path,
        settings: ScrubSettings,
        remake: Callable[[], Iterable[Finding]] = tuple,
        damage: DamageNotes | None = None,
    ) -> None:
        """Open the report; the scrub starts with the worker.

        Args:
            store: The store that it reads.
            report: Where it keeps findings and cursor.
            settings: How often it begins and how fast it reads.
            remake: Makes lost entries of the catalogue again, and yields what was wrong.
            damage: Where damage of the report is noted.

        Raises:
            UnavailableError: The report cannot be opened.
        """
        self.journal = ScrubReport(report, damage)
        self.worker = Worker("scrub", self._step, idle_s=SCRUB_IDLE_S)
        self._scrub = Scrub(
            store,
            self.journal,
            Pace(settings.bytes_per_s, self.worker.rest),
            every_days=settings.every_days,
            stopping=lambda: self.worker.stopping,
            remake=remake,
        )

    def check(self) -> None:
        """Read the whole report, so that damage is found and mended.

        Raises:
            UnavailableError: The medium failed.
        """
        self.journal.check()

    def begin(self) -> Round:
        """Begin a round now, unless one is running; return the round."""
        begun = self._scrub.begin()
        self.worker.wake()
        return begun

    def close(self) -> None:
        """Close the report; close the worker first."""
        self.journal.close()

    def _step(self) -> bool:
        return self._scrub.step()
