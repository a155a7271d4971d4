"""Tells the media type of a video file, whether it is whole, and whether browsers play it."""

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import RejectedError

UNKNOWN: Final = "application/octet-stream"
_EBML: Final = b"\x1a\x45\xdf\xa3"
_HEAD_BYTES: Final = 4096
_TS_PACKET_BYTES: Final = 188
_TS_SYNC: Final = 0x47
_LENGTH_BYTES: Final = 8
"""A box or list begins with its length and its name; 64 more bits have a box's larger length."""
_PARTS_MAX: Final = 1 << 20
"""A hostile file could consist of nothing but empty boxes."""
_SEGMENT: Final = b"\x18\x53\x80\x67"
_PHOTOS: Final[Mapping[str, bytes]] = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n"}
_PLAYED: Final[Mapping[str, frozenset[str]]] = {
    "video/mp4": frozenset(("avc1", "h264", "av01", "vp09")),
    "video/quicktime": frozenset(("avc1", "h264")),
    "video/webm": frozenset(("vp80", "vp90", "vp09", "av01")),
}
"""Codecs, in lower case, that Chromium, Firefox and Safari all play, by container."""


def media_type(path: Path) -> str:
    """Return the media type of the video at `path`; `UNKNOWN` if the container is not recognised.

    Raises:
        RejectedError: Not a regular file, or not readable.
    """
    if not path.is_file():
        raise RejectedError(f"video {path}: expected a file, it is missing")
    try:
        with path.open("rb") as file:
            return _of_head(file.read(_HEAD_BYTES))
    except OSError as error:
        raise RejectedError(f"video {path}: {error}") from error


def photo(path: Path) -> str:
    """Return the format of the picture that the file at `path` begins with, or "".

    A stream of Motion JPEG begins as a JPEG does.

    Raises:
        RejectedError: Not readable.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_LENGTH_BYTES)
    except OSError as error:
        raise RejectedError(f"video {path}: {error}") from error
    return next((name for name, mark in _PHOTOS.items() if head.startswith(mark)), "")


def plays(kind: str, codec: str) -> bool:
    """Say whether usual browsers play a codec, given as its four characters, in this container."""
    return codec.lower() in _PLAYED.get(kind, ())


def is_cut(path: Path, kind: str) -> bool:
    """Say whether the file ends before its container says, or was never finished.

    MPEG program streams, Ogg, and Matroska that was written live do not say where they end.

    Raises:
        RejectedError: Not readable.
    """
    ends = _ENDS.get(kind)
    if ends is None:
        return False
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            return any(end > size for end in ends(file, size))
    except OSError as error:
        raise RejectedError(f"video {path}: {error}") from error


def lacks_index(path: Path, kind: str) -> bool:
    """Say whether this is an MP4 without its index, the box `moov`: nothing in it can be found.

    Raises:
        RejectedError: Not readable.
    """
    if kind not in ("video/mp4", "video/quicktime"):
        return False
    try:
        with path.open("rb") as file:
            return all(name != b"moov" for name, _ in _boxes(file, path.stat().st_size))
    except OSError as error:
        raise RejectedError(f"video {path}: {error}") from error


def _box_ends(file: BinaryIO, size: int) -> Iterator[int]:
    return (end for _, end in _boxes(file, size))


def _boxes(file: BinaryIO, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the name of each top-level box and where it ends. Source: ISO/IEC 14496-12, 4.2."""
    at = 0
    for _ in range(_PARTS_MAX):
        file.seek(at)
        head = file.read(2 * _LENGTH_BYTES)
        if not head:
            return
        if len(head) < _LENGTH_BYTES:
            yield b"", at + _LENGTH_BYTES
            return
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[_LENGTH_BYTES:], "big")
        # 0: until the file's end; another length below that of the head is not a box at all
        at = at + length if length >= _LENGTH_BYTES else size
        yield head[4:_LENGTH_BYTES], at
        if at > size:
            return


def _riff_ends(file: BinaryIO, size: int) -> Iterator[int]:
    """Yield where each RIFF list ends; a length of 0 was never written. Source: OpenDML 1.02."""
    at = 0
    for _ in range(_PARTS_MAX):
        file.seek(at)
        head = file.read(_LENGTH_BYTES)
        if len(head) < _LENGTH_BYTES or head[:4] != b"RIFF":
            return
        (length,) = struct.unpack("<I", head[4:])
        at += _LENGTH_BYTES + length + length % 2 if length else size + 1
        yield at - length % 2  # some writers leave the last padding byte out


def _segment_ends(file: BinaryIO, _: int) -> Iterator[int]:
    """Yield where the segment ends. Source: RFC 8794, 4 and 6; RFC 9559, 5.1."""
    head = file.read(_HEAD_BYTES)
    at = head.find(_SEGMENT) + len(_SEGMENT)
    if at < len(_SEGMENT) or at >= len(head) or not head[at]:
        return
    width = 9 - head[at].bit_length()
    bits = 7 * width
    length = int.from_bytes(head[at : at + width], "big") & ((1 << bits) - 1)
    if length != (1 << bits) - 1:  # all ones: not known when it was written
        yield at + width + length


def _packet_ends(_: BinaryIO, size: int) -> Iterator[int]:
    """Yield where the last packet of a transport stream ends. Source: ISO/IEC 13818-1, 2.4.3.2."""
    yield -(-size // _TS_PACKET_BYTES) * _TS_PACKET_BYTES


_ENDS: Final[Mapping[str, Callable[[BinaryIO, int], Iterator[int]]]] = {
    "video/mp4": _box_ends,
    "video/quicktime": _box_ends,
    "video/x-msvideo": _riff_ends,
    "video/webm": _segment_ends,
    "video/matroska": _segment_ends,
    "video/mp2t": _packet_ends,
}


def _of_head(head: bytes) -> str:
    kinds = {
        "video/x-msvideo": head[:4] == b"RIFF" and head[8:12] == b"AVI ",
        "video/quicktime": head[4:10] == b"ftypqt",
        "video/mp4": head[4:8] == b"ftyp",
        "video/webm": head[:4] == _EBML and b"webm" in head[:64],
        "video/matroska": head[:4] == _EBML,
        "video/ogg": head[:4] == b"OggS",
        "video/mpeg": head[:4] == b"\x00\x00\x01\xba",
        "video/mp2t": len(head) > _TS_PACKET_BYTES
        and head[0] == head[_TS_PACKET_BYTES] == _TS_SYNC,
    }
    return next((kind for kind, matches in kinds.items() if matches), UNKNOWN)
