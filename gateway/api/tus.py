"""The header forms of tus 1.0: taken apart here, judged elsewhere.

Source: tus resumable upload protocol 1.0.0, core, creation and checksum.
"""

import base64
import binascii
import hashlib
import re
from typing import Final

from contracts.errors import RejectedError
from contracts.ids import parse_recording_id
from gateway.uploads.lanes import Checksum

VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,checksum,termination"
CHECKSUM_ALGORITHMS: Final = ("sha256", "sha1")
MEDIA_TYPE: Final = "application/offset+octet-stream"
METADATA_BYTES_MAX: Final = 4096
_NUMBER: Final = re.compile(r"[0-9]{1,18}")


class HeaderError(RejectedError):
    """A header is missing or has the wrong form."""


def number(name: str, value: str | None) -> int:
    """Return a header that holds a count of bytes.

    Raises:
        HeaderError: It is missing or no number of at most 18 digits.
    """
    if value is None or not _NUMBER.fullmatch(value):
        raise HeaderError(f"{name} must be a number of bytes, got {_shown(value)}")
    return int(value)


def recording(value: str | None) -> bytes:
    """Return the recording id written as 64 lower-case hexadecimal digits.

    Raises:
        HeaderError: It has another form.
    """
    try:
        return parse_recording_id(value or "")
    except RejectedError as error:
        raise HeaderError(str(error)) from error


def metadata(value: str | None) -> dict[str, str]:
    """Return the pairs of Upload-Metadata, decoded.

    Raises:
        HeaderError: Too long, a key twice, or a value that is not base64 of UTF-8.
    """
    if value is None or len(value) > METADATA_BYTES_MAX:
        raise HeaderError(
            f"Upload-Metadata of 1..{METADATA_BYTES_MAX} bytes expected, got {len(value or '')}"
        )
    pairs: dict[str, str] = {}
    for pair in value.split(","):
        key, _, text = pair.strip().partition(" ")
        if not key or key in pairs:
            raise HeaderError(f"Upload-Metadata names each key once, got {_shown(key)}")
        pairs[key] = _decoded(key, text)
    return pairs


def metadata_of(recording_id: bytes) -> str:
    """Return the Upload-Metadata that announces a recording."""
    return f"sha256 {base64.b64encode(recording_id.hex().encode()).decode()}"


def checksum(value: str | None) -> Checksum | None:
    """Return what Upload-Checksum promises; None when there is no such header.

    Raises:
        HeaderError: Unknown algorithm, or a digest of the wrong form.
    """
    if value is None:
        return None
    algorithm, _, text = value.partition(" ")
    if algorithm not in CHECKSUM_ALGORITHMS:
        raise HeaderError(
            f"Upload-Checksum must use one of {', '.join(CHECKSUM_ALGORITHMS)}, "
            f"got {_shown(algorithm)}"
        )
    try:
        digest = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise HeaderError(f"Upload-Checksum must be base64, got {_shown(text)}") from error
    expected = hashlib.new(algorithm).digest_size
    if len(digest) != expected:
        raise HeaderError(f"{algorithm} has {expected} bytes, Upload-Checksum {len(digest)}")
    return Checksum(algorithm, digest)


def _decoded(key: str, text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise HeaderError(
            f"Upload-Metadata {_shown(key)} must be base64 of UTF-8, got {_shown(text)}"
        ) from error


def _shown(value: str | None) -> str:
    return "nothing" if value is None else repr(value[:80])
