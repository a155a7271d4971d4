"""The time that a program has run, by a clock that can only be late.

A wall clock may be wrong or set: on a machine without a battery clock it steps years forward when
NTP first answers. What grows old by the monotonic clock of the running program does not notice.
Time while the program is off does not count.
"""

import time
from collections.abc import Callable
from typing import Final

from contracts.runtime.sqlite import VersionedDatabase

RUNNING_TABLE: Final = """
CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 0), elapsed_s REAL NOT NULL);
INSERT INTO clock VALUES (0, 0);
"""
"""Part of the schema of a database whose file keeps this time."""


class RunningTime:
    """Counts the seconds for which a program has run with a file, over all its starts.

    Args:
        db: The file; its schema has `RUNNING_TABLE`.
        monotonic_s: Seconds since any moment.

    Attributes:
        elapsed_s: The time up to the last call of `advance`.
    """

    def __init__(
        self, db: VersionedDatabase, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._db = db
        self._monotonic_s = monotonic_s
        self._read_at_s = monotonic_s()
        self.elapsed_s = float(db.query("SELECT elapsed_s FROM clock")[0][0])

    def advance(self) -> None:
        """Advance by the time since the last call, durably.

        Raises:
            UnavailableError: The file cannot be written.
        """
        now_s = self._monotonic_s()
        elapsed_s = self.elapsed_s + max(0.0, now_s - self._read_at_s)
        self._db.query("UPDATE clock SET elapsed_s = ?", elapsed_s)
        self.elapsed_s, self._read_at_s = elapsed_s, now_s
