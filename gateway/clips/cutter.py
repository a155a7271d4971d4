"""Cuts a clip out of a recording, in its own process: a recording is what a truck sent.

    python -m gateway.clips.cutter SIZE FROM_MS TO_MS COMMENT DESCRIPTOR BYTES_MAX

It asks for the recording blob by blob: it writes a blob's number, 4 bytes, to standard output and
reads the blob from standard input. So it sees verified bytes alone, and its parent learns which
blobs the clip needs. The clip, MP4 with H.264, goes to the descriptor, and "copied" or
"encoded" to standard error. An error ends it with status 1 and one line there.

The only importer of PyAV here. It limits its own memory, time and output before it opens anything,
and from the first byte of the recording on it can open no file and no connection: FFmpeg follows
what a playlist names.
"""

import errno
import os
import resource
import struct
import sys
from collections import OrderedDict
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, BinaryIO, Final

from contracts.chunktree import BLOB_BYTES, blob_size

MEMORY_BYTES_MAX: Final = 2 << 30
CPU_S_MAX: Final = 60
_CPU_LAST_S: Final = 5
"""After the limit a signal says what was wrong; so much later the kernel kills."""
PIXELS_MAX: Final = 3_840 * 2_160
KEPT_BLOBS: Final = 16
_NUMBER: Final = struct.Struct(">I")
_READ_ONLY: Final = {
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts",
    "protocol_whitelist": "none",
}
"""Containers that hold their pictures themselves."""
_THREADS: Final = 2
_PLAIN: Final = {"mov", "mp4", "matroska", "webm"}
"""Containers whose H.264 an MP4 can take as it is."""
_INDEXED: Final = _PLAIN | {"avi"}
"""Containers that find the key picture before a time."""
_SEEK_S: Final = 10
"""How much earlier, seconds, a search begins in other containers: it may end after the time."""
_MILLISECONDS: Final = Fraction(1, 1000)
_FRAGMENTS: Final = "frag_keyframe+delay_moov+default_base_moof"


class UnfitError(Exception):
    """No clip can be made; the text says why."""


