"""Waiting for something that happens in another thread or process."""

import time
from collections.abc import Callable
from typing import Final

DEADLINE_S: Final = 60.0


def wait_until(condition: Callable[[], bool]) -> None:
    """Return once `condition` holds; fail when it does not in time."""
    end_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end_s, f"nothing happened for {DEADLINE_S} s"
        time.sleep(0.01)
