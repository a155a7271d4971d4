"""Repair: damaged copies of one blob, or the blob store's manifest, are written again.

The scrub repairs what it reads; a `Mender` repairs in the background what readers found damaged.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from contracts.chunktree import BLOB_BYTES
from contracts.copies import Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob
from storage.recordings.blobcopies import (
    NO_BLOB,
    SEAL,
    Finding,
    MissingError,
    fetch,
    finding_of,
    survey_blob,
)
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places
from storage.volumes.volume import Volume

MENDS_WAITING_MAX: Final = 64

Mend = Callable[[bytes, int], Iterable[Finding]]
"""Mends one blob of a recording; returns what was wrong."""

_log: Final = logging.getLogger(__name__)


def mend_blob(places: Places, manifest: StoredRecording, index: int) -> tuple[Finding, ...]:
    """Survey one blob, overwrite damaged copies from an intact one, and survey it again.

    A whole file that is gone cannot be mended blob by blob: see `is_gone`.
    """
    found = survey_blob(places, manifest, index).findings
    if not found:
        return ()
    try:
        data = fetch(places, manifest, index)
    except WaysealError as error:
        return tuple(replace(each, detail=f"{each.detail}; {error}") for each in found)
    problems = _write(places, manifest, index, data, {each.copy for each in found})
    left = {each.copy for each in survey_blob(places, manifest, index).findings}
    return tuple(
        replace(
            each,
            repaired=each.copy not in left,
            detail=f"{each.detail}; {problems[each.copy]}"
            if each.copy in problems
            else each.detail,
        )
        for each in found
    )


def mend_seal(places: Places, manifest: StoredRecording) -> Finding | None:
    """Write the blob store's manifest again if it is missing or wrong; return what was wrong.

    Without it the recording is not whole for other sites, and a deletion here may take the blobs. A
    blob store that does not answer is passed over, since each survey of a blob reports it.
    """
    if not manifest.is_in_blobs:
        return None
    error: WaysealError
    try:
        shared = places.shared(manifest.sha256)
    except UnavailableError:
        return None
    except RejectedError as damaged:
        error = damaged
    else:
        if shared is None:
            error = MissingError(f"{places.blobs.name} has no manifest of it")
        elif shared.leaves != manifest.leaves:
            error = RejectedError(f"{places.blobs.name} has other leaf hashes of it")
        else:
            return None
    found = finding_of(manifest, NO_BLOB, SEAL, error)
    try:
        places.seal_blobs(manifest)
    except WaysealError as problem:
        return replace(found, detail=f"{found.detail}; {problem}")
    return replace(found, repaired=True)


def is_gone(volume: Volume, recording_id: bytes) -> bool:
    """Return whether a working volume has lost the whole file.

    Raises:
        UnavailableError: The volume is out or failed.
    """
    return volume.call(lambda directory: directory.whole_length(recording_id)) is None


def without_gone(places: Places, manifest: StoredRecording) -> tuple[Copy, ...]:
    """Return the copies of a manifest without the ones on volumes that lost the whole file."""
    gone = {
        volume.name
        for volume in places.volumes_of(manifest)
        if volume.usable and is_gone(volume, manifest.sha256)
    }
    return tuple(
        copy for copy in manifest.copies if copy.place is not Place.VOLUME or copy.name not in gone
    )


class Mender:
    """Mends in the background the blobs that a reader found damaged.

    Args:
        mend: Mends a blob.
    """

    def __init__(self, mend: Mend) -> None:
        self._mend = mend
        self._pool = ThreadPoolExecutor(1, "mend")
        self._lock = threading.Lock()
        self._waiting: set[tuple[bytes, int]] = set()
        self._closed = False

    def mend_later(self, recording_id: bytes, index: int) -> None:
        """Queue a blob. A closed or full queue drops it: the next reader or the scrub will mend it.

        Readers may still call this shortly after the store was closed.
        """
        blob = recording_id, index
        with self._lock:
            if self._closed or blob in self._waiting or len(self._waiting) >= MENDS_WAITING_MAX:
                return
            self._waiting.add(blob)
            self._pool.submit(self._run, *blob)

    def close(self) -> None:
        """Stop after the repair that is under way."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _run(self, recording_id: bytes, index: int) -> None:
        with self._lock:  # first, so that damage during the repair is queued again
            self._waiting.discard((recording_id, index))
        try:
            found = self._mend(recording_id, index)
        except WaysealError as error:
            _log.warning(
                "cannot mend recording %s blob %d: %s",
                recording_id.hex(),
                index,
                error,
                extra={"recording_id": recording_id.hex()},
            )
            return
        for each in found:
            level, outcome = (logging.INFO, "is") if each.repaired else (logging.WARNING, "is not")
            name = (recording_id.hex(), index, each.copy)
            _log.log(
                level,
                "recording %s blob %d: copy %s %s mended: %s",
                *name,
                outcome,
                each.detail,
                extra={"recording_id": recording_id.hex()},
            )


def _write(
    places: Places, manifest: StoredRecording, index: int, data: bytes, copies: set[str]
) -> dict[str, str]:
    """Overwrite the blob in some copies; return the errors by copy."""
    problems: dict[str, str] = {}
    recording_id, start = manifest.sha256, index * BLOB_BYTES
    for volume in places.volumes_of(manifest):
        name = f"{Place.VOLUME}:{volume.name}"
        if name in copies:
            try:
                volume.call(
                    lambda directory: directory.patch(recording_id, start, data, manifest.size)
                )
            except UnavailableError as error:
                problems[name] = str(error)
    replicas = {copy for copy in copies if copy.startswith(f"{Place.BLOBS}:")}
    if replicas:
        try:
            places.blobs.put(recording_id, Blob(index, data, manifest.leaves[index]))
        except WaysealError as error:
            problems |= dict.fromkeys(replicas, str(error))
    return problems
