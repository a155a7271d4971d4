"""Adapter: SensorSource that replays a CSV log with named columns.

Every row is exactly one sample. The whole file is checked before the first sample is
yielded, so nothing is signed from an invalid log; it is read line by line, so memory use does
not depend on its length. Blank lines are ignored.
"""

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.records.clock import Clock, ClockOrigin
from device.sensors.columns import Layout
from device.sensors.contents import Contents
from device.sensors.mapping import PLAIN, LogOptions
from device.sensors.port import Sample

LINE_BYTES_MAX: Final = 16 * 1024
_EPOCH: Final = Clock(0, 0, bytes(16), ClockOrigin.NONE)


@dataclass(frozen=True, slots=True)
class CsvReplay:
    """A checked log.

    Attributes:
        path: The file.
        sha256: SHA-256 of the file, 32 bytes.
        rows: Number of rows, at least one.
        first_ms: UTC of the earliest row, milliseconds since the Unix epoch.
        duration_ms: Milliseconds from the earliest row to the latest.
        options: How it is read.
        contents: Which columns are used as what, and what they give.
    """

    path: Path
    sha256: bytes
    rows: int
    first_ms: int
    duration_ms: int
    options: LogOptions
    contents: Contents

    @classmethod
    def check(cls, path: Path, options: LogOptions = PLAIN) -> Self:
        """Read the log at `path` from end to end.

        Raises:
            RejectedError: Names file, line, column, the expected and the actual value.
        """
        digest, rows, first_ms, last_ms = hashlib.sha256(), 0, 1 << 63, 0
        layout, samples = _read(path, options, digest)
        contents = Contents(layout, options.tracked)
        for sample in samples:
            rows += 1
            contents.add(sample)
            first_ms = min(first_ms, sample.offset_ms)
            last_ms = max(last_ms, sample.offset_ms)
        if not rows:
            raise RejectedError(f"{path}: expected at least one row below the header, got none")
        duration_ms = last_ms - first_ms
        return cls(path, digest.digest(), rows, first_ms, duration_ms, options, contents)

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`; offsets count from the earliest row."""
        digest = hashlib.sha256()
        for sample in _read(self.path, self.options, digest)[1]:
            yield replace(sample, offset_ms=sample.offset_ms - self.first_ms)
        if digest.digest() != self.sha256:
            raise RejectedError(
                f"{self.path}: changed while it was replayed: SHA-256 was "
                f"{self.sha256.hex()}, is {digest.hexdigest()}"
            )


def _read(
    path: Path, options: LogOptions, digest: "hashlib._Hash"
) -> tuple[Layout, Iterator[Sample]]:
    """Return the columns, and one sample per row; `offset_ms` counts from the Unix epoch."""
    lines = ((number, line) for number, line in _lines(path, digest) if line.strip())
    number, header = next(lines, (1, ""))
    place = f"{path}: line {number}"
    layout = Layout.of(place, _cells(place, header), options)
    return layout, _samples(path, layout, lines)


def _samples(path: Path, layout: Layout, lines: Iterator[tuple[int, str]]) -> Iterator[Sample]:
    for number, line in lines:
        place = f"{path}: line {number}"
        sample = layout.sample(place, _cells(place, line))
        _check_ranges(place, layout, sample)
        yield sample


def _lines(path: Path, digest: "hashlib._Hash") -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and text without its end."""
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(LINE_BYTES_MAX + 1):
                number += 1
                digest.update(raw)
                yield number, _decode(f"{path}: line {number}", raw, first=number == 1)
    except OSError as error:
        raise RejectedError(f"readings {path}: {error}") from error


def _decode(place: str, raw: bytes, *, first: bool) -> str:
    if len(raw) > LINE_BYTES_MAX:
        raise RejectedError(f"{place}: expected at most {LINE_BYTES_MAX} bytes, the line is longer")
    if b"\0" in raw:
        raise RejectedError(f"{place}: expected text, got a NUL byte at {raw.index(0)}")
    try:
        text = raw.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as error:
        raise RejectedError(f"{place}: expected UTF-8, got byte {raw[error.start]:#04x}") from error
    return text.removesuffix("\n").removesuffix("\r")


def _cells(place: str, line: str) -> list[str]:
    # One line is one row: with quoted line breaks, one stray quote would swallow the log.
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise RejectedError(f"{place}: expected one CSV row: {error}") from error


def _check_ranges(place: str, layout: Layout, sample: Sample) -> None:
    try:
        sample.reading(_EPOCH, None, derived=True)
    except RejectedError as error:
        raise RejectedError(f"{place}, {layout.blame(str(error))}: {error}") from error
