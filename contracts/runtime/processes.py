"""Child processes that end with the process that started them."""

import logging
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

_SETPRIV: Final = "setpriv"
"""From util-linux, which every Debian has."""
_UNLESS_ORPHANED: Final = '[ "$PPID" = "$0" ] && exec "$@"'
"""The parent may end before setpriv has tied the process to it. Only then is the shell's parent
another process than the one whose id is `$0`."""

_log = logging.getLogger(__name__)


def tied(command: Sequence[str | Path]) -> list[str | Path]:
    """Return the command so that the kernel kills its process when its parent ends.

    This holds however the parent ends, SIGKILL included, and costs two more execs. The process id
    stays the one that `Popen` returns. Three limits: the parent is the *thread* that starts the
    process, so start it in a thread that outlives it. A program that changes its user afterwards
    loses the tie. Its own children are not tied, unless it ties them in turn.

    Where setpriv is missing, the command comes back as it was, and a warning is logged once.

    Source: prctl(2), PR_SET_PDEATHSIG. `Popen(preexec_fn=…)` could set it too, but forks a process
    that may have threads, which can deadlock.
    """
    program = _setpriv()
    if program is None:
        return [*command]
    return [
        *(program, "--pdeathsig", "KILL", "--"),
        *("/bin/sh", "-c", _UNLESS_ORPHANED, str(os.getpid())),
        *command,
    ]


@cache
def _setpriv() -> str | None:
    """Return the path of setpriv, or None; cached, so that the warning comes once."""
    program = shutil.which(_SETPRIV)
    wrong = "is missing" if program is None else _refused(program)
    if wrong:
        _log.warning(
            "%s (Debian package util-linux) %s: if this process is killed, the servers "
            "that it started go on running",
            _SETPRIV,
            wrong,
        )
        return None
    return program


def _refused(program: str) -> str:
    """Return why setpriv does not work here; empty if it does.

    A sandbox may refuse it, since it sets its capabilities (capset) even where none change.
    """
    words = [program, "--pdeathsig", "KILL", "--", program, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - setpriv
    if not done.returncode:
        return ""
    said = done.stderr.strip()[-200:]
    return f"does not work here ({said or f'exit status {done.returncode}'})"
