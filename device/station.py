"""The device's own things: its key, its journal, its folders and locks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.files import locked, make_directory
from contracts.keys import Signer
from device.batcher import BatchLimits
from device.joining import read_start
from device.journal.database import Database
from device.journal.logbook import Logbook
from device.orphans import remove_orphans
from device.recorder import Plan, Recorder
from device.settings import Settings

JOURNAL_NAME: Final = "journal.sqlite"
VIDEOS_NAME: Final = "videos"


def make(settings: Settings) -> Signer:
    """Make key, folders and journal where they are missing; safe to repeat.

    Raises:
        RejectedError: What is there is not this device's.
        UnavailableError: The medium failed.
    """
    make_directory(settings.data)
    make_directory(settings.key_file.parent)
    signer = Signer.load_or_create(settings.key_file)
    with open_journal(settings, signer):
        return signer


def load_signer(settings: Settings) -> Signer:
    """Return the device's key.

    Raises:
        RejectedError: There is none, or it is broken.
    """
    if not settings.key_file.exists() or not settings.data.is_dir():
        raise RejectedError(
            f"no key at {settings.key_file} or no folder {settings.data}: "
            f"`wayseal-device init` makes them"
        )
    return Signer.load(settings.key_file)


def open_journal(settings: Settings, signer: Signer) -> Database:
    """Open the journal; use as a context manager, in one thread.

    Raises:
        RejectedError: No journal, or another device's.
        UnavailableError: The medium failed.
    """
    path = settings.data / JOURNAL_NAME
    return Database.open(path, settings.device_id, signer.public_key)


@contextmanager
def recording(settings: Settings, signer: Signer) -> Iterator[Recorder]:
    """Give the one recorder of this device; files that a kill left over are removed first.

    Raises:
        RejectedError: No journal, or another device's.
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
        remove_orphans(videos_of(settings), database)
        yield Recorder(logbook, signer, limits, videos_of(settings))


def plan_of(settings: Settings, join: Path | None) -> Plan:
    """Return what the next trip is to be: that of the file `join`, else one of our own.

    Raises:
        RejectedError: The file holds no start that this device may join, or [trip] is missing.
        UnavailableError: The file cannot be read (yet).
    """
    return read_start(join, settings.device_id) if join else settings.need_trip()


def tidy(settings: Settings, database: Database) -> None:
    """Remove files that a kill left over, unless a recorder runs, which did so itself."""
    with suppress(UnavailableError), recording_lock(settings):
        remove_orphans(videos_of(settings), database)


def videos_of(settings: Settings) -> Path:
    """Return the folder of the recordings."""
    return settings.data / VIDEOS_NAME


def recording_lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold what only one recorder at a time may hold.

    Raises:
        UnavailableError: Another process is recording.
    """
    return locked(settings.data / "recording.lock", "another wayseal-device is recording")


def offload_lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold what only one offload at a time may hold.

    Raises:
        UnavailableError: Another process is offloading.
    """
    return locked(settings.data / "offload.lock", "another wayseal-device is offloading")
