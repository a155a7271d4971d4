"""ProgressLine on a terminal: one line on standard error, written over, and cleared at the end."""

import sys
import time
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Final, Self, TextIO

EVERY_S: Final = 0.2
_CLEAR: Final = "\r\x1b[K"


class ProgressLine:
    """A line of progress; a context manager. Without a terminal it writes nothing.

    Args:
        words: The line, with `{done}` and `{total}`, or with `{percent}`.
        total: What `done` reaches at the end; 0 if that is unknown.
        stream: Where to write; default standard error.
    """

    def __init__(self, words: str, total: int = 0, stream: TextIO | None = None) -> None:
        self._words = words
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = self._stream.isatty()
        self._next_s = 0.0
        self._added = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def at(self, done: int) -> None:
        """Say how much is done, at most every `EVERY_S` seconds; cheap to call often."""
        if not self._is_shown or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + EVERY_S
        percent = min(100, 100 * done // self._total) if self._total else 0
        line = self._words.format(done=f"{done:,}", total=f"{self._total:,}", percent=percent)
        self._stream.write(_CLEAR + line)
        self._stream.flush()

    def add(self, count: int) -> None:
        """Say that `count` more is done."""
        self._added += count
        self.at(self._added)


class WatchedFile(BufferedReader):
    """A file that reports how far it was read."""

    def __init__(self, path: Path, progress: ProgressLine) -> None:
        """Open the file.

        Raises:
            OSError: It cannot be opened.
        """
        super().__init__(FileIO(path))
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        """See `BufferedReader.read`."""
        data = super().read(size)
        self._progress.add(len(data))
        return data
