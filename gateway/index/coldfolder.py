"""The folder of an index's cold files: which file lies where, and whether its disk is there."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from contracts.runtime.files import (
    created,
    disk_errors,
    give_to_owner_of,
    make_directory,
    sync_directory,
)
from gateway.index.coldfile import REINDEX, ColdHead, write_file
from storage.volumes.marker import Identity

_NAME: Final = re.compile(r"(\d{6,})\.db")


class ColdFiles:
    """The folder of the cold files; a folder below it for each generation.

    Args:
        folder: Where they lie.
        memory: File in which the gateway remembers that it has used the folder, if that is on a
            disk that may be away, or that another gateway may see; its own id is beside it.
    """

    def __init__(self, folder: Path, memory: Path | None = None) -> None:
        self.folder = folder
        self._memory = memory
        self._identity = None if memory is None else Identity(folder, memory)

    def look(self) -> None:
        """Check that the folder is there if it was used, and that it is ours; write nothing.

        Raises:
            UnavailableError: It is away, another one, or another gateway's.
        """
        if self._identity is not None:
            with self._named():
                self._identity.look()
                self._identity.look_for_owner()

    def _take(self) -> None:
        """Make and mark the folder if it was never used; check it as `look` does."""
        if self._identity is None or self._memory is None:
            _make(self.folder)
            return
        with self._named():
            known = self._identity.known
            if not known:
                _make(self.folder)
                make_directory(self._memory.parent)
            self._identity.check()
            if not known:
                self._give(self._memory.parent)
                self._give(self.folder)

    def _give(self, folder: Path) -> None:
        """Let the gateway's user read the marks, if root made them."""
        with disk_errors("give away", folder):
            for each in folder.glob(".wayseal-*"):
                give_to_owner_of(folder, each)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except UnavailableError as error:
            raise UnavailableError(
                f"folder of cold files {self.folder}: {error}; mount its disk if it is away"
            ) from error

    def of(self, generation: str) -> Path:
        """Return the folder of a generation."""
        return self.folder / generation

    def path(self, head: ColdHead) -> Path:
        """Return where a file lies."""
        return self.of(head.generation) / f"{head.file:06}.db"

    def numbers(self, generation: str) -> list[int]:
        """Return the numbers of the files that are there, ascending.

        Raises:
            UnavailableError: The folder cannot be read.
        """
        folder = self.of(generation)
        with disk_errors("list", folder):
            names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(found[1]) for found in map(_NAME.fullmatch, names) if found)

    def remove(self, head: ColdHead) -> None:
        """Remove a file that no trip is in any more.

        Raises:
            UnavailableError: It cannot be removed.
        """
        path = self.path(head)
        with disk_errors("remove", path):
            path.unlink(missing_ok=True)

    def remove_others(self, generation: str) -> int:
        """Remove the files of every other generation, and halves of files; return how many.

        In a folder that this gateway never used, all files stay: they are another gateway's.

        Raises:
            UnavailableError: One cannot be removed, or the folder is away or another gateway's.
        """
        removed = 0
        if self._identity is not None and not self._identity.known:
            return removed
        self.look()
        with disk_errors("clear", self.folder):
            for folder in self.folder.iterdir() if self.folder.is_dir() else ():
                if not re.fullmatch(r"[0-9a-f]{16}", folder.name):
                    continue
                if folder.name != generation:
                    removed += _remove_folder(folder)
                    continue
                for half in folder.glob(".*"):
                    half.unlink()
                    removed += 1
        return removed

    def remove_all(self, generation: str) -> None:
        """Remove the files of one generation.

        Raises:
            UnavailableError: One cannot be removed.
        """
        folder = self.of(generation)
        with disk_errors("clear", folder):
            if folder.is_dir():
                _remove_folder(folder)

    def write(self, head: ColdHead, fill: Callable[[Connection], None]) -> Path:
        """Write a file; it appears under its name once it is whole and durable.

        Args:
            head: Which file.
            fill: Adds trips and their readings.

        Raises:
            UnavailableError: The disk is full, failed or away, or another gateway's; nothing of it
                stays.
        """
        path = self.path(head)
        self._take()
        _make(path.parent)
        with created(path) as part:
            write_file(part, head, fill)
        return path

    def replace(self, head: ColdHead, fill: Callable[[Connection], None]) -> None:
        """Write a file in the place of one that is damaged or missing, as `write` does.

        Raises:
            UnavailableError: The disk is full, failed or away; nothing is changed.
        """
        path = self.path(head)
        fresh = path.with_name(f".remade-{path.name}")
        self.look()
        with disk_errors("replace", path):
            if not path.parent.is_dir():
                raise UnavailableError(f"{path.parent} is missing: mount its disk, or {REINDEX}")
            fresh.unlink(missing_ok=True)
            with created(fresh) as part:
                write_file(part, head, fill)
            fresh.replace(path)
            sync_directory(path.parent)


def _make(folder: Path) -> None:
    with disk_errors("make", folder):
        if not folder.is_dir():
            make_directory(folder)
            give_to_owner_of(folder.parent, folder)
            sync_directory(folder.parent)


def _remove_folder(folder: Path) -> int:
    """Remove the folder of a generation; return how many files it had."""
    files = list(folder.iterdir())
    for each in files:
        each.unlink()
    folder.rmdir()
    return len(files)
