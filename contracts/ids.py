"""Ids of parties, sites, devices, deliveries, trips and recordings, and GS1 keys."""

import hashlib
import re
from typing import Final

from contracts.errors import RejectedError

ID_MAX: Final = 64
DEVICE_URN: Final = "urn:wayseal:device:"
"""Begins the URI that only a device's certificate has; its id follows."""
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A whole id of a party, site, device or delivery; `check_id` says what is wrong with another."""
_TRIP_ID_HEX: Final = 32
_TRIP_ID_SALT: Final = b"wayseal trip\0"
TRIP_ID: Final = re.compile(r"[0-9a-f]{32}")
"""A whole trip id; `check_trip_id` says what is wrong with another."""
_RECORDING_ID: Final = re.compile(r"[0-9a-f]{64}")
_GTIN_DIGITS: Final = (8, 12, 13, 14)
_GLN_DIGITS: Final = (13,)
_SSCC_DIGITS: Final = (18,)


def check_id(kind: str, text: str) -> str:
    """Return `text` if it is a valid id of a party, site, device or delivery.

    Raises:
        RejectedError: Empty, over 64 characters, with characters other than ASCII letters, digits,
            `.`, `_` and `-`, or not beginning with a letter or digit. Ids become topic levels,
            file names and words on command lines.
    """
    if not ID.fullmatch(text):
        raise RejectedError(
            f"{kind} id must be 1..{ID_MAX} ASCII letters, digits, '.', '_' or '-' after a letter "
            f"or digit: {text[:80]!r}"
        )
    return text


def check_trip_id(text: str) -> str:
    """Return `text` if it is a trip id, 32 hexadecimal digits.

    Raises:
        RejectedError: It has another form.
    """
    if not TRIP_ID.fullmatch(text):
        raise RejectedError(f"trip id must be 32 lower-case hexadecimal digits: {text[:80]!r}")
    return text


def trip_id_of(device_id: str, nonce: bytes) -> str:
    """Return the id of the trip that `device_id` starts with a 16 byte random `nonce`.

    Derived, so that no other device can take the id first.
    """
    digest = hashlib.sha256(_TRIP_ID_SALT + device_id.encode() + b"\0" + nonce)
    return digest.hexdigest()[:_TRIP_ID_HEX]


def parse_recording_id(text: str) -> bytes:
    """Return the recording id, 32 bytes, from its 64 hexadecimal digits.

    Raises:
        RejectedError: It has another form.
    """
    if not _RECORDING_ID.fullmatch(text):
        raise RejectedError(
            f"recording id must be 64 lower-case hexadecimal digits, its SHA-256: {text[:80]!r}"
        )
    return bytes.fromhex(text)


def check_gtin(text: str) -> str:
    """Return `text` if it is a GTIN of 8, 12, 13 or 14 digits.

    Raises:
        RejectedError: Wrong length or check digit.

    Source: GS1 General Specifications, 3.3.2 and 7.9 (check digit).
    """
    return _check_gs1("GTIN", text, _GTIN_DIGITS)


def check_gln(text: str) -> str:
    """Return `text` if it is a GLN of 13 digits.

    Raises:
        RejectedError: Wrong length or check digit.

    Source: GS1 General Specifications, 3.7.9 and 7.9 (check digit).
    """
    return _check_gs1("GLN", text, _GLN_DIGITS)


def check_sscc(text: str) -> str:
    """Return `text` if it is an SSCC of 18 digits.

    Raises:
        RejectedError: Wrong length or check digit.

    Source: GS1 General Specifications, 3.2.1 and 7.9 (check digit).
    """
    return _check_gs1("SSCC", text, _SSCC_DIGITS)


def _check_gs1(kind: str, text: str, lengths: tuple[int, ...]) -> str:
    if not text.isascii() or not text.isdigit() or len(text) not in lengths:
        wanted = " or ".join(map(str, lengths))
        raise RejectedError(f"{kind} must be {wanted} digits: {text[:20]!r}")
    weighted = sum(
        int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(text[-2::-1])
    )
    expected = -weighted % 10
    if int(text[-1]) != expected:
        raise RejectedError(f"{kind} {text}: check digit must be {expected}, got {text[-1]}")
    return text
