"""Waiting for something that happens in another thread or process."""

import time
from collections.abc import Callable
from typing import Final

DEADLINE_S: Final = 60.0


def wait_until(
    condition: Callable[[], bool], deadline_s: float = DEADLINE_S, pause_s: float = 0.01
) -> None:
    """Return once `condition` holds, asked every `pause_s`; fail when it does not in time."""
    end_s = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end_s, f"nothing happened for {deadline_s} s"
        time.sleep(pause_s)
