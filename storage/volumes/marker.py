"""Which volume this is, and whose: files with random ids at its root, remembered by the gateway.

A volume that fails over to another machine while the first gateway still runs would have two
that remove each other's parts; so it belongs to one, known by the id of its data directory. No
lock is held on the volume: an open file there would keep a dead file system from being unmounted.

An empty mount point, or another drive under the same path, is thus never taken
for the volume: recordings would seem lost, and new ones would go where nobody
looks for them.
"""

import re
import secrets
import threading
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.files import disk_errors, locked, write_file
from storage.disk import FILE_MODE

MARKER: Final = ".wayseal-volume"
OWNER: Final = ".wayseal-owner"
"""At the root of a volume, and beside the gateway's memory of volumes: no volume has that name."""
_TAKING: Final = ".wayseal-taking"
_OWNING: Final = threading.Lock()
"""Volumes are looked at by threads of their own, and share the gateway's id."""
_ID: Final = re.compile(r"[0-9a-f]{32}")


class Identity:
    """Knows a volume by its marker, and whether it is ours.

    Args:
        root: The volume's directory.
        memory: File in which the gateway remembers the id; its own id is kept beside it.
    """

    def __init__(self, root: Path, memory: Path) -> None:
        self._name = memory.name
        self._marker = root / MARKER
        self._owner = root / OWNER
        self._taking = root / _TAKING
        self._memory = memory

    @property
    def known(self) -> bool:
        """Say whether the volume was seen before.

        Raises:
            UnavailableError: The gateway's own disk failed.
        """
        return _read(self._memory) is not None

    def check(self) -> None:
        """Make sure that the volume is the one that it was; a new one gets its id.

        A volume that has an id already, while the gateway remembers none, is taken as it is: the
        gateway's data directory is new, or forgot on purpose. One without an owner is ours from
        then on.

        Raises:
            UnavailableError: The marker is missing or another one, the volume belongs to another
                gateway, or a disk failed.
        """
        found, expected = _read(self._marker), _read(self._memory)
        if expected is None:
            self._own()
            _write(self._memory, found or self._mark())
        elif found is None:
            raise UnavailableError(
                f"its marker {self._marker} is missing: it is not mounted, or was wiped"
            )
        elif found != expected:
            raise UnavailableError(
                f"another volume is in its place: {self._marker} says {found}, expected {expected}"
            )
        else:
            self._own()

    def _own(self) -> None:
        """Make sure that the volume is ours; the lock is for others on this machine."""
        ours, owner = self._gateway(), _read(self._owner)
        if owner is None:
            with locked(self._taking, "another gateway takes the volume"):
                owner = _read(self._owner) or ours
                _write(self._owner, owner)
        if owner != ours:
            raise UnavailableError(
                f"volume {self._name} belongs to gateway {owner}, and this is {ours}: "
                f"if that one is gone for good, remove {self._owner} to take it over"
            )

    def _gateway(self) -> str:
        memory = self._memory.with_name(OWNER)
        with _OWNING:
            known = _read(memory)
            if known is None:
                known = secrets.token_hex(16)
                _write(memory, known)
        return known

    def _mark(self) -> str:
        made = secrets.token_hex(16)
        _write(self._marker, made)
        return made


def _read(path: Path) -> str | None:
    with disk_errors("read", path):
        try:
            text = path.read_text("ascii", "replace").strip()
        except FileNotFoundError:
            return None
    if not _ID.fullmatch(text):
        raise UnavailableError(f"{path} must hold 32 hexadecimal digits, got {text[:40]!r}")
    return text


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.new")
    write_file(path, f"{text}\n".encode("ascii"), temporary=temporary, mode=FILE_MODE)
