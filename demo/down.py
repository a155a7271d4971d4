"""`make down`: stops what `make up` started; the data stays."""

import json
import os
import signal
import sys
import time
from typing import Final

from demo.processes import is_ours
from demo.up import PIDS, STATE

STOP_TIMEOUT_S: Final = 20
POLL_S: Final = 0.1


def main() -> None:
    """Stop gateway and node, in that order, and wait until they are gone."""
    if not PIDS.exists():
        sys.exit("down: nothing is up")
    for pid in json.loads(PIDS.read_text()):
        _stop(pid)
    PIDS.unlink()
    STATE.unlink(missing_ok=True)
    print("down: stopped")


def _stop(pid: int) -> None:
    if not is_ours(pid):
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while is_ours(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_S)


if __name__ == "__main__":
    main()
