"""The headers of tus 1.0: this module parses them, gateway/uploads decides.

Source: tus resumable upload protocol 1.0.0, core, creation and checksum.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from email.utils import formatdate
from typing import Final

from contracts.errors import RejectedError
from contracts.ids import parse_recording_id
from contracts.text import quoted
from gateway.uploads.pouring import Checksum

VERSION: Final = "1.0.0"
HEADERS: Final = f"Tus-Resumable: {VERSION}\r\n".encode()
EXTENSIONS: Final = "creation,expiration,checksum,termination"
CHECKSUM_ALGORITHMS: Final = ("sha256", "sha1")
MEDIA_TYPE: Final = "application/offset+octet-stream"
METADATA_BYTES_MAX: Final = 4096
NUMBER_MAX: Final = 10**18
"""What a larger number in a header counts as; no upload is that long."""
_NUMBER: Final = re.compile(r"[0-9]+")
_KEY: Final = re.compile(r"[^\x00-\x20\x7f,]+")


_REFUSED: Final = {
    "Upload-Defer-Length": "the signed digest names the size, so Upload-Length must too",
    "Upload-Concat": "a recording is one upload, whose bytes come in order",
}


class HeaderError(RejectedError):
    """A header is missing or has the wrong form."""


def number(name: str, value: str | None) -> int:
    """Return a header that holds a count of bytes.

    Raises:
        HeaderError: It is missing, or is not a number in decimal digits.
    """
    if value is None or not _NUMBER.fullmatch(value):
        raise HeaderError(f"{name} must be a number of bytes, got {_shown(value)}")
    digits = value.lstrip("0") or "0"
    return int(digits) if len(digits) < len(str(NUMBER_MAX)) else NUMBER_MAX


def recording(value: str | None) -> bytes:
    """Return the recording id written as 64 lower-case hexadecimal digits.

    Raises:
        HeaderError: It has another form.
    """
    try:
        return parse_recording_id(value or "")
    except RejectedError as error:
        raise HeaderError(str(error)) from error


def metadata(value: str | None) -> dict[str, bytes]:
    """Return the pairs of Upload-Metadata, decoded.

    Raises:
        HeaderError: It is too long, has an invalid key or a key twice, or a value is not base64.
    """
    if value is None or len(value) > METADATA_BYTES_MAX:
        raise HeaderError(
            f"Upload-Metadata must have 1..{METADATA_BYTES_MAX} bytes, got {len(value or '')}"
        )
    pairs: dict[str, bytes] = {}
    for pair in value.split(","):
        key, _, text = pair.strip(" ").partition(" ")
        if not _KEY.fullmatch(key) or key in pairs:
            raise HeaderError(f"Upload-Metadata must name each key once, got {_shown(key)}")
        pairs[key] = _decoded(key, text)
    return pairs


def announced(value: str | None) -> bytes:
    """Return the recording id that Upload-Metadata names under `sha256`.

    Raises:
        HeaderError: Upload-Metadata is malformed, or names none.
    """
    return recording(metadata(value).get("sha256", b"").decode("latin-1"))


def refuse_extensions(headers: Mapping[str, str]) -> None:
    """Refuse an announcement that needs an extension which this server does not have.

    Raises:
        HeaderError: It does.
    """
    for name, why in _REFUSED.items():
        if name in headers:
            raise HeaderError(f"{name} is not supported: {why}; got {_shown(headers[name])}")


def metadata_of(recording_id: bytes) -> str:
    """Return the Upload-Metadata that announces a recording."""
    return f"sha256 {base64.b64encode(recording_id.hex().encode()).decode()}"


def http_date(at_s: float) -> str:
    """Return seconds since the epoch as the whole second before, in HTTP's form.

    Source: RFC 9110, 5.6.7, IMF-fixdate.
    """
    return formatdate(int(at_s), usegmt=True)


def checksum(value: str | None) -> Checksum | None:
    """Return the digest in Upload-Checksum, or None without that header.

    Raises:
        HeaderError: The algorithm is unknown, or the digest is malformed.
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
        raise HeaderError(
            f"{algorithm} in Upload-Checksum must have {expected} bytes, got {len(digest)}"
        )
    return Checksum(algorithm, digest)


def _decoded(key: str, text: str) -> bytes:
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        value = b""
    if base64.b64encode(value).decode() != text:  # Python lets too much padding pass
        raise HeaderError(f"Upload-Metadata {_shown(key)} must be base64, got {_shown(text)}")
    return value


def _shown(value: str | None) -> str:
    return "nothing" if value is None else quoted(value)
