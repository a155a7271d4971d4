"""Work on a store that is killed: at the nth change to a disk, or by whoever reads what it says.

    python victim.py delete ROOT DAYS STEP
    python victim.py scrub ROOT STEP
    python victim.py write ROOT SOURCE RECORDING-ID

Run as a program, since a kill takes the whole process.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from gateway.storagesettings import RetentionSettings
from storage.scrub.report import ScrubReport
from support.gateways.retention import real_desk
from support.storage.scrubs import unhurried
from support.storage.stores import open_store

SETTINGS = RetentionSettings(volume_days=10, blobs_days=100)
VICTIM = [sys.executable, __file__]
TESTS_ON_THE_PATH = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
NEVER = 1 << 30
"""A step that no work has."""
_PIECE_BYTES = 200_000


def kill_at(step: int) -> None:
    """Kill this process before it opens for writing, renames, removes or truncates the nth file."""
    left = step

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        changes = event in ("os.rename", "os.remove", "os.truncate") or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
        )
        if changes:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def delete(root: str, days: str, step: str) -> None:
    with real_desk(Path(root), SETTINGS) as desk:
        desk.days(int(days))
        kill_at(int(step))
        desk.retention.step()
        os._exit(0)


def scrub(root: str, step: str) -> None:
    with open_store(Path(root)) as store:
        rounds = unhurried(store, ScrubReport(Path(root) / "scrub.db"))
        kill_at(int(step))
        rounds.begin()
        rounds.step()
        os._exit(0)


def write(root: str, source: str, recording_id: str) -> None:
    video = Path(source)
    with (
        open_store(Path(root)) as store,
        store.begin(bytes.fromhex(recording_id), video.stat().st_size) as writer,
        video.open("rb") as file,
    ):
        file.seek(writer.offset)
        _say("at", writer.offset)
        while piece := file.read(_PIECE_BYTES):
            writer.write(piece)
            _say("took", writer.offset)
            if writer.offset % 3 == 0:
                _say("synced", writer.sync())
        writer.finish()
        _say("whole")


def _say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    works: dict[str, Callable[..., None]] = {"delete": delete, "scrub": scrub, "write": write}
    works[sys.argv[1]](*sys.argv[2:])
