"""A part on a volume: its writer never waits longer than the volume's time limits."""

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
        UnavailableError: No volume does; the message names the reason of each.
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
    """A part on a volume; used from one thread at a time.

    Attributes:
        volume: The volume that it is on.
        offset: Where the next byte goes.
    """

    def __init__(self, volume: Volume, part: PartFile) -> None:
        self.volume = volume
        self._part = part
        self.offset = part.offset

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_append(self, data: bytes | bytearray | memoryview) -> Future[None]:
        """Begin to write the next bytes; call `wait` before anything else and before reusing them.

        Raises:
            UnavailableError: The volume is out.
        """
        writing = self.volume.begin(lambda _: self._part.append(data))
        self.offset += len(data)
        return writing

    def wait(self, writing: Future[None]) -> None:
        """Return once the bytes are written; they are durable only after `sync`.

        Raises:
            UnavailableError: The volume failed or did not answer.
        """
        self.volume.wait(writing)

    def read(self, start: int, length: int) -> bytes:
        """See `PartFile.read`."""
        reading = self.volume.begin(lambda _: self._part.read(start, length), reading=True)
        return self.volume.wait(reading)

    def sync(self) -> None:
        """See `PartFile.sync`."""
        self.volume.call(lambda _: self._part.sync())

    def publish(self) -> None:
        """See `PartFile.publish`."""
        self.volume.call(lambda _: self._part.publish())

    def close(self) -> None:
        """Close the part; closing twice is harmless."""
        self.volume.release(self._part)


def _close_late(opening: Future[PartFile]) -> None:
    """Close a part that was opened only after its writer had stopped waiting."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
