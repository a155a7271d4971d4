"""A run on disk: its result and its tables."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from contracts.errors import RejectedError
from contracts.runtime.files import disk_errors
from storage.bench import run
from storage.bench.run.document import SCHEMA, Document
from storage.bench.run.folder import RESULT

SCHEMA_FILE: Final = "result.schema.json"
WHY_CHARS_MAX: Final = 200
"""Of an error about a result: the error quotes the result."""


@dataclass(frozen=True, slots=True)
class Table:
    """One series of one execution.

    Attributes:
        columns: Names with units; the first is seconds since the execution began.
        rows: As many numbers each as there are columns.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[float]]

    def column(self, name: str) -> list[float]:
        """Return the values of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


@dataclass(frozen=True, slots=True)
class SavedRun:
    """One run's folder.

    Attributes:
        folder: Names in the result are relative to it.
    """

    folder: Path
    result: Document

    def table(self, execution: Document, series: str) -> Table:
        """Read a series of one of the result's executions.

        Raises:
            RejectedError: The table is missing or is not a table of numbers.
        """
        path = self.inside(f"{execution['folder']}/{series}.csv")
        try:
            with path.open(encoding="utf-8", newline="") as lines:
                columns, *rows = csv.reader(lines)
            read = [[float(cell) for cell in row] for row in rows]
        except (OSError, ValueError) as error:
            raise RejectedError(f"expected a table of numbers in {path}: {error}") from error
        if any(len(row) != len(columns) for row in read):
            raise RejectedError(f"expected {len(columns)} numbers in each row of {path}")
        return Table(columns, read)

    def inside(self, name: str) -> Path:
        """Return a path of the run's folder.

        Raises:
            RejectedError: The name leads out of it.
        """
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise RejectedError(f"expected a path inside {self.folder}, got {name!r}")
        return path

    def interface(self, target: str) -> str:
        """Return the interface of a target; empty if the result does not describe the target."""
        found: list[str] = [
            each["interface"] for each in self.result["targets"] if each["name"] == target
        ]
        return found[0] if found else ""


def opened(path: Path) -> SavedRun:
    """Read a run, named by its folder or by its result.

    The file may come from anyone, so it is checked against the schema.

    Raises:
        RejectedError: The file is not a result of this schema.
    """
    file = path / RESULT if path.is_dir() else path
    with disk_errors("read", file):
        content = file.read_bytes()
    try:
        result: Any = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"expected JSON in {file}: {error}") from error
    schema = result.get("schema") if isinstance(result, dict) else None
    if schema != SCHEMA:
        raise RejectedError(f"expected a result of schema {SCHEMA} in {file}, got {schema!r}")
    wrong = best_match(_validator().iter_errors(result))
    if wrong is not None:
        why = f"{wrong.json_path}: {wrong.message}"[:WHY_CHARS_MAX]
        raise RejectedError(f"expected a result of schema {SCHEMA} in {file}: {why}")
    for key, count in Counter(map(_key, result["figures"])).items():
        if count > 1:
            raise RejectedError(f"expected one figure {' '.join(key)} in {file}, got {count}")
    return SavedRun(file.parent, result)


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(files(run).joinpath(SCHEMA_FILE).read_text("utf-8")))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _key(figure: Document) -> tuple[str, ...]:
    return figure["part"], figure["workload"], figure["target"], figure["metric"]


def these(documents: Sequence[Document], *members: str) -> dict[tuple[str, ...], list[Document]]:
    """Return documents grouped by some of their members, in the order of first appearance."""
    groups: dict[tuple[str, ...], list[Document]] = {}
    for each in documents:
        groups.setdefault(tuple(each[member] for member in members), []).append(each)
    return groups
