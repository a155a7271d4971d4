"""The CometBFT process beside the node: found, checked, started, watched and stopped."""

import logging
import os
import re
import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.processes import tied

_LOG = logging.getLogger("cometbft")

PROGRAM: Final = "cometbft"
RELEASES: Final = ("0.38", "0.39")
"""Families that speak the ABCI of `application`."""
TESTED: Final = "0.38.26"
ANSWER_S: Final = 20.0
"""How long, seconds, a command of it may take."""
STOP_S: Final = 20.0
"""How long, seconds, it has to stop; then it is killed. It syncs its log before each vote."""
CORES: Final = ("GOMAXPROCS", "2")
"""On how many cores Go may run. CometBFT wakes a thousand times a second, even when nothing happens
(`updateRoundStateRoutine` of its `consensus/reactor.go`), and Go then looks for work on each core.
On one core a busy CometBFT takes twice the CPU. A value in the environment of the node overrides
it."""
SLACK_NS: Final = 4_000_000
"""The kernel may end CometBFT's waits so much later, and so serve several with one wake-up. With
`CORES` a validator takes less CPU than without, and answers as soon (docs/performance.md)."""
SLACKENED: Final = (
    *("/bin/sh", "-c", 'echo "$1" >/proc/self/timerslack_ns; shift; exec "$@"'),
    *("timer slack of CometBFT", str(SLACK_NS)),
)
"""All threads of a program get it from the shell whose place the program takes. If the system
refuses, the shell says so in the log, and the program runs without. Source: prctl(2),
PR_SET_TIMERSLACK; proc(5)."""
LINES_KEPT: Final = 200
"""More than the traces of all its goroutines that follow an error."""
_VERSION: Final = re.compile(r"v?(\d+\.\d+)\.\d+")
_HOW: Final = (
    f"install release {TESTED}: its image or binary, or `go install "
    f"github.com/cometbft/cometbft/cmd/cometbft@v{TESTED}`; docs/network.md"
)
_OTHER_STATE: Final = "AppHash"
_BEHIND: Final = "is too far in the future"
_FULL: Final = "no space left on device"
_NO_SNAPSHOT: Final = "State sync failed"
_GIVEN_UP: Final = ("CONSENSUS FAILURE", _NO_SNAPSHOT)
"""After such a line CometBFT takes part no longer, but its process stays."""


def find_program(named: str | None) -> Path:
    """Return where CometBFT is.

    Args:
        named: A path, or a name to look for; None looks for `cometbft`.

    Raises:
        RejectedError: It is missing, or of a release with which this node does not work.
    """
    found = shutil.which(named or PROGRAM)
    if found is None:
        raise RejectedError(f"--engine cometbft: {named or PROGRAM} is not installed here; {_HOW}")
    said = run_program(Path(found), "version")
    version = _VERSION.search(said)
    if version is None or version[1] not in RELEASES:
        raise RejectedError(
            f"{found} says version {said.strip()[:40]!r}, expected {' or '.join(RELEASES)}; {_HOW}"
        )
    return Path(found)


def run_program(program: Path, *arguments: str) -> str:
    """Run a command of CometBFT; return what it prints.

    Raises:
        RejectedError: It fails.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the operator's program
            [str(program), *arguments],
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RejectedError(f"{program}: {error}; {_HOW}") from error
    if done.returncode:
        raise RejectedError(
            f"{program} {' '.join(arguments)}: exit status {done.returncode}: "
            f"{(done.stderr or done.stdout).strip()[-300:]}"
        )
    return done.stdout


class Process:
    """A running CometBFT.

    Args:
        program: Where it is.
        home: Its files.
        application: Unix socket at which it finds the application.
        rpc: Unix socket at which it answers.
        ended: Told once, in another thread, why it ended, unless it was stopped.
    """

    def __init__(
        self,
        program: Path,
        home: Path,
        application: Path,
        rpc: Path,
        ended: Callable[[Exception], None],
    ) -> None:
        self._command = [
            str(program),
            "start",
            "--home",
            str(home),
            "--proxy_app",
            f"unix://{application}",
            "--rpc.laddr",
            f"unix://{rpc}",
        ]
        self._ended = ended
        self._stopping = threading.Event()
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._process: subprocess.Popen[str]
        self._reader = threading.Thread(target=self._read, name="cometbft")

    def start(self) -> None:
        """Start it.

        Raises:
            UnavailableError: The system does not start it.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the operator's program
                tied([*SLACKENED, *self._command]),
                env=dict([CORES]) | os.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="backslashreplace",
                start_new_session=True,  # a Ctrl-C is for the node, which stops it in its turn
            )
        except OSError as error:
            raise UnavailableError(f"{self._command[0]}: {error.strerror}") from error
        self._reader.start()

    def stop(self) -> None:
        """Stop it, and wait until it is gone; safe to repeat, and before `start`."""
        self._stopping.set()
        if not self._reader.ident:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        """Pass its lines on to the log, until it ends."""
        for line in self._process.stdout or ():
            self._lines.append(line.rstrip())
            if self._stopping.is_set():
                continue
            _LOG.info("%s", line.rstrip())
            if any(each in line for each in _GIVEN_UP):
                self._ended(UnavailableError(explained(None, self._lines)))
        status = self._process.wait()
        if not self._stopping.is_set():
            self._ended(UnavailableError(explained(status, self._lines)))


def explained(status: int | None, lines: Sequence[str]) -> str:
    """Say why CometBFT ended.

    Args:
        status: Its exit status; None if it gave up and still runs.
        lines: The last lines that it wrote.
    """
    if any(_OTHER_STATE in line for line in lines):
        return (
            "CometBFT stopped: this validator's blocks are not those that the network agreed on. "
            "Compare its version of wayseal-node with the others'; then `wayseal-node resync` has "
            "it make its chain again from theirs"
        )
    if failed := [line for line in lines if _NO_SNAPSHOT in line]:
        return (
            "CometBFT took no snapshot: what there is of a chain is removed at the next start, "
            f"which begins again. It says: {failed[-1].strip()[:300]}"
        )
    if any(_BEHIND in line for line in lines):
        return (
            "CometBFT stopped: this machine's clock is more than a minute behind the others'. They "
            "go on; set it right, and start this node again: it gets what it missed from them"
        )
    if any(_FULL in line for line in lines):
        return (
            "CometBFT stopped: its disk is full. The other validators go on; make room, and start "
            "this node again: it gets what it missed from them"
        )
    last = next((line for line in reversed(lines) if line.strip()), "it wrote nothing")
    how = "gave up" if status is None else f"ended with status {status}"
    return f"CometBFT {how}: {last[:300]}"
