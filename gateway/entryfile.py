"""A small file of named entries, such as tokens; it is changed as a whole.

Each entry has a checksum over its name and itself, so that a rotten entry hurts that entry alone.
An entry without a checksum, made by an earlier version, is taken as it is.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import (
    OWNER_ONLY,
    check_private,
    disk_errors,
    in_turn,
    make_directory,
    write_file,
)
from storage.checked.damage import DamageNotes

Entry = dict[str, str]
MALFORMED: Final = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""What a file of other content than ours leads to, read and checked without care."""
_ENTRY: Final = re.compile(rb'"[^"{}]*": *\{[^{}]*\}')


def plain_entries(
    path: Path, what: str, check: Callable[[Entry], object], remedy: str
) -> dict[str, Entry]:
    """Return the entries of a file without checksums; none if there is no file.

    Args:
        path: The file.
        what: Names its kind in the error.
        check: Raises an error for an invalid entry.
        remedy: What to do about a damaged file.

    Raises:
        RejectedError: The file is damaged.
    """
    try:
        entries: dict[str, Entry] = json.loads(path.read_text("utf-8"))
        for entry in entries.values():
            check(entry)
    except FileNotFoundError:
        return {}
    except (*MALFORMED, RejectedError) as error:
        raise RejectedError(f"{what} {path}: {error!r}; {remedy}") from error
    return entries


class EntryFile:
    """The entries of one file, by name; several processes may change it.

    Args:
        path: The file; it need not exist yet.
        kind: What an entry is, in a word: `token`.
        check: Raises ValueError, LookupError, TypeError or AttributeError for an invalid entry.
        damage: Where rotten entries are noted.
    """

    def __init__(
        self, path: Path, kind: str, check: Callable[[str, Entry], object], damage: DamageNotes
    ) -> None:
        self.path = path
        self._kind = kind
        self._check = check
        self._damage = damage
        self._stamp: tuple[int, ...] | None = None
        self._is_unreadable = False

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes with the file; None without a readable file: then nobody may enter.

        A file that cannot be read is logged once, not at each question.
        """
        try:
            with disk_errors("look at", self.path):
                status = self.path.stat()
        except UnavailableError as error:
            if not isinstance(error.__cause__, FileNotFoundError) and not self._is_unreadable:
                self._is_unreadable = True
                self._damage.lost(f"nobody may enter: {error}")
            return None
        self._is_unreadable = False
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino

    def read(self) -> dict[str, Entry]:
        """Return the sound entries.

        Raises:
            RejectedError: The file is of another kind, or others may read it.
        """
        if not self.path.exists():
            return {}
        try:
            check_private(f"{self._kind} file", self.path)
            entries = self._parsed(self.path.read_bytes())
            for name, entry in entries.items():
                self._check(name, entry)
        except MALFORMED as error:
            raise RejectedError(f"{self._kind} file {self.path}: {error!r}") from error
        return entries

    @contextmanager
    def changing(self, names: Sequence[str] = ()) -> Iterator[dict[str, Entry]]:
        """Yield the entries to be changed, and write them after the block.

        Args:
            names: Entries that must exist.

        Raises:
            RejectedError: One does not; nothing is changed.
            UnavailableError: The file cannot be written; it is unchanged.
        """
        if names and not self.path.exists():
            raise RejectedError(
                f"no {self._kind} of {names[0]} in {self.path}: there is no {self._kind} yet"
            )
        make_directory(self.path.parent)
        with in_turn(self.path.with_suffix(".lock")):  # or the last of two keeps its own alone
            entries = self.read()
            missing = sorted(set(names) - entries.keys())
            if missing:
                raise RejectedError(
                    f"no {self._kind} of {', '.join(missing)} in {self.path}; `wayseal-gateway "
                    f"{self._kind} --list` shows the names"
                )
            yield entries
            for name, entry in entries.items():
                if "check" in entry or "made" in entry:
                    entry["check"] = _check(name, entry)
            text = json.dumps(entries, indent=2) + "\n"
            draft = self.path.with_suffix(".new")
            write_file(self.path, text.encode(), temporary=draft, mode=OWNER_ONLY)

    def _parsed(self, wire: bytes) -> dict[str, Entry]:
        """Return the entries with a right checksum, or without one if the file is whole JSON.

        Raises:
            ValueError: There is no entry, and the file is not an empty list.
        """
        try:
            entries: dict[str, Entry] = json.loads(wire)
            good = {name: each for name, each in entries.items() if _is_right(name, each)}
            bad = len(entries) - len(good)
        except ValueError:
            good = dict(_entries_alone(wire))
            if not good:
                raise
            bad = 1
        if bad:
            self._damage.lost(
                f"{self._kind} file {self.path}: at least {bad} of its entries is damaged and "
                f"admits nobody; make that {self._kind} again "
                f"(intact: {', '.join(good) or 'none'})"
            )
        return good


def _entries_alone(wire: bytes) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of a file that is not JSON as a whole, if they have the right checksum."""
    for found in _ENTRY.finditer(wire):
        try:
            ((name, entry),) = json.loads(b"{" + found.group() + b"}").items()
        except ValueError:
            continue
        if isinstance(entry, dict) and "check" in entry and _is_right(name, entry):
            yield name, entry


def _is_right(name: str, entry: Entry) -> bool:
    return "check" not in entry or entry["check"] == _check(name, entry)


def _check(name: str, entry: Entry) -> str:
    """Return the checksum of an entry under its name."""
    rest = {key: value for key, value in entry.items() if key != "check"}
    return hashlib.sha256(json.dumps([name, rest], sort_keys=True).encode()).hexdigest()[:16]
