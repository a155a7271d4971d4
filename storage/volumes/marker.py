"""The identity and the owner of a volume: files with random ids at its root.

The gateway remembers the id. So an empty mount point, or another drive under the same path, is
never taken for the volume: recordings would seem lost, and new ones would go where no gateway
looks.

The owner is the gateway that uses the volume, known by the id of its data directory. If a volume
failed over to another machine while the first gateway still runs, two gateways would delete each
other's parts. No lock is held on the volume: an open file would keep a dead file system from being
unmounted.
"""

import re
import secrets
import threading
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import disk_errors, locked, write_file
from storage.disk import FILE_MODE

MARKER: Final = ".wayseal-volume"
OWNER: Final = ".wayseal-owner"
"""At the root of a volume, and beside the gateway's memory of volumes; not a valid volume name."""
_TAKING: Final = ".wayseal-taking"
_OWNING: Final = threading.Lock()
"""Each volume has threads of its own, and all share the file with the gateway's id."""
_ID: Final = re.compile(r"[0-9a-f]{32}")


class Identity:
    """Checks a volume's marker and owner.

    Args:
        root: The volume's directory.
        memory: File in which the gateway remembers the id; the gateway's own id is beside it.
        shared: Whether other gateways may use it too, so that it has no owner.
    """

    def __init__(self, root: Path, memory: Path, *, shared: bool = False) -> None:
        self._shared = shared
        self._name = memory.name
        self._marker = root / MARKER
        self._owner = root / OWNER
        self._taking = root / _TAKING
        self._memory = memory

    @property
    def known(self) -> bool:
        """Return whether the volume was seen before.

        Raises:
            UnavailableError: The gateway's own disk failed.
        """
        return _read(self._memory) is not None

    def check(self) -> None:
        """Check that this is the remembered volume; a new volume gets an id.

        If the gateway remembers no id, any volume is accepted: the gateway's data directory is new,
        or the id was deleted on purpose. A volume without an owner becomes ours.

        Raises:
            UnavailableError: The marker is missing or another one, the volume belongs to another
                gateway, or a disk failed.
        """
        found, expected = _read(self._marker), _read(self._memory)
        if expected is None:
            self._own()
            _write(self._memory, found or self._mark())
        else:
            self._compare(found, expected)
            self._own()

    def look(self) -> None:
        """Check that this is the remembered volume, if any; write nothing.

        Raises:
            UnavailableError: The marker is missing or another one, or a disk failed.
        """
        expected = _read(self._memory)
        if expected is not None:
            self._compare(_read(self._marker), expected)

    def look_for_owner(self) -> None:
        """Check that no other gateway owns the volume; write nothing.

        Raises:
            UnavailableError: Another gateway does, or a disk failed.
        """
        ours, owner = _read(self._memory.with_name(OWNER)), _read(self._owner)
        if owner is not None and ours is not None:
            self._check_owner(owner, ours)

    def _compare(self, found: str | None, expected: str) -> None:
        if found is None:
            raise UnavailableError(
                f"its marker {self._marker} is missing: it is not mounted, or was wiped (if it is "
                f"new for good: stop the gateway and remove {self._memory})"
            )
        if found != expected:
            raise UnavailableError(
                f"another volume is in its place: {self._marker} says {found}, expected {expected}"
            )

    def _own(self) -> None:
        """Check that the volume is ours; the lock keeps out other gateways on this machine."""
        if self._shared:
            return
        ours, owner = self._gateway(), _read(self._owner)
        if owner is None:
            with locked(self._taking, "another gateway is taking the volume"):
                owner = _read(self._owner) or ours
                _write(self._owner, owner)
        self._check_owner(owner, ours)

    def _check_owner(self, owner: str, ours: str) -> None:
        if owner != ours:
            raise UnavailableError(
                f"volume {self._name} belongs to gateway {owner}, and this is {ours}: "
                f"if that gateway is gone for good, remove {self._owner} to take the volume over"
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
