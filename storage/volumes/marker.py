"""Which volume this is: a file with a random id at its root, remembered by the gateway.

An empty mount point, or another drive under the same path, is thus never taken
for the volume: recordings would seem lost, and new ones would go where nobody
looks for them.
"""

import re
import secrets
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.files import disk_errors, write_file
from storage.disk import FILE_MODE

MARKER: Final = ".wayseal-volume"
_ID: Final = re.compile(r"[0-9a-f]{32}")


class Identity:
    """Knows a volume by its marker.

    Args:
        root: The volume's directory.
        memory: File in which the gateway remembers the id.
    """

    def __init__(self, root: Path, memory: Path) -> None:
        self._marker = root / MARKER
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
        gateway's data directory is new, or forgot on purpose.

        Raises:
            UnavailableError: The marker is missing or another one, or a disk failed.
        """
        found, expected = _read(self._marker), _read(self._memory)
        if expected is None:
            found = found or self._mark()
            _write(self._memory, found)
        elif found is None:
            raise UnavailableError(
                f"its marker {self._marker} is missing: it is not mounted, or was wiped"
            )
        elif found != expected:
            raise UnavailableError(
                f"another volume is in its place: {self._marker} says {found}, expected {expected}"
            )

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
