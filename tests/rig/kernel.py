"""Takes a Debian kernel apart: the image that boots without unpacking itself, and its modules."""

import lzma
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

_SECTOR_BYTES: Final = 512
_SETUP_SECTORS: Final = struct.Struct("<B")
_SETUP_SECTORS_AT: Final = 0x1F1
_PAYLOAD: Final = struct.Struct("<II")  # offset behind the setup, length
_PAYLOAD_AT: Final = 0x248
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ELF: Final = b"\x7fELF"
_LENGTH_BYTES: Final = 4  # of the unpacked image, behind the packed one
PACKED: Final = ".xz"
_DEPENDS: Final = re.compile(rb"(?:^|\0)depends=([^\0]*)\0")


def vmlinux(bzimage: bytes) -> bytes:
    """Return the kernel that is packed inside a bzImage; the bzImage if it is packed with zstd.

    Emulated, it would take ten seconds to unpack itself; QEMU boots the bare one over PVH. Python
    3.11 cannot unpack zstd, so a newer kernel does that itself.
    Source: Documentation/arch/x86/boot.rst, payload_offset.

    Raises:
        ValueError: It is packed in another way than Debian's are.
    """
    (sectors,) = _SETUP_SECTORS.unpack_from(bzimage, _SETUP_SECTORS_AT)
    offset, length = _PAYLOAD.unpack_from(bzimage, _PAYLOAD_AT)
    start = (sectors + 1) * _SECTOR_BYTES + offset
    packed = bzimage[start : start + length - _LENGTH_BYTES]
    if packed.startswith(_ZSTD):
        return bzimage
    try:
        kernel = lzma.decompress(packed)
    except lzma.LZMAError:
        kernel = b""
    if not kernel.startswith(_ELF):
        raise ValueError(f"expected a kernel packed with xz or zstd, got {packed[:6]!r}")
    return kernel


def modules(directory: Path) -> dict[str, Path]:
    """Return every module below a directory by the name that other modules know it by."""
    found = (*directory.rglob("*.ko"), *directory.rglob(f"*.ko{PACKED}"))
    return {_name(path): path for path in sorted(found)}


def built_in(directory: Path) -> set[str]:
    """Return the names of the modules that are part of the kernel itself."""
    lists = directory.rglob("modules.builtin")
    return {_name(Path(line)) for each in lists for line in each.read_text("ascii").splitlines()}


def bare_module(path: Path) -> bytes:
    """Return a module as the kernel loads it; backports pack theirs with xz."""
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == PACKED else content


def in_order(wanted: Iterable[str], known: Mapping[str, Path]) -> list[Path]:
    """Return the modules and all that they need, each behind those that it needs.

    Raises:
        KeyError: The kernel has no such module.
    """
    order: dict[str, Path] = {}
    for name in map(_known, wanted):
        _add(name, known, order)
    return list(order.values())


def _add(name: str, known: Mapping[str, Path], order: dict[str, Path]) -> None:
    if name not in order:
        for needed in _needs(bare_module(known[name])):
            _add(needed, known, order)
        order[name] = known[name]


def _needs(module: bytes) -> Iterator[str]:
    found = _DEPENDS.search(module)
    if found and found[1]:
        yield from map(_known, found[1].decode("ascii").split(","))


def _name(path: Path) -> str:
    return _known(path.name.partition(".")[0])


def _known(name: str) -> str:
    return name.replace("-", "_")
