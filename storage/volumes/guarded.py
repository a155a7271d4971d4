"""A part on a volume under guard: whoever writes it waits no longer than the volume may take."""

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Self

from contracts.errors import UnavailableError
from storage.volumes.part import PartFile
from storage.volumes.volume import Volume


def open_part(volume: Volume, recording_id: bytes, size: int, offset: int) -> "VolumePart":
    """See `VolumeDirectory.part`.

    Raises:
        UnavailableError: The volume is out, failed, did not answer or has no room.
    """
    opening = volume.begin(lambda directory: directory.part(recording_id, size, offset))
    try:
        return VolumePart(volume, volume.wait(opening))
    except UnavailableError:
        opening.add_done_callback(_close_late)
        raise


def open_part_on_first(
    volumes: Iterable[Volume], recording_id: bytes, size: int, offset: int
) -> "VolumePart":
    """Open a part on the first volume that works and has room.

    Raises:
        UnavailableError: None of them; says of each why.
    """
    problems = []
    for volume in volumes:
        try:
            volume.require_room(recording_id, size)
            return open_part(volume, recording_id, size, offset)
        except UnavailableError as error:
            problems.append(str(error))
    raise UnavailableError(
        f"recording {recording_id.hex()}: no volume takes {size} bytes: {'; '.join(problems)}"
    )


class VolumePart:
    """A part on a volume under guard; used from one thread at a time.

    Attributes:
        offset: Where the next byte goes.
    """

    def __init__(self, volume: Volume, part: PartFile) -> None:
        self._volume = volume
        self._part = part
        self.offset = part.offset

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def volume(self) -> Volume:
        """The volume that it is on."""
        return self._volume

    def begin_append(self, data: bytes | bytearray | memoryview) -> Future[None]:
        """Begin to write the next bytes; `wait` before anything else is done, and before they go.

        Raises:
            UnavailableError: The volume is out.
        """
        writing = self._volume.begin(lambda _: self._part.append(data))
        self.offset += len(data)
        return writing

    def wait(self, writing: Future[None]) -> None:
        """Return once the bytes are written; not durable before `sync`.

        Raises:
            UnavailableError: The volume failed or did not answer.
        """
        self._volume.wait(writing)

    def append(self, data: bytes | bytearray | memoryview) -> None:
        """Write the next bytes; not durable before `sync`.

        Raises:
            UnavailableError: The volume is out, failed or did not answer.
        """
        self.wait(self.begin_append(data))

    def read(self, start: int, length: int) -> bytes:
        """See `PartFile.read`."""
        reading = self._volume.begin(lambda _: self._part.read(start, length), reading=True)
        return self._volume.wait(reading)

    def sync(self) -> None:
        """See `PartFile.sync`."""
        self._volume.call(lambda _: self._part.sync())

    def publish(self) -> None:
        """See `PartFile.publish`."""
        self._volume.call(lambda _: self._part.publish())

    def close(self) -> None:
        """Let go of it; closing twice is harmless."""
        self._volume.release(self._part)


def _close_late(opening: Future[PartFile]) -> None:
    """Close a part that was opened after everyone had stopped waiting for it."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
