"""Makes clips: lets a separate process cut them, and gives it verified bytes alone."""

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import BinaryIO, Final, Protocol, cast

from contracts.chunktree import BLOB_BYTES, blob_size
from contracts.errors import RejectedError, UnavailableError, WaysealError
from gateway.clips.cutter import CPU_S_MAX

CLIP_S_MAX: Final = 600
CLIPS_AT_ONCE_MAX: Final = 2
CLIPS_OPEN_MAX: Final = 8
"""Clips that are being made or that somebody still reads: each is a temporary file."""
CLIP_BYTES_MAX: Final = 256 << 20
CUT_S_MAX: Final = 120
"""How long one clip may take, seconds; its CPU is limited besides."""
_NUMBER_BYTES: Final = 4
_WORDS_BYTES_MAX: Final = 500


class NoClipsError(WaysealError):
    """The library that clips need is not installed here."""


class Recordings(Protocol):
    """Where verified bytes come from; `RecordingStore` is one."""

    def read(self, recording_id: bytes, start: int, stop: int) -> Iterable[bytes]:
        """Return the bytes start..stop; see `RecordingStore.read`."""
        ...


@dataclass(frozen=True, slots=True)
class Clip:
    """A part of a recording that plays by itself.

    Attributes:
        file: MP4 with H.264, at its beginning; the caller closes it.
        size: Its bytes.
        blobs: Numbers of the recording's blobs from which it was made, ascending: what proves it.
        is_copied: Whether its pictures are the recording's own bits; else they were encoded again.
    """

    file: BinaryIO
    size: int
    blobs: Sequence[int]
    is_copied: bool


class Clips:
    """Makes clips, a few at once.

    Args:
        recordings: Where the bytes come from.
        bytes_max: Size of a clip.
    """

    def __init__(self, recordings: Recordings, bytes_max: int = CLIP_BYTES_MAX) -> None:
        self._recordings = recordings
        self._bytes_max = bytes_max
        self._making = threading.BoundedSemaphore(CLIPS_AT_ONCE_MAX)
        self._open = threading.BoundedSemaphore(CLIPS_OPEN_MAX)

    def cut(self, sha256: bytes, size: int, from_ms: int, to_ms: int) -> Clip:
        """Return the clip between two times, milliseconds since the recording began.

        Args:
            sha256: The recording, whose bytes are here.
            size: Its bytes.
            from_ms: The first moment.
            to_ms: The moment after the last.

        Raises:
            NoClipsError: This gateway was installed without clips.
            RejectedError: The time is too long, or no clip can be made of these bytes.
            UnavailableError: Enough clips are being made or read, or the recording's copies did not
                answer.
        """
        if find_spec("av") is None:
            raise NoClipsError(
                "this gateway makes no clips: its role is gateway, expected gateway-clips; "
                "download the recording, or ask the operator"
            )
        if not 0 <= from_ms < to_ms <= from_ms + CLIP_S_MAX * 1000:
            raise RejectedError(
                f"expected a clip of up to {CLIP_S_MAX} s, got {(to_ms - from_ms) / 1000} s"
            )
        if not self._making.acquire(blocking=False):
            raise UnavailableError(f"{CLIPS_AT_ONCE_MAX} clips are being made: try again")
        try:
            if not self._open.acquire(blocking=False):
                raise UnavailableError(f"{CLIPS_OPEN_MAX} clips are being read: try again")
            try:
                return self._cut(sha256, size, from_ms, to_ms)
            except BaseException:
                self._open.release()
                raise
        finally:
            self._making.release()

    def _cut(self, sha256: bytes, size: int, from_ms: int, to_ms: int) -> Clip:
        comment = (
            f"For viewing: {from_ms} to {to_ms} ms of recording {sha256.hex()}. "
            "Evidence is the recording itself."
        )
        with TemporaryFile() as file, TemporaryFile() as said:
            words = (size, from_ms, to_ms, comment, file.fileno(), self._bytes_max)
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-m", "gateway.clips.cutter", *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                pass_fds=(file.fileno(),),
                cwd="/",
                env={"PATH": os.defpath},
            )
            with process:
                blobs = self._answer(process, sha256, size)
            said.seek(max(0, said.seek(0, os.SEEK_END) - _WORDS_BYTES_MAX))
            told = said.read().decode(errors="replace").strip().rpartition("\n")[2]
            if process.returncode != 0:
                raise RejectedError(
                    f"no clip of recording {sha256.hex()} can be made: {told or _ended(process)}"
                )
            length = file.seek(0, os.SEEK_END)
            file.seek(0)
            taken = _ClipFile(os.dup(file.fileno()), self._open.release)
        return Clip(taken, length, blobs, told == "copied")

    def _answer(self, process: "subprocess.Popen[bytes]", sha256: bytes, size: int) -> list[int]:
        """Give a process the blobs that it asks for until it ends; return their numbers."""
        questions, answers = cast("BinaryIO", process.stdout), cast("BinaryIO", process.stdin)
        asked: set[int] = set()
        late = threading.Timer(CUT_S_MAX, process.kill)
        late.start()
        try:
            while question := questions.read(_NUMBER_BYTES):
                index = int.from_bytes(question, "big")
                at = index * BLOB_BYTES
                blob = b"".join(self._recordings.read(sha256, at, at + blob_size(size, index)))
                asked.add(index)
                answers.write(blob)
                answers.flush()
        except BrokenPipeError:
            pass  # it has ended, and its status says how
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):
                answers.close()
            process.wait()
            late.cancel()
        return sorted(asked)


class _ClipFile(io.BufferedReader):
    """A clip's file, which says once when it is closed, also by being forgotten."""

    def __init__(self, descriptor: int, closed: Callable[[], None]) -> None:
        super().__init__(io.FileIO(descriptor))
        self._closed = closed

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """See `io.BufferedReader.close`."""
        if not self.closed:
            self._closed()
        super().close()


def _ended(process: "subprocess.Popen[bytes]") -> str:
    """Return how a process ended that said nothing."""
    if process.returncode == -signal.SIGXCPU:
        return f"it takes more than {CPU_S_MAX} s of CPU; ask for a shorter part"
    if process.returncode == -signal.SIGKILL:
        return f"it takes more than {CUT_S_MAX} s or too much memory; ask for a shorter part"
    return f"the process that reads it ended with status {process.returncode}"
