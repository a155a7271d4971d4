"""How the commands of this folder end: always with one line and a matching exit status."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from contracts.errors import WaysealError
from contracts.runtime.commands import (
    FAILED,
    WORKED,
    complain,
    keep_files_private,
    write_for_any_terminal,
)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HERE: Final = Path(__file__).parent


class InterruptedBySignalError(BaseException):
    """A signal asks the command to end. No `except Exception` may catch this."""


def conclude(command: str, work: Callable[[], str]) -> NoReturn:
    """Run `work`; print `COMMAND: ok …` with what it returns, or `COMMAND: failed …`, and exit."""
    write_for_any_terminal()
    keep_files_private()
    _heed_signals()
    try:
        line, status = f"{command}: ok {work()}", WORKED
    except SystemExit:  # --help, or wrong usage, which argparse has explained
        raise
    except BaseException as error:  # noqa: BLE001  # the last line is promised, whatever happens
        line, status = f"{command}: failed {reason(error)}", FAILED
    _ignore_signals()
    sys.exit(status if _said(line) else FAILED)


@contextmanager
def failing_in_one_line(command: str) -> Iterator[None]:
    """Report an error or a signal in the block as `COMMAND: …` on standard error, status 1."""
    write_for_any_terminal()
    keep_files_private()
    _heed_signals()
    try:
        yield
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  # see `conclude`
        complain(command, reason(error))
        sys.exit(FAILED)


def reason(error: BaseException) -> str:
    """Return in one line why something ended; for an unexpected error, also where."""
    words = " ".join(str(error).split())
    if isinstance(error, (WaysealError, InterruptedBySignalError)):
        return words
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == _HERE
    ]
    place = f" (at {Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {words}{place}"


def _heed_signals() -> None:
    for number in _SIGNALS:
        # nohup ignores SIGHUP, and means it; shells ignore SIGINT for all that runs behind `&`.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _ignore_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _: FrameType | None) -> None:
    _ignore_signals()  # a second Ctrl-C must not keep us from stopping our processes
    raise InterruptedBySignalError(f"interrupted by {signal.Signals(number).name}")


def _said(line: str) -> bool:
    """Print the last line; on standard error when standard output fails."""
    try:
        print(line, flush=True)
    except (OSError, ValueError):
        complain("standard output failed", line)
        with suppress(OSError, ValueError):
            # Python would try once more at its exit, and change the exit status.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
