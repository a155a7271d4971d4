"""tus headers are taken apart strictly; what is wrong is named."""

import base64
import hashlib

import pytest

from gateway.api import tus
from gateway.uploads.lanes import Checksum

ID = hashlib.sha256(b"video").digest()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_metadata_round_trip() -> None:
    value = f"{tus.metadata_of(ID)}, device {b64(b'truck-1')},empty"
    pairs = tus.metadata(value)
    assert pairs == {"sha256": ID.hex(), "device": "truck-1", "empty": ""}
    assert tus.recording(pairs["sha256"]) == ID


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        ",",
        "sha256 ***",
        "sha256 " + b64(b"\xff\xfe"),
        f"a {b64(b'1')},a {b64(b'2')}",
        "a " + "A" * tus.METADATA_BYTES_MAX,
    ],
)
def test_malformed_metadata_is_refused(value: str | None) -> None:
    with pytest.raises(tus.HeaderError, match="Upload-Metadata"):
        tus.metadata(value)


@pytest.mark.parametrize("value", [None, "", "-1", "+1", "1.5", "0x10", " 1", "1" * 19, "\u0661"])
def test_a_number_of_bytes_has_one_form(value: str | None) -> None:
    assert tus.number("Upload-Length", "12") == 12
    with pytest.raises(tus.HeaderError, match=r"Upload-Length must be a number of bytes, got"):
        tus.number("Upload-Length", value)


@pytest.mark.parametrize("value", [None, "", ID.hex().upper(), ID.hex()[:-1], ID.hex() + "\n"])
def test_a_recording_has_one_name(value: str | None) -> None:
    with pytest.raises(tus.HeaderError, match="64 lower-case hexadecimal digits"):
        tus.recording(value)


def test_a_checksum_names_algorithm_and_digest() -> None:
    sha1 = hashlib.sha1(b"bytes", usedforsecurity=False).digest()
    assert tus.checksum(None) is None
    assert tus.checksum(f"sha256 {b64(ID)}") == Checksum("sha256", ID)
    assert tus.checksum(f"sha1 {b64(sha1)}") == Checksum("sha1", sha1)


@pytest.mark.parametrize("value", ["", "md5 AAAA", "sha256", "sha256 AAAA", "sha256 ???", "sha1 "])
def test_a_malformed_checksum_is_refused(value: str) -> None:
    with pytest.raises(tus.HeaderError, match="Upload-Checksum"):
        tus.checksum(value)
