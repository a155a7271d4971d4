"""Tells the media type of a video file from its first bytes."""

from pathlib import Path
from typing import Final

from contracts.errors import RejectedError

UNKNOWN: Final = "application/octet-stream"
_EBML: Final = b"\x1a\x45\xdf\xa3"
_HEAD_BYTES: Final = 4096
_TS_PACKET_BYTES: Final = 188
_TS_SYNC: Final = 0x47


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
