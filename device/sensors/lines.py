"""The lines of a log as text, UTF-8 or UTF-16 with a byte order mark, and the cells of a line."""

import codecs
import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from contracts.errors import RejectedError

if TYPE_CHECKING:
    import hashlib

LINE_BYTES_MAX: Final = 16 * 1024
UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ARCHIVES: Final = (b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
"""ZIP, which .xlsx and .ods are; gzip; the older .xls."""
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"


def read_lines(path: Path, digest: "hashlib._Hash") -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and text without its end; hash every byte.

    Raises:
        RejectedError: Unreadable, a line that is too long, or bytes that are no text.
    """
    try:
        with path.open("rb") as file:
            head = file.peek(4)
            check_no_archive(path, head)
            if head.removeprefix(codecs.BOM_UTF8).startswith(b"<"):
                raise RejectedError(
                    f"{path}: expected CSV, got XML: a GPX track goes to --track, and its name "
                    f"ends in .gpx"
                )
            wide = head[:2] in UTF_16_MARKS
            lines = _utf_16(path, file, digest) if wide else _utf_8(path, file, digest)
            for number, line in lines:
                yield number, line.removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise RejectedError(f"readings {path}: {error}") from error


def cells_of(place: str, line: str, delimiter: str) -> list[str]:
    """Return the cells of one line.

    Raises:
        RejectedError: A quote is misplaced, or the line holds several that end with CR.
    """
    # One line is one row: with quoted line breaks, one stray quote would swallow the log.
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        if "\r" in line:
            raise RejectedError(
                f"{place}: expected lines that end with LF or CR LF, got CR alone: convert the "
                f"file with `tr '\\r' '\\n'`"
            ) from error
        if "end of data" in str(error):
            raise RejectedError(
                f"{place}: expected one CSV row, got a quote that is not closed: a row is one "
                f"line, so close or remove it"
            ) from error
        raise RejectedError(f"{place}: expected one CSV row: {error}") from error


def lacks_line_end(path: Path) -> bool:
    """Say whether the last line of a log has no end, so that its last cell may be cut.

    Raises:
        RejectedError: Unreadable.
    """
    try:
        with path.open("rb") as file:
            wide = file.read(2) in UTF_16_MARKS
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 2))
            end = file.read().replace(b"\0", b"") if wide else file.read()
    except OSError as error:
        raise RejectedError(f"readings {path}: {error}") from error
    return not end.endswith((b"\n", b"\r"))


def check_no_archive(path: Path, head: bytes) -> None:
    """Check that a file does not begin as an archive does; spreadsheets are archives.

    Raises:
        RejectedError: It does.
    """
    if head.startswith(_ARCHIVES):
        raise RejectedError(
            f"{path}: expected a CSV, GPX or video file, got a spreadsheet or an archive: save the "
            f"table as CSV, or unpack the file"
        )


def _utf_8(path: Path, file: BinaryIO, digest: "hashlib._Hash") -> Iterator[tuple[int, str]]:
    number = 0
    while raw := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        digest.update(raw)
        yield number, _decode(f"{path}: line {number}", raw, first=number == 1)


def _utf_16(path: Path, file: BinaryIO, digest: "hashlib._Hash") -> Iterator[tuple[int, str]]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    number, rest, ended = 0, "", False
    while not ended:
        raw = file.read(LINE_BYTES_MAX)
        ended = not raw
        digest.update(raw)
        *lines, rest = (rest + decoder.decode(raw, final=ended)).split("\n")
        for line in [*lines, rest] if ended and rest else lines:
            number += 1
            _check(f"{path}: line {number}", line)
            yield number, line
        if len(rest) > LINE_BYTES_MAX:
            _check(f"{path}: line {number + 1}", rest)


def _check(place: str, line: str) -> None:
    if len(line) > LINE_BYTES_MAX:
        raise _too_long(place)
    if _REPLACED in line or "\0" in line:
        raise RejectedError(f"{place}: expected UTF-16, as the byte order mark says")


def _decode(place: str, raw: bytes, *, first: bool) -> str:
    if len(raw) > LINE_BYTES_MAX:
        raise _too_long(place)
    if b"\0" in raw and not first:
        raise RejectedError(
            f"{place}: expected text, got NUL bytes, as a power cut leaves them: remove them and "
            f"what is damaged beside them"
        )
    if b"\0" in raw:
        raise RejectedError(
            f"{place}: expected text, got a NUL byte at {raw.index(0)} "
            f"(UTF-16 needs its byte order mark)"
        )
    try:
        return raw.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as error:
        raise RejectedError(
            f"{place}: expected UTF-8, got byte {raw[error.start]:#04x} "
            f"(from an older Windows: `iconv -f WINDOWS-1252 -t UTF-8` converts the file)"
        ) from error


def _too_long(place: str) -> RejectedError:
    return RejectedError(f"{place}: expected at most {LINE_BYTES_MAX} bytes, the line is longer")
