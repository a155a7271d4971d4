"""What a command found when it only looked: a line each, `ok`, `warning` or `error`.

Each warning and each error has a remedy: what to type or change, in one line.
"""

import getpass
import json
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from contracts.errors import UnavailableError, WaysealError
from contracts.runtime.files import GROUP_AND_OTHERS


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
        remedy: What to type or change; empty if and only if all is well.
    """

    severity: Severity
    subject: str
    words: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if (self.severity is Severity.OK) == bool(self.remedy):
            raise ValueError(
                f"{self}: expected a remedy for a warning or an error, and none for ok"
            )


def report(findings: Iterable[Finding]) -> bool:
    """Print each finding as it comes, its remedy below; return whether there was no error."""
    well = True
    for each in findings:
        sys.stdout.write(f"{each.severity:<8} {each.subject}: {each.words}\n")
        if each.remedy:
            sys.stdout.write(f"{'':<8} remedy: {each.remedy}\n")
        sys.stdout.flush()
        well = well and each.severity is not Severity.ERROR
    return well


def report_json(findings: Iterable[Finding]) -> bool:
    """Print all findings as one JSON array of objects; return whether there was no error."""
    found = list(findings)
    sys.stdout.write(json.dumps(list(map(asdict, found)), indent=2) + "\n")
    return all(each.severity is not Severity.ERROR for each in found)


def ok(subject: str, words: str) -> Finding:
    """Return a finding that needs nothing."""
    return Finding(Severity.OK, subject, words)


def warning(subject: str, words: object, remedy: str) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(Severity.WARNING, subject, str(words), remedy)


def error(subject: str, words: object, remedy: str) -> Finding:
    """Return a finding without whose remedy the process does not do its work."""
    return Finding(Severity.ERROR, subject, str(words), remedy)


def directory(subject: str, path: Path, *, made: bool) -> Finding:
    """Look whether a directory can be used; nothing is made.

    Args:
        subject: The setting.
        path: The directory.
        made: Whether the process makes it if it is missing.
    """
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir():
        why = f"expected a directory, but {nearest} is a file"
        return error(subject, why, f"move {nearest} away, or change the setting")
    if not os.access(nearest, os.W_OK | os.X_OK):
        why = f"this user may not write to {nearest}"
        return error(subject, why, _as_its_user(nearest))
    if nearest == path:
        return ok(subject, f"{path}")
    if made:
        why = f"{path} is missing; the first start makes it"
        again = "if the directory was there before, mount or restore it first; then start"
        return warning(subject, why, again)
    return error(subject, f"{path} is missing", f"mkdir -p {path}")


def files(named: Iterable[tuple[str, Path | None]]) -> Iterator[Finding]:
    """Yield for each setting that names a file whether this user can read it."""
    for subject, path in named:
        if path is not None and not path.is_file():
            why = f"expected a file, {path} is missing"
            yield error(subject, why, f"put the file there, or change {subject} in the settings")
        elif path is not None and not os.access(path, os.R_OK):
            why = f"this user may not read {path}"
            yield error(subject, why, _as_its_user(path))
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


def guarded(findings: Iterator[Finding], subject: str = "files") -> Iterator[Finding]:
    """Yield findings; a file that cannot be looked at becomes one more, and ends them."""
    try:
        yield from findings
    except (OSError, WaysealError) as problem:
        remedy = "run this as root, or as the user of the process; if you did, check the disk"
        yield error(subject, problem, remedy)


def private(path: Path, otherwise: str) -> str:
    """Return the remedy for a file with a secret that could not be used.

    Args:
        path: The file.
        otherwise: The remedy unless others may use it.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return otherwise
    if not mode & GROUP_AND_OTHERS:
        return otherwise
    return f"chmod 600 {path}; if others may have copied it, make a new one"


def _as_its_user(path: Path) -> str:
    user = getpass.getuser()
    return f"run this as the user of the process; if that is {user}, as root: chown {user} {path}"
