"""The blob store that the settings choose."""

from contextlib import suppress
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import make_directory
from gateway.settings import Settings
from gateway.storagesettings import CassandraSettings
from storage.blobs.both import MirroredBlobs
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.files import FileBlobs
from storage.blobs.port import BlobStore
from storage.volumes.marker import Identity

BLOBS_ID: Final = ".wayseal-blobs"
"""Beside the volumes' ids; not a valid volume name."""


def blob_store(settings: Settings) -> BlobStore:
    """Return the chosen blob store; a cluster that is down is connected later.

    Raises:
        RejectedError: The settings are wrong, so that it would never work.
        UnavailableError: The directory of blobs cannot be made.
    """
    chosen = settings.storage.blob_store
    if chosen == "files":
        return _files(settings)
    # Imported late: without Cassandra its driver and NumPy take a third of a second and 30 MB.
    from storage.blobs.cassandra.store import CassandraBlobs  # noqa: PLC0415

    cassandra = CassandraBlobs(cassandra_config(settings.cassandra))
    try:
        store = MirroredBlobs(_files(settings), cassandra) if chosen == "both" else cassandra
        with suppress(UnavailableError):  # gateway/upkeep/blobwatch.py tells it
            store.check()
    except BaseException:
        cassandra.close()
        raise
    return store


def _files(settings: Settings) -> FileBlobs:
    memory = settings.data / "volume-ids" / BLOBS_ID
    make_directory(memory.parent)
    return FileBlobs(settings.blobs_dir, Identity(settings.blobs_dir, memory, shared=True))


def cassandra_config(settings: CassandraSettings) -> CassandraConfig:
    """Return the settings as storage takes them.

    Raises:
        RejectedError: The settings contradict each other.
    """
    values = {name: getattr(settings, name) for name in CassandraSettings.model_fields}
    return CassandraConfig(**values | {"contact_points": tuple(settings.contact_points)})
