"""Log lines that strangers can cause, written seldom enough that they fill no disk."""

import logging
import time
from collections.abc import Callable
from typing import Final

REPEAT_AFTER_S: Final = 60.0
"""Time after which a line of the same wording is written again, seconds."""
WORDINGS_MAX: Final = 100


class Seldom(logging.Filter):
    """Lets one line of each wording pass per minute; the next one says how many were left out.

    Errors always pass.

    Args:
        clock: Returns seconds that only grow.
        arguments: How many of a line's first arguments count as part of its wording.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, arguments: int = 0) -> None:
        super().__init__()
        self._arguments = arguments
        self._clock = clock
        self._said: dict[tuple[str, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line is written; see `logging.Filter.filter`."""
        if record.levelno >= logging.ERROR:
            return True
        given = record.args if isinstance(record.args, tuple) else ()
        wording, now_s = (str(record.msg), *map(str, given[: self._arguments])), self._clock()
        since_s, left_out = self._said.pop(wording, (now_s - REPEAT_AFTER_S, 0))
        if now_s - since_s < REPEAT_AFTER_S:
            self._said[wording] = since_s, left_out + 1
            return False
        self._said[wording] = now_s, 0
        if len(self._said) > WORDINGS_MAX:
            del self._said[next(iter(self._said))]
        if left_out:
            record.msg = f"{record.msg} ({left_out} more like it were left out)"
        return True
