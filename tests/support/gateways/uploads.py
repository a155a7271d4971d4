"""The uploads of a gateway without the rest of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.uploads.claims import Claims
from gateway.uploads.service import Uploads
from storage.recordings.store import RecordingStore


@contextmanager
def uploads_to(store: RecordingStore, finished: list[bytes] | None = None) -> Iterator[Uploads]:
    """Take uploads from everybody into a store; note what became whole in `finished`."""
    noted = [] if finished is None else finished
    with (
        TemporaryDirectory() as directory,
        Claims(Path(directory) / "uploads.db", lambda _: True) as claims,
    ):
        yield Uploads(store, claims, noted.append, accepts=lambda *_: None)
