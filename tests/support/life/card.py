"""A truck's card: its power can be cut at any byte of a commit, and it can be full."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from contracts.runtime.connection import Connection
from device.journal.database import Database


class PowerCutError(BaseException):
    """The power is gone: nothing that runs may catch it."""


@dataclass
class Card:
    """What happens to the journal's file.

    Attributes:
        chance: Where a commit is cut.
        journal: The file.
        cut_in: In so many commits the power is cut; None: it is not.
        is_full: Whether it takes no more.
    """

    chance: random.Random
    journal: Path
    cut_in: int | None = None
    is_full: bool = False
    left: tuple[bytes, bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return self.journal.with_name(f"{self.journal.name}-wal")

    def reads(self) -> tuple[bytes, bytes]:
        """Return the bytes of the file and of its write-ahead log."""
        log = self.log.read_bytes() if self.log.exists() else b""
        return self.journal.read_bytes(), log

    def cut(self, before: tuple[bytes, bytes], after: tuple[bytes, bytes]) -> None:
        """Keep what a cut somewhere in a commit leaves; all of it, if the log was moved then."""
        if before[0] != after[0]:
            self.left = after
            return
        at = self.chance.randint(0, len(after[1]))
        self.left = (after[0], after[1][:at] + before[1][at:])

    def restore(self) -> None:
        """Put in place what the cut left; the process that wrote is dead."""
        assert self.left is not None
        self.journal.write_bytes(self.left[0])
        self.log.write_bytes(self.left[1])
        self.log.with_name(f"{self.journal.name}-shm").unlink(missing_ok=True)
        self.left = self.cut_in = None


class MortalDatabase(Database):
    """The journal of a truck whose card is `card`."""

    card: ClassVar[Card]

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        card = self.card
        dies = card.cut_in == 0
        if card.cut_in:
            card.cut_in -= 1
        before = card.reads() if dies else (b"", b"")
        with super().transaction() as connection:
            yield connection
            if card.is_full:
                raise sqlite3.OperationalError("database or disk is full")
        if dies:
            card.cut(before, card.reads())
            raise PowerCutError
