"""Steps of a store of recordings, each killed before every change that it makes to a disk.

Run as a program, since a kill takes the whole process: for each step a store is prepared,
forked from, killed (SIGKILL) before the first, the second, … file that is opened for
writing, renamed, removed or created, then opened again and completed.

    python killed.py DIRECTORY STEP
"""

import hashlib
import logging
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import WaysealError
from storage.blobs.files import FileBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.marker import MARKER
from support.storage.faulty_blobs import FaultyBlobs
from support.storage.stores import blob_file, flip, open_store, put, volume_file

DATA: Final = random.Random(5).randbytes(2 * BLOB_BYTES + 5)
ID: Final = hashlib.sha256(DATA).digest()
STEPS_MAX: Final = 500
KILLED: Final = -signal.SIGKILL
CHANGES: Final = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "os.rmdir"}


class House:
    """A directory with a store, whose blob store and volume can be missing."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.blobs_down = False

    def open(self, stack: ExitStack) -> RecordingStore:
        blobs = FaultyBlobs(FileBlobs(self.root / "b"))
        blobs.down = self.blobs_down
        return stack.enter_context(open_store(self.root, blobs))

    def volume_out(self, *, out: bool) -> None:
        here, away = self.root / "v" / MARKER, self.root / "marker"
        if out:
            here.rename(away)
        elif away.exists():
            away.rename(here)


def upload(store: RecordingStore) -> None:
    """Bring the upload to its end, or the recording to where it lacks nothing."""
    if store.manifest(ID) is None:
        put(store, DATA)


def fill(store: RecordingStore) -> None:
    store.fill(ID)


def mend(store: RecordingStore) -> None:
    for index in range(3):
        store.mend(ID, index)


def drop(store: RecordingStore) -> None:
    store.drop(ID, Copy(Place.VOLUME, "volume", FSYNC))


def delete(store: RecordingStore) -> None:
    store.delete(ID)


def nothing_yet(house: House) -> None:
    with ExitStack() as stack:
        house.open(stack)


def nothing_yet_blobs_down(house: House) -> None:
    nothing_yet(house)
    house.blobs_down = True


def nothing_yet_volume_out(house: House) -> None:
    nothing_yet(house)
    house.volume_out(out=True)


def whole(house: House) -> None:
    with ExitStack() as stack:
        put(house.open(stack), DATA)


def on_the_volume(house: House) -> None:
    house.blobs_down = True
    whole(house)
    house.blobs_down = False


def in_the_blobs(house: House) -> None:
    nothing_yet_volume_out(house)
    whole(house)
    house.volume_out(out=False)


def damaged(house: House) -> None:
    whole(house)
    flip(volume_file(house.root, ID), 5)
    flip(blob_file(house.root, ID, 1), 40)
    blob_file(house.root, ID, 2).unlink()


Prepare = Callable[[House], None]
Step = Callable[[RecordingStore], None]

STEPS: Final[dict[str, tuple[Prepare, Step]]] = {
    "upload": (nothing_yet, upload),
    "upload-blobs-down": (nothing_yet_blobs_down, upload),
    "upload-volume-out": (nothing_yet_volume_out, upload),
    "fill-blobs": (on_the_volume, fill),
    "fill-volume": (in_the_blobs, fill),
    "mend": (damaged, mend),
    "drop": (whole, drop),
    "delete": (whole, delete),
}


def main(root: Path, name: str) -> None:
    """Kill one step at each of its changes; print how often."""
    logging.disable(logging.CRITICAL)  # the same words for every kill
    prepare, step = STEPS[name]
    for kills in range(STEPS_MAX):
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        house = House(root)
        prepare(house)
        child = os.fork()
        if child == 0:
            _die_within(house, step, kills)
        _, status = os.waitpid(child, 0)
        outcome = os.waitstatus_to_exitcode(status)
        if outcome not in (0, KILLED):
            raise SystemExit(f"{name} ended with {outcome} before change {kills}")
        _recover(house, name, step)
        if outcome == 0:
            sys.stdout.write(f"{kills}\n")
            return
    raise SystemExit(f"{name} makes more than {STEPS_MAX} changes")


def _die_within(house: House, step: Step, changes: int) -> None:
    """Do the step; be killed before one more change than this. Never returns."""
    left = changes

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        path = str(arguments[0]) if arguments else ""
        writes = event == "open" and int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if (
            (writes or event in CHANGES)
            and path.startswith(str(house.root))
            and "probe" not in path
        ):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    with ExitStack() as stack:
        store = house.open(stack)
        sys.addaudithook(count)
        try:
            step(store)
        except WaysealError as error:
            os.write(sys.stderr.fileno(), f"{error}\n".encode())
            os._exit(1)
        os._exit(0)


def _recover(house: House, name: str, step: Step) -> None:
    """Open the store as after a kill; what was told whole is, and the step can be repeated."""
    with ExitStack() as stack:
        store = house.open(stack)
        if store.manifest(ID) is not None:
            report = store.verify(ID)
            assert report.holds or name == "mend", report
        if name == "delete" and store.manifest(ID) is None:
            return
        step(store)
        if name == "delete":
            assert store.manifest(ID) is None
            return
        assert b"".join(store.read(ID)) == DATA
        assert store.verify(ID).holds
    house.blobs_down = False
    house.volume_out(out=False)
    with ExitStack() as stack:
        store = house.open(stack)
        assert store.fill(ID)
        assert list(store.backlog()) == []
        assert store.verify(ID).holds
        assert len(store.verify(ID).copies) == (1 if name == "drop" else 2)
    assert list((house.root / "v" / "parts").iterdir()) == []
    assert list((house.root / "b" / "tmp").iterdir()) == []


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
