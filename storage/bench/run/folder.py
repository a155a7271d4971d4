"""The folder of one run: its result, its tables, and the raw output of the tools."""

import csv
import io
import json
from pathlib import Path
from typing import Final

from contracts.runtime.files import write_file
from storage.bench.run.document import Document, folder_of
from storage.bench.run.outcome import Series
from storage.bench.run.record import Execution

EVERYONE_READS: Final = 0o644
RESULT: Final = "result.json"


class Folder:
    """The folder of one run; every file in it is whole, even after a kill.

    Args:
        path: Made with the first file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, done: Execution) -> None:
        """Write an execution's series as CSV and its attachments as they are.

        Raises:
            UnavailableError: The medium failed or is full.
        """
        below = folder_of(done)
        for series in done.outcome.series:
            self.write(f"{below}/{series.name}.csv", _csv(series))
        for name, content in done.outcome.attachments.items():
            self.write(f"{below}/{name}", content)

    def save(self, result: Document) -> None:
        """Replace the result.

        Raises:
            UnavailableError: The medium failed or is full; the result is as it was.
        """
        self.write(RESULT, json.dumps(result, indent=1).encode() + b"\n")

    def write(self, name: str, content: bytes) -> None:
        """Replace one file.

        Raises:
            UnavailableError: The medium failed or is full; the file is as it was.
        """
        path = self.path / name
        write_file(path, content, temporary=path.with_name(f".{path.name}"), mode=EVERYONE_READS)


def _csv(series: Series) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(series.columns)
    writer.writerows(series.rows)
    return out.getvalue().encode()
