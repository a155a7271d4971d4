"""A recording that can be generated again at any time, and a truck that keeps sending it."""

import hashlib
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES
from contracts.errors import UnavailableError
from rig.guest.commands import until
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore

SYNC_EVERY_BYTES: Final = 4 << 20
WHOLE_LIMIT_S: Final = 60
AGAIN_AFTER_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Recording:
    """Bytes that need not be stored: each piece is generated from its index.

    Attributes:
        seed: Other seeds give other bytes.
        pieces: How many pieces of BLOB_BYTES it has.
    """

    seed: int
    pieces: int

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return self.pieces * BLOB_BYTES

    def piece(self, index: int) -> bytes:
        """Return one piece."""
        chance = random.Random(self.seed << 32 | index)
        return chance.randbytes(BLOB_BYTES)

    def digest(self) -> bytes:
        """Return its SHA-256, which is its id."""
        return _digest(self)

    def require_same(self, stream: Iterator[bytes]) -> None:
        """Check that a stream has exactly these bytes.

        Raises:
            AssertionError: It has not.
        """
        whole, size = hashlib.sha256(), 0
        for part in stream:
            whole.update(part)
            size += len(part)
        assert size == self.size, f"read {size} bytes, expected {self.size}"
        assert whole.digest() == self.digest(), "what was read back differs from what was sent"


@cache
def _digest(recording: Recording) -> bytes:
    whole = hashlib.sha256()
    for index in range(recording.pieces):
        whole.update(recording.piece(index))
    return whole.digest()


class Sender(threading.Thread):
    """Sends a recording as a truck does: after an error it continues where the store says.

    Attributes:
        acknowledged: Bytes that the store calls durable.
        again_bytes: How many of them it asked for again.
        errors: The error messages that it got, in order.
    """

    def __init__(self, store: RecordingStore, recording: Recording) -> None:
        super().__init__(daemon=True)
        self.recording_id = recording.digest()
        self.acknowledged = self.again_bytes = 0
        self.errors: list[str] = []
        self._store = store
        self._recording = recording
        self._stored: StoredRecording | None = None
        self._broken: BaseException | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: a daemon thread ends with its process."""

    def run(self) -> None:
        """Send until it is whole."""
        try:
            while self._stored is None:
                try:
                    self._stored = self._send()
                except UnavailableError as error:
                    self.errors.append(str(error))
                    time.sleep(AGAIN_AFTER_S)
        except BaseException as error:
            self._broken = error
            raise

    def until_acknowledged(self, pieces: int) -> None:
        """Wait until so many pieces are durable, and check that the upload is still under way."""
        until(f"{pieces} MiB acknowledged", lambda: self.acknowledged >= pieces * BLOB_BYTES)
        assert self.is_alive(), "the upload ended before anything happened to it"

    def until_told(self) -> str:
        """Wait until the store refuses something; return its message."""
        until("an error", lambda: bool(self.errors))
        return self.errors[0]

    def until_whole(self) -> StoredRecording:
        """Wait until the recording is whole; return its manifest."""
        self.join(WHOLE_LIMIT_S)
        assert not self.is_alive(), (
            f"no end after {WHOLE_LIMIT_S} s; it was told {self.errors[-1:]}"
        )
        assert self._stored is not None, f"the sender broke: {self._broken!r}"
        return self._stored

    def _send(self) -> StoredRecording:
        with self._store.begin(self.recording_id, self._recording.size) as writer:
            # Bytes that only a lost volume had must be sent again; the store says how many.
            self.again_bytes += max(0, self.acknowledged - writer.offset)
            self.acknowledged = writer.offset
            while writer.offset < writer.size:
                index, within = divmod(writer.offset, BLOB_BYTES)
                writer.write(self._recording.piece(index)[within:])
                if writer.offset % SYNC_EVERY_BYTES == 0:
                    self.acknowledged = writer.sync()
            return writer.finish()
