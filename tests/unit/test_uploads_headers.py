"""tus headers are parsed strictly, and the error names the wrong part."""

import base64
import hashlib

import pytest

from gateway.api import tus
from gateway.uploads.pouring import Checksum
from storage.recordings.manifest import RECORDING_BYTES_MAX

ID = hashlib.sha256(b"video").digest()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_metadata_round_trip() -> None:
    value = f"{tus.metadata_of(ID)}, device {b64(b'truck-1')},empty"
    pairs = tus.metadata(value)
    assert pairs == {"sha256": ID.hex().encode(), "device": b"truck-1", "empty": b""}
    assert tus.announced(value) == ID


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        ",",
        "sha256 ***",
        "sha256 QUJD=",
        "sha256 QUJ",
        " ,sha256 QUJD",
        "sha 256 QUJD",
        "tab\there QUJD",
        f"a {b64(b'1')},a {b64(b'2')}",
        "a " + "A" * tus.METADATA_BYTES_MAX,
    ],
)
def test_malformed_metadata_is_refused(value: str | None) -> None:
    with pytest.raises(tus.HeaderError, match="Upload-Metadata"):
        tus.metadata(value)


def test_metadata_hold_any_bytes_and_keys_without_value() -> None:
    pairs = tus.metadata(f"raw {b64(bytes([0, 255]))},k\u00e9y,flag ")
    assert pairs == {"raw": bytes([0, 255]), "k\u00e9y": b"", "flag": b""}


@pytest.mark.parametrize("value", [None, "device", "sha256", f"sha256 {b64(bytes([255]) * 64)}"])
def test_an_announcement_names_a_recording(value: str | None) -> None:
    with pytest.raises(tus.HeaderError, match=r"Upload-Metadata must have|64 lower-case"):
        tus.announced(value)


@pytest.mark.parametrize("digits", ["9" * 19, "1" * 5000, "0" * 30 + "1" * 19])
def test_a_number_without_bound_is_larger_than_any_upload(digits: str) -> None:
    assert tus.number("Upload-Length", digits) == tus.NUMBER_MAX > RECORDING_BYTES_MAX
    assert tus.number("Upload-Length", "0" * 30 + "12") == 12


def test_a_date_has_the_form_of_http_and_is_never_too_late() -> None:
    assert tus.http_date(1403712000.9) == "Wed, 25 Jun 2014 16:00:00 GMT"


@pytest.mark.parametrize("value", [None, "", "-1", "+1", "1.5", "0x10", " 1", "\u0661"])
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
