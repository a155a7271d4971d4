"""Adapter: SensorSource that replays a CSV log with named columns.

Every row is exactly one sample. The whole file is checked before the first sample is
yielded, so nothing is signed from an invalid log; it is read line by line, so memory use does
not depend on its length. Blank lines are ignored, and comments before the header.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from device.sensors.columns import Layout
from device.sensors.contents import UNENDED, Contents
from device.sensors.form import COMMENT, Form, is_row_of_units
from device.sensors.header import gives_all_the_same
from device.sensors.lines import cells_of, lacks_line_end, read_lines
from device.sensors.mapping import PLAIN, LogOptions
from device.sensors.port import Sample


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
        for role, column in layout.found.items():
            given = contents.given(role)
            if given and options.leaves_out_by_word(role):
                raise gives_all_the_same(str(path), column, role)
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
    lines = ((number, line) for number, line in read_lines(path, digest) if line.strip())
    form = Form.of(path, lines, options.delimiter)
    layout = Layout.of(f"{path}: line {form.number}", form.header, options)
    layout.noted.update({"comments": form.comments, "fahrenheit": form.fahrenheit})
    layout.noted[f"delimiter {form.delimiter}"] = 1
    return layout, _samples(path, form, layout, lines)


def _samples(
    path: Path, form: Form, layout: Layout, lines: Iterator[tuple[int, str]]
) -> Iterator[Sample]:
    before: tuple[int, int] | None = None
    last: tuple[int, str] | None = None
    for row, (number, line) in enumerate(lines):
        place = f"{path}: line {number}"
        if line.startswith(COMMENT) and not form.header[0].startswith(COMMENT):
            raise RejectedError(
                f"{place}: expected a row, got a comment below the header, {line[:40]!r}: remove it"
            )
        cells = cells_of(place, line, form.delimiter)
        if not any(cell.strip() for cell in cells):  # spreadsheets end a table with such rows
            layout.noted["empty"] += 1
            continue
        if [cell.strip() for cell in cells] == list(layout.names):
            raise RejectedError(
                f"{place}: expected a row, got the header again, as in logs that were joined or "
                f"that a restart began again: remove this line"
            )
        if row == 0 and is_row_of_units(place, cells, len(layout.names), layout.found):
            layout.noted["units"] += 1
            continue
        sample = layout.sample(place, cells)
        if before and sample.offset_ms < before[1]:
            raise RejectedError(
                f"{place}: expected rows in order of time, got {rfc3339(sample.offset_ms)} after "
                f"{rfc3339(before[1])} in line {before[0]}: sort the rows by their time"
            )
        before = number, sample.offset_ms
        last = number, cells[-1]
        yield sample
    if last and lacks_line_end(path):
        number, cell = last
        doubt = f"line {number} has no end: if the log was cut, its last cell {cell!r} may be too"
        layout.noted[UNENDED + doubt] = 1
