"""Writes the archive that a Linux kernel unpacks into memory as its first root.

Source: Documentation/driver-api/early-userspace/buffer-format.rst ("newc").
"""

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final, Self

_MAGIC: Final = "070701"
_TRAILER: Final = "TRAILER!!!"
_ALIGNMENT: Final = 4


class CpioWriter:
    """Appends files, one after the other; everything belongs to root.

    Args:
        out: Where the archive goes.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._member(_TRAILER, 0, b"")

    def directory(self, name: str) -> None:
        """Add a directory; its parents come before."""
        self._member(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes, *, executable: bool = False) -> None:
        """Add a file."""
        self._member(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        self._member(name, stat.S_IFLNK | 0o777, target.encode())

    def console(self) -> None:
        """Add /dev/console, which the kernel opens before anything is mounted."""
        self.directory("dev")
        self._member("dev/console", stat.S_IFCHR | 0o600, b"", device=(5, 1))

    def tree(self, root: Path, paths: Iterable[Path]) -> None:
        """Add files, links and directories below `root` under their own names."""
        for path in paths:
            name = path.relative_to(root).as_posix()
            if path.is_symlink():
                self.link(name, str(path.readlink()))
            elif path.is_dir():
                self.directory(name)
            elif path.is_file():
                executable = bool(path.stat().st_mode & stat.S_IXUSR)
                self.file(name, path.read_bytes(), executable=executable)

    def _member(self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> None:
        self._count += 1
        encoded = name.encode() + b"\0"
        links, mtime, user, group, check = 1, 0, 0, 0, 0
        fields = (
            *(self._count, mode, user, group, links, mtime, len(data)),
            *(0, 0, *device, len(encoded), check),
        )
        head = _MAGIC + "".join(f"{field:08x}" for field in fields)
        self._out.write(_padded(head.encode() + encoded))
        self._out.write(_padded(data))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNMENT)
