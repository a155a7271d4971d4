"""What the device keeps on its disk: its key, journal, folders and locks."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.runtime.files import locked, make_directory
from device.camera.filming.segments import is_segment
from device.chain.joining import read_start
from device.chain.writer import BatchLimits
from device.journal.database import Database, is_known, is_open, recordings_of
from device.journal.logbook import Logbook
from device.live.clock import FileClock, Now, machine_now
from device.live.gnss import GnssClock
from device.live.remarks import Remarks
from device.recorder import Plan, Recorder
from device.settings import Settings

JOURNAL_NAME: Final = "journal.sqlite"
VIDEOS_NAME: Final = "videos"
RECORDING_LOCK: Final = "recording.lock"
OFFLOAD_LOCK: Final = "offload.lock"
AGENT_LOCK: Final = "agent.lock"
_log: Final = logging.getLogger(__name__)


def make(settings: Settings) -> Signer:
    """Create the key, the folders and the journal if they are missing; safe to repeat.

    Raises:
        RejectedError: The key or journal is damaged or belongs to another device.
        UnavailableError: The medium failed.
    """
    make_directory(settings.data)
    make_directory(settings.key_file.parent)
    key_was_older = settings.key_file.exists()
    signer = Signer.load_or_create(settings.key_file)
    with open_journal(settings, signer, key_was_older=key_was_older):
        return signer


def load_signer(settings: Settings) -> Signer:
    """Return the device's key.

    Raises:
        RejectedError: The key is missing or damaged.
    """
    if not settings.key_file.exists() or not settings.data.is_dir():
        raise RejectedError(
            f"no key at {settings.key_file} or no folder {settings.data}: "
            f"`wayseal-device init` creates them"
        )
    return Signer.load(settings.key_file)


def open_journal(settings: Settings, signer: Signer, *, key_was_older: bool = True) -> Database:
    """Open the journal; use as a context manager, in one thread.

    Args:
        settings: This device's settings.
        signer: Its key.
        key_was_older: If the journal is missing and is made now: the key was there before, so an
            earlier journal may be lost.

    Raises:
        RejectedError: The file is not a journal, or another device's.
        UnavailableError: The medium failed.
    """
    path = settings.data / JOURNAL_NAME
    return Database(path, settings.device_id, signer.public_key, key_was_older=key_was_older)


@contextmanager
def recording(
    settings: Settings, signer: Signer, now: Now | None = None, remarks: Remarks | None = None
) -> Iterator[Recorder]:
    """Yield the only recorder of this device, after removing files that a kill left behind.

    Args:
        settings: The device's.
        signer: Its key.
        now: What time it is; None: as the settings say.
        remarks: What the device says of itself; None: nobody has said anything.

    Raises:
        RejectedError: The file is not a journal, or another device's.
        UnavailableError: Another process is recording, or the medium failed.
    """
    with recording_lock(settings), open_journal(settings, signer) as database:
        logbook = Logbook(
            database,
            journal_bytes_max=settings.buffer.journal_bytes_max,
            video_bytes_max=settings.buffer.video_bytes_max,
        )
        limits = BatchLimits(
            settings.batch.max_readings,
            settings.batch.max_seconds,
            settings.batch.readings_per_transaction,
        )
        _remove_orphans(videos_of(settings), database)
        now = now or clock_of(settings)
        remarks = remarks or Remarks(now)
        yield Recorder(logbook, signer, limits, videos_of(settings), now, remarks)


def clock_of(settings: Settings) -> Now:
    """Return the clock of the settings."""
    file, gpsd = settings.clock.file, settings.clock.gpsd
    if file is not None:
        return FileClock(file)
    return machine_now if gpsd is None else GnssClock(gpsd)


def plan_of(settings: Settings, join: Path | None) -> Plan:
    """Return the next trip: the one in the file `join`, or else our own by [trip].

    Raises:
        RejectedError: The file is not the start of a trip that this device may join, or [trip] is
            missing.
        UnavailableError: The file cannot be read (yet).
    """
    return read_start(join, settings.device_id) if join else settings.need_trip()


def tidy(settings: Settings, database: Database) -> None:
    """Remove files that a kill left behind, unless a recorder runs: it has removed them already."""
    with suppress(UnavailableError), recording_lock(settings):
        _remove_orphans(videos_of(settings), database)


def videos_of(settings: Settings) -> Path:
    """Return the folder of the recordings."""
    return settings.data / VIDEOS_NAME


def recording_lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold the lock that only one recorder at a time can hold.

    Raises:
        UnavailableError: Another process is recording.
    """
    return locked(settings.data / RECORDING_LOCK, "another wayseal-device is recording")


def agent_lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold the lock that only one agent at a time can hold.

    Raises:
        UnavailableError: Another agent runs.
    """
    return locked(settings.data / AGENT_LOCK, "another `wayseal-device run` is there")


def offload_lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold the lock that only one offload at a time can hold.

    Raises:
        UnavailableError: Another process is offloading.
    """
    return locked(settings.data / OFFLOAD_LOCK, "another wayseal-device is offloading")


@cache
def _say_stays(folder: Path) -> None:
    """Warn of a folder once in a process: each offload tidies, every 2 s."""
    _log.warning("%s stays: its trip is not in the journal, so no gateway has it", folder)


def _remove_orphans(videos: Path, database: Database) -> None:
    """Remove video files without a journal entry: unfinished copies, and what a receipt released.

    Segments of the trip that is being recorded stay: its recorder finishes them. So does film of a
    trip that the journal does not know: an earlier journal may be lost. The caller holds the
    recording lock.
    """
    if not videos.is_dir():
        return
    for folder in videos.iterdir():
        if not is_known(database, folder.name):
            _say_stays(folder)
            continue
        kept = {recording.name for recording in recordings_of(database, folder.name)}
        if is_open(database, folder.name):
            kept |= {file.name for file in folder.iterdir() if is_segment(file.name)}
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        for file in folder.iterdir():
            if file.name not in kept:
                file.unlink(missing_ok=True)
