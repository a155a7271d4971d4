"""Types of the device's settings: what a value has to be, and how an error says so."""

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Final

from msgspec import Meta, Struct

from contracts.copies import Requirement
from contracts.ids import check_id
from contracts.keys import is_public_key, is_signature
from device.sensors.mapping import ABSENT, MEASURES, ColumnMap

_PORT_MAX: Final = 65_535
_CHIP: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_INTERFACE: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}"
_BSSID: Final = r"[0-9a-f]{2}(:[0-9a-f]{2}){5}"


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """Refuses unknown keys."""


def check_host_port(text: str) -> str:
    """Return `text` if it is HOST:PORT, an IPv6 host in brackets; raise ValueError if not."""
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _PORT_MAX:
        raise ValueError(f"expected HOST:PORT, got {text!r}")
    return text


def check_url(text: str) -> str:
    """Return an HTTP URL without the slash at its end; raise ValueError for any other text."""
    if not text.startswith(("http://", "https://")) or not text.isprintable() or " " in text:
        raise ValueError(f"expected http://HOST:PORT or https://HOST:PORT, got {text!r}")
    return text.rstrip("/")


def check_rtsp(text: str) -> str:
    """Return an RTSP URL; raise ValueError, which does not show a password, for any other text."""
    if not text.startswith(("rtsp://", "rtsps://")) or not text.isprintable() or " " in text:
        raise ValueError("expected rtsp://HOST/PATH or rtsps://HOST/PATH")
    return text


def check_public_key(text: str) -> str:
    """Return `text` if it has the form of a public key; raise ValueError if not."""
    if not is_public_key(text):
        raise ValueError(f"expected 66 lower-case hexadecimal digits, got {text!r}")
    return text


def check_block_id(text: str) -> str:
    """Return `text` if it has the form of a block id; raise ValueError if not."""
    if not is_signature(text):
        raise ValueError(f"expected 128 lower-case hexadecimal digits, got {text!r}")
    return text


def parse_speed(text: str) -> float:
    """Return how many times faster than real time; 0 for `max`.

    Raises:
        ValueError: Neither `max` nor a number above 0.
    """
    speed = 0.0 if text == "max" else float(text) if text[:1].isdigit() else -1.0
    if text != "max" and not 0 < speed < float("inf"):
        raise ValueError(f"expected `max` or a number above 0, got {text!r}")
    return speed


def _check_known(known: tuple[str, ...], text: str) -> None:
    if text not in known:
        raise ValueError(f"expected {' or '.join(known)}, got {text!r}")


def words(expected: str, check: Callable[[str], object] = str) -> Meta:
    """Describe a text that is not empty and that `check` accepts."""
    return Meta(min_length=1, pattern=r"\A[^\0]*\Z", description=expected, extra={"check": check})


def _check_form(form: str, text: str) -> None:
    if not re.fullmatch(form, text):
        raise ValueError(f"expected {form}, got {text!r}")


def around_zero(most: int) -> Meta:
    """Describe a whole number of at most `most`, with either sign."""
    return within(-most, most)


def within(low: int, high: int) -> Meta:
    """Describe a whole number of a range."""
    return Meta(ge=low, le=high, description=f"a whole number within {low}..{high}")


def up_to(count: int, what: str, *, at_least: int = 0) -> Meta:
    """Describe a list without doubles, of `what` in the plural."""
    expected = f"a list of {at_least} to {count} {what}, each once"
    return Meta(min_length=at_least, max_length=count, description=expected)


Text = Annotated[str, words("a text")]
Id = Annotated[
    str,
    words(
        "an id of 1 to 64 ASCII letters, digits, `.`, `_` or `-`, beginning with a letter or digit",
        partial(check_id, "this"),
    ),
]
HostPort = Annotated[str, words("HOST:PORT", check_host_port)]
PublicKey = Annotated[
    str, words("public keys of 66 lower-case hexadecimal digits", check_public_key)
]
BlockId = Annotated[
    str, words("the id of a block, 128 lower-case hexadecimal digits", check_block_id)
]
Bssid = Annotated[
    str, words("a hardware address such as 02:00:00:00:01:00", partial(_check_form, _BSSID))
]
RequiredCopy = Annotated[
    str, words("copies, as `volume`, `blobs` or `blobs:QUORUM`", Requirement.parse)
]
Speed = Annotated[str, words("`max` or a number above 0, as text", parse_speed)]
Measure = Annotated[str, words(" or ".join(MEASURES), partial(_check_known, MEASURES))]
MappedColumn = Annotated[
    str, words("columns as QUANTITY=COLUMN or QUANTITY/UNIT=COLUMN", ColumnMap.parse)
]
Absent = Annotated[str, words(" or ".join(ABSENT), partial(_check_known, ABSENT))]
Url = Annotated[str, words("http://HOST:PORT or https://HOST:PORT", check_url)]
RtspUrl = Annotated[str, words("rtsp://HOST/PATH or rtsps://HOST/PATH", check_rtsp)]
Chip = Annotated[str, words("a chip's name or serial number", partial(_check_form, _CHIP))]
Interface = Annotated[str, words("an interface such as wlan0", partial(_check_form, _INTERFACE))]