class AskedRecording:
    """The recording as PyAV reads a file; it is asked for blob by blob, and a few are kept.

    Args:
        size: Bytes of the recording.
        questions: Takes the numbers of blobs.
        answers: Gives the blobs.
    """

    def __init__(self, size: int, questions: BinaryIO, answers: BinaryIO) -> None:
        self._size = size
        self._questions = questions
        self._answers = answers
        self._at = 0
        self._blobs: OrderedDict[int, bytes] = OrderedDict()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, and return it; see `io.IOBase.seek`."""
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def read(self, count: int) -> bytes:
        """Return bytes from the place on: at most `count`, none at the end."""
        if self._at >= self._size:
            return b""
        index, offset = divmod(self._at, BLOB_BYTES)
        found = self._blob(index)[offset : offset + count]
        self._at += len(found)
        return found

    def _blob(self, index: int) -> bytes:
        if index not in self._blobs:
            self._questions.write(_NUMBER.pack(index))
            self._questions.flush()
            size = blob_size(self._size, index)
            blob = self._answers.read(size)
            if len(blob) != size:
                raise UnfitError("the gateway gave up")
            self._blobs[index] = blob
            if len(self._blobs) > KEPT_BLOBS:
                self._blobs.popitem(last=False)
        self._blobs.move_to_end(index)
        return self._blobs[index]


def cut(recording: AskedRecording, clip: BinaryIO, from_ms: int, to_ms: int, comment: str) -> str:
    """Write the clip between two times, milliseconds since the recording began, to the millisecond.

    A stream that is copied begins with the key picture before, for others cannot be shown alone.

    Returns:
        "copied", or "encoded" where a browser could not play the recording's own pictures.

    Raises:
        UnfitError: It is not a video, or has no picture in that time.
    """
    import av  # noqa: PLC0415 - its memory counts, so the limits come first

    _open: Any = av.open  # a container for reading or writing, says a word
    for module in iter_modules(av.__path__, "av."):  # some are imported when they are needed
        if not module.name.endswith("__main__"):
            import_module(module.name)
    import_module("av.subtitles.stream")
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    try:
        with (
            _open(recording, metadata_errors="ignore", options=_READ_ONLY) as source,
            _open(clip, mode="w", format="mp4", options={"movflags": _FRAGMENTS}) as made,
        ):
            if not source.streams.video:
                raise UnfitError("it has no video")
            stream = source.streams.video[0]
            if stream.width * stream.height > PIXELS_MAX:
                raise UnfitError(
                    f"expected pictures of up to {PIXELS_MAX} pixels, "
                    f"got {stream.width} x {stream.height}"
                )
            stream.codec_context.thread_count = _THREADS
            made.metadata["comment"] = comment
            first = stream.start_time or 0
            begin = first + int(from_ms * _MILLISECONDS / stream.time_base)
            end = first + int(to_ms * _MILLISECONDS / stream.time_base)
            names = set(source.format.name.split(","))
            early = 0 if names & _INDEXED else int(_SEEK_S / stream.time_base)
            source.seek(max(begin - early, first), stream=stream)
            is_plain = stream.codec.name == "h264" and bool(names & _PLAIN)
            take = _copy if is_plain else _encode
            if not take(source, stream, made, begin, end):
                raise UnfitError("it has no picture in that time")
            return "copied" if is_plain else "encoded"
    except av.FFmpegError as error:
        raise UnfitError(f"its bytes cannot be read as a video: {error.strerror}") from error


def _copy(source: Any, stream: Any, made: Any, begin: int, end: int) -> int:  # noqa: ANN401
    """Copy the packets from the key picture before `begin` up to `end`; return how many."""
    out, is_reached = made.add_stream_from_template(stream), False
    taken: list[Any] = []
    for packet in source.demux(stream):
        if packet.dts is None:
            continue
        if packet.dts >= end:
            break
        if packet.is_keyframe and packet.pts <= begin:
            taken.clear()  # a later key picture will do
        taken.append(packet)
        is_reached = is_reached or packet.pts + (packet.duration or 0) > begin
    if not is_reached:
        return 0
    zero = min(packet.pts for packet in taken)
    for packet in taken:
        packet.stream = out
        packet.pts -= zero
        packet.dts -= zero
        made.mux(packet)
    return len(taken)


def _encode(source: Any, stream: Any, made: Any, begin: int, end: int) -> int:  # noqa: ANN401
    """Encode the pictures between `begin` and `end` as H.264; return how many."""
    out, taken = None, 0
    for frame in source.decode(stream):
        if frame.pts is None or frame.pts < begin:
            continue
        if frame.pts >= end:
            break
        if out is None:
            out = made.add_stream("libx264", rate=stream.average_rate or 25)
            out.width, out.height = frame.width & ~1, frame.height & ~1
            out.pix_fmt, out.time_base = "yuv420p", _MILLISECONDS
            out.options = {
                "preset": "veryfast",
                "bf": "0",
                "threads": f"{_THREADS}",
            }  # what comes out begins at 0
            out.codec_context.time_base = _MILLISECONDS
        picture = frame.reformat(out.width, out.height, "yuv420p")
        picture.pts = int((frame.pts - begin) * stream.time_base / _MILLISECONDS)
        picture.time_base = _MILLISECONDS
        made.mux(out.encode(picture))
        taken += 1
    if out is not None:
        made.mux(out.encode())
    return taken


def _limit(bytes_max: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES_MAX),
        (resource.RLIMIT_FSIZE, bytes_max),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S_MAX, CPU_S_MAX + _CPU_LAST_S))
    os.nice(10)


def main() -> None:
    """Cut one clip; see the module."""
    size, from_ms, to_ms = map(int, sys.argv[1:4])
    bytes_max = int(sys.argv[6])
    _limit(bytes_max)
    recording = AskedRecording(size, sys.stdout.buffer, sys.stdin.buffer)
    try:
        with os.fdopen(int(sys.argv[5]), "wb") as clip:
            how = cut(recording, clip, from_ms, to_ms, sys.argv[4])
    except MemoryError:
        sys.exit("it takes too much memory")
    except (UnfitError, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            sys.exit(f"it has more than {bytes_max} bytes; ask for a shorter part")
        sys.exit(str(error))
    sys.stderr.write(how)


if __name__ == "__main__":
    main()
