"""The project's own command, as an operator types it.

Emulated, the gateway's packages take long to import; so this process has them
already, and each command is a copy of it.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, NoReturn

from gateway import wayseal_gateway as gateway
from rig.guest.commands import CommandError, until

LIMIT_S: Final = 60
STOP_S: Final = 20
RESULTS: Final = Path("/results")


def wayseal(*words: object) -> str:
    """Run `wayseal-gateway` and return its output.

    Raises:
        CommandError: It ended with an error, or not at all.
    """
    made = Path(mkdtemp())
    out, errors = made / "out", made / "errors"
    child = _copy([str(word) for word in words], out, errors)
    status = _status(child, LIMIT_S)
    line = " ".join(["wayseal-gateway", *map(str, words)])
    if status is None:
        os.kill(child, signal.SIGKILL)
        raise CommandError(f"{line}: no end within {LIMIT_S} s")
    if status:
        raise CommandError(f"{line}: ended with {status}: {errors.read_text('utf-8')[-300:]}")
    return out.read_text("utf-8")


@contextmanager
def running(log: str, *words: object) -> Iterator[Path]:
    """Run `wayseal-gateway` during the block; yield the file with its output."""
    said = RESULTS / f"{log}.log"
    child = _copy([str(word) for word in words], said, said)
    try:
        yield said
    finally:
        os.kill(child, signal.SIGTERM)
        if _status(child, STOP_S) is None:
            os.kill(child, signal.SIGKILL)


def _copy(words: list[str], out: Path, errors: Path) -> int:
    child = os.fork()
    if child:
        return child
    try:
        for number, path in ((1, out), (2, errors)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
        gateway.main(words)
    except SystemExit as ended:
        _end(int(ended.code or 0))
    finally:
        _end(70)


def _end(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _status(child: int, limit_s: float) -> int | None:
    ended: list[int] = []

    def over() -> bool:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            ended.append(os.waitstatus_to_exitcode(status))
        return bool(ended)

    try:
        until("its end", over, limit_s)
    except AssertionError:
        return None
    return ended[0]
