"""A test run that a signal stops ends its tests properly, and leaves no process behind.

`tests/conftest.py` imports the two hooks. What each of three layers does:

- SIGTERM and SIGHUP do what Ctrl-C does, and the main process passes each signal on to the workers
  of pytest-xdist, so that their fixtures stop servers, unmount and detach.
- Servers are tied to the process that started them (`contracts.runtime.processes`): the kernel
  ends them with a worker that is killed.
- Orphans come to the main process, which kills what is left when all is over.
"""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

import pytest

_PR_SET_CHILD_SUBREAPER: Final = 36
"""Source: prctl(2)."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KILL_TIMEOUT_S: Final = 10
_WORKER: Final = b"import sys;exec(eval(sys.stdin.readline()))"
"""In the command line of a worker, as execnet starts it."""


def pytest_configure(config: pytest.Config) -> None:
    if _is_main(config):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in _SIGNALS:
        # nohup ignores SIGHUP, and a shell ignores SIGINT for what runs behind `&`.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if _is_main(config):
        end_s = time.monotonic() + _KILL_TIMEOUT_S
        while (left := list(_descendants(os.getpid()))) and time.monotonic() < end_s:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            _reap()
            time.sleep(0.01)


def _is_main(config: pytest.Config) -> bool:
    return not hasattr(config, "workerinput")


def _stop(number: int, _: FrameType | None) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # a second one must not keep fixtures from their end
    for pid in _children(os.getpid()):
        if _WORKER in _read(pid, "cmdline"):
            os.kill(pid, signal.SIGTERM)
    raise KeyboardInterrupt(f"stopped by {signal.Signals(number).name}")


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _children(pid: int) -> list[int]:
    """Return the living children of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        _, _, rest = _read(path.name, "stat").rpartition(b") ")
        state, parent, *_ = [*rest.split(), b"", b""]
        if parent == str(pid).encode() and state != b"Z":
            found.append(int(path.name))
    return found


def _read(pid: int | str, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
