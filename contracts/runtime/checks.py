"""What a command found when it only looked: a line each, `ok`, `warning` or `error`."""

import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from contracts.errors import UnavailableError


class Severity(StrEnum):
    """How serious a finding is; only an error makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        subject: A setting, a file or a peer.
        words: What is well, or expected and actual.
    """

    severity: Severity
    subject: str
    words: str


def report(findings: Iterable[Finding]) -> bool:
    """Print each finding as it comes; return whether there was no error."""
    well = True
    for each in findings:
        sys.stdout.write(f"{each.severity:<8} {each.subject}: {each.words}\n")
        sys.stdout.flush()
        well = well and each.severity is not Severity.ERROR
    return well


def ok(subject: str, words: str) -> Finding:
    """Return a finding that needs nothing."""
    return Finding(Severity.OK, subject, words)


def warning(subject: str, words: str) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(Severity.WARNING, subject, words)


def error(subject: str, words: object) -> Finding:
    """Return a finding without whose remedy the process does not do its work."""
    return Finding(Severity.ERROR, subject, str(words))


def directory(subject: str, path: Path, *, made: bool) -> Finding:
    """Look whether a directory can be used; nothing is made.

    Args:
        subject: The setting.
        path: The directory.
        made: Whether the process makes it if it is missing.
    """
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir():
        return error(subject, f"expected a directory, but {nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return error(subject, f"this user may not write to {nearest}")
    if nearest == path:
        return ok(subject, f"{path}")
    if made:
        return warning(subject, f"{path} is missing; the first start makes it")
    return error(subject, f"{path} is missing")


def files(named: Iterable[tuple[str, Path | None]]) -> Iterator[Finding]:
    """Yield for each setting that names a file whether this user can read it."""
    for subject, path in named:
        if path is not None and not path.is_file():
            yield error(subject, f"expected a file, {path} is missing")
        elif path is not None and not os.access(path, os.R_OK):
            yield error(subject, f"this user may not read {path}")
        elif path is not None:
            yield ok(subject, f"{path}")


def connect(place: tuple[str, int] | Path, timeout_s: float) -> None:
    """Open a connection to a TCP port or a Unix socket, and close it.

    Raises:
        UnavailableError: Nothing answers there.
    """
    try:
        if not isinstance(place, Path):
            socket.create_connection(place, timeout_s).close()
            return
        with closing(socket.socket(socket.AF_UNIX)) as unix:
            unix.settimeout(timeout_s)
            unix.connect(str(place))
    except OSError as problem:
        raise UnavailableError(f"no connection: {problem}") from problem
