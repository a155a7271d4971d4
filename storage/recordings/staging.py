"""Uploads under a name of their own, which become a recording once their bytes are checked.

Two senders may upload the same recording, and one of them may lie. So each has an upload,
and the first one whose bytes are right becomes the recording.
"""

from contracts.errors import RejectedError
from storage.recordings.store import RecordingStore
from storage.recordings.uploadstart import open_upload


def promote(store: RecordingStore, name: bytes, recording_id: bytes) -> None:
    """Make a recording whole from the checked upload `name`, whose writer is closed; delete that.

    A partial upload under the recording's own id is deleted. Promoting again continues.

    Raises:
        RejectedError: There is no such upload, or it lacks bytes.
        DigestError: Its bytes have another SHA-256 than `recording_id`.
        UnavailableError: One of the two is being written, or a medium failed or is full.
    """
    if store.manifest(recording_id) is None:
        progress = store.progress(name)
        if progress is None:
            raise RejectedError(f"no upload {name.hex()}")
        store.delete(recording_id)
        with (
            open_upload(store.places, progress, refuse=False) as opened,
            store.begin(recording_id, progress.size) as writer,
        ):
            for piece in opened.kept:
                writer.write(piece)
            writer.finish()
    store.delete(name)
