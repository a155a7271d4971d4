"""When old trips move: once a day, when an operator says so, and while an index is made again."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.records.clock import now_ms
from contracts.runtime.files import locked, remove_file, write_file
from gateway.index.coldcheck import check_file
from gateway.index.coldfile import ColdError
from gateway.index.coldfolder import ColdFiles
from gateway.index.moving import FILE_READINGS, Mover, Pass, generation_of
from gateway.index.store import IndexStore
from gateway.worker import Worker
from storage.checked.damage import DamageNotes

MOVE_EVERY_S: Final = 86_400.0
TRY_AGAIN_S: Final = 3_600.0
"""After a pass that failed, as on a full disk."""
IDLE_S: Final = 2.0
REST: Final = 1.0
"""After each piece of work, a rest so many times as long: intake and answers do not wait."""
TURNS: Final = 7
"""Days in which each cold file is read once."""
_DAY_MS: Final = 86_400_000
NOW: Final = "cold-now"
"""In the data directory: an operator asks for a pass. It is removed when the pass is over."""
FAILED: Final = "cold-failed"
"""In the data directory: why the last pass failed. The next pass that does not fail removes it."""
REINDEX_LOCK: Final = "reindex.lock"
"""In the data directory: held while cold files of another index are made, and while files go."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cooling:
    """Which trips go into which cold files.

    Attributes:
        files: Where they lie.
        days: After so many days a trip is old; 0: no trip is moved.
    """

    files: ColdFiles
    days: int

    def mover(
        self,
        index: IndexStore,
        rest: Callable[[float], None] = lambda _: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Mover | None:
        """Return what moves the old trips of an index; None: no trip is moved."""
        return Mover(index, self.days, rest, stopping) if self.days else None


class Moving:
    """Moves old trips of an index that is being made, without rests: nobody asks it yet.

    Args:
        index: The index.
        cooling: Which trips move.
    """

    def __init__(self, index: IndexStore, cooling: Cooling) -> None:
        self._mover = cooling.mover(index)
        self._readings = 0

    def after(self, readings: int) -> None:
        """Note readings that were added; move what is old once they fill a cold file.

        Raises:
            UnavailableError: A disk is full or failed.
        """
        self._readings += readings
        if self._readings >= FILE_READINGS:
            self.now()

    def now(self) -> None:
        """Move what is old.

        Raises:
            UnavailableError: A disk is full or failed.
        """
        self._readings = 0
        if self._mover is not None:
            self._mover.run()


class ColdKeeper:
    """Moves old trips in its own thread, and checks cold files now and then.

    Args:
        index: The index.
        cooling: Which trips go where.
        data: The gateway's data directory.
        monotonic_s: Seconds since any moment.
        damage: Where a file that a check finds bad is noted.

    Attributes:
        worker: The thread.
        last: What the last pass did; None before the first.
        failure: Why the last pass failed, or "".
        bad: What checks found wrong, by the file's number.
    """

    def __init__(
        self,
        index: IndexStore,
        cooling: Cooling,
        data: Path,
        monotonic_s: Callable[[], float] = time.monotonic,
        damage: DamageNotes | None = None,
    ) -> None:
        self._index = index
        self._cooling = cooling
        self._data = data
        self._monotonic_s = monotonic_s
        self._damage = damage or DamageNotes()
        self._due_s = monotonic_s()
        self._generation = ""
        self.last: Pass | None = None
        self.failure = ""
        self.bad: dict[int, str] = {}
        self.worker = Worker("cold", self.step, idle_s=IDLE_S)

    def step(self) -> bool:
        """Make one pass if it is time, if an operator asks for it, or if the index is another one.

        Then the files of the one before it go.

        Raises:
            UnavailableError: A disk is full, failed or away.
        """
        asked = self._data / NOW
        before, self._generation = self._generation, generation_of(self._index)
        is_same = before == self._generation
        if self._index.rebuild is not None:
            if not is_same:
                self._clear()
            return False  # the follower moves trips while it makes the index again
        if self._monotonic_s() < self._due_s and is_same and not asked.exists():
            if self.failure:
                raise UnavailableError(self.failure)  # which goes on: the log has said so once
            return False
        self._due_s = self._monotonic_s() + TRY_AGAIN_S
        try:
            self._run()
        except UnavailableError as error:
            self.failure = str(error)
            self._note(self.failure)
            raise
        finally:
            remove_file(asked)
        self._due_s = self._monotonic_s() + MOVE_EVERY_S
        self.failure = ""
        remove_file(self._data / FAILED)
        return False

    def amounts(self) -> tuple[int, int, int]:
        """Return how many cold files there are, the trips in them, and their readings.

        Raises:
            UnavailableError: The index did not answer.
        """
        with self._index.connection() as db:
            files, trips = db.execute(
                "SELECT count(DISTINCT file), count(*) FROM cold_trips"
            ).fetchone()
            (readings,) = db.execute("SELECT ifnull(sum(readings), 0) FROM cold_devices").fetchone()
        return files, trips, readings

    def check(self) -> None:
        """Read a seventh of the cold files to their ends, each day another one.

        Raises:
            UnavailableError: The index did not answer. A file's fault is noted.
        """
        if self._index.rebuild is not None:
            return
        day = now_ms() // _DAY_MS
        with self._index.connection() as db:
            files = {file for (file,) in db.execute("SELECT DISTINCT file FROM cold_trips")}
        self.bad = {file: fault for file, fault in self.bad.items() if file in files}
        for file in sorted(files):
            if file % TURNS != day % TURNS and file not in self.bad:
                continue
            self.bad.pop(file, None)
            try:
                check_file(self._index, file, lambda: not self.worker.stopping)
            except ColdError as error:
                if self._is_used(file):  # a pass may have moved its trips on, and removed it
                    self.bad[file] = str(error)
                    self._damage.lost(str(error))

    def _is_used(self, file: int) -> bool:
        with self._index.connection() as db:
            row = db.execute("SELECT 1 FROM cold_trips WHERE file = ?", (file,)).fetchone()
        return row is not None

    def _run(self) -> None:
        self._clear()
        mover = self._cooling.mover(self._index, self._rest, lambda: self.worker.stopping)
        if mover is not None:
            self.last = mover.run()
            _log.info("%s", self.last)

    def _note(self, failure: str) -> None:
        """Keep why a pass failed, for the command `cold`; the log and a metric have it too."""
        path = self._data / FAILED
        with suppress(UnavailableError):
            write_file(
                path, failure.encode(), temporary=path.with_name(f"{FAILED}.new"), mode=0o600
            )

    def _rest(self, took_s: float) -> None:
        self.worker.rest(REST * took_s)

    def _clear(self) -> None:
        """Remove cold files that belong to no index any more.

        An index that is being made beside this one, or waits to be taken, has files of its own.
        """
        try:
            with locked(self._data / REINDEX_LOCK, "an index is being made"):
                if self._index.offered.exists():
                    return
                removed = self._index.cold.remove_others(generation_of(self._index))
        except UnavailableError as error:
            _log.info("cold files of earlier indexes are kept for now: %s", error)
            return
        if removed:
            _log.info("removed %d cold files of indexes that are no longer in use", removed)
