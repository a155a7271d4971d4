"""Makes what the machine boots: a bare kernel, and one archive with all of its root in it."""

import compileall
import hashlib
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Final

from rig.cpio import CpioWriter
from rig.guest.scenario import Kernel
from rig.kernel import PACKED, bare_module, built_in, in_order, modules, vmlinux

PYTHON: Final = f"python{sys.version_info.major}.{sys.version_info.minor}"
GUEST: Final = Path(__file__).parent / "guest"
PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"
PACKAGES: Final = (
    *("dash", "busybox-static", "coreutils", "util-linux", "mount", "sed"),
    *("python3", "nvme-cli", "e2fsprogs", "xfsprogs", "smartmontools", "dmsetup", "iproute2"),
    *("udev", "fio", "cryptsetup-bin"),
)
KERNELS: Final = {
    Kernel.RELEASE: "linux-image-amd64",
    Kernel.BACKPORTS: "linux-image-amd64/{codename}-backports",
}
"""Package of each kernel."""
MODULES: Final = (
    *("virtio_pci", "virtio_blk", "virtio_console", "9pnet_virtio", "9p", "configfs"),
    *("crc32c_generic", "crc32c_intel", "crct10dif_generic", "ext4", "xfs", "loop", "veth"),
    *("ahci", "sd_mod", "nvme", "nvme_tcp", "nvmet", "nvmet_tcp", "dm_mod", "dm_flakey"),
    *("xhci_pci", "usb_storage", "uas", "dm_crypt", "xts", "ecb"),
)
MODULES_MORE: Final = {
    Kernel.RELEASE: (),
    Kernel.BACKPORTS: ("nvme_fc", "nvmet_fc", "nvme_fcloop"),
}
"""Debian 12's own kernel has no loop for Fibre Channel."""
MODULES_LATER: Final = {
    Kernel.RELEASE: ("i2c_dev", "i2c_stub", "bmp280_i2c", "vivid"),
    Kernel.BACKPORTS: (),
}
"""What a scenario loads by itself, with parameters."""
LEFT_OUT: Final = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/perl"),
    *("usr/share/bash-completion", "usr/share/lintian", "usr/lib/x86_64-linux-gnu/perl"),
    *("usr/share/perl5", "lib/udev/hwdb.d", "lib/modules", "boot", "usr/share/zoneinfo"),
    *("usr/lib/x86_64-linux-gnu/perl-base", "usr/lib/x86_64-linux-gnu/gconv"),
    *("lib/systemd/network", "lib/systemd/system/"),
    *("usr/lib/x86_64-linux-gnu/libperl.so", "usr/bin/perl"),
)
APPLETS: Final = ("insmod",)
COMMAND: Final = "#!/usr/bin/python3\nfrom {module} import {function}\n{function}()\n"
MOUNTS: Final = ("proc", "sys", "repo", "site", "results", "mnt")


@dataclass(frozen=True, slots=True)
class Image:
    """What QEMU is given to boot."""

    kernel: Path
    initrd: Path


def make_image(root: Path, unpacked: Path, directory: Path, kernel: Kernel) -> Image:
    """Make kernel and archive from unpacked packages; taken as they are if nothing changed.

    Args:
        root: Of the unpacked packages.
        unpacked: Root of the unpacked kernel.
        directory: Where kernel and archive go.
        kernel: Which one it is.

    Raises:
        ValueError: The packages are not what the machine needs; says why.
    """
    image = Image(directory / "vmlinux", directory / "initrd.cpio")
    stamp = directory / "stamp"
    wanted = _fingerprint(root, unpacked)
    if not stamp.exists() or stamp.read_text() != wanted:
        _require_python(root)
        directory.mkdir(exist_ok=True)
        _compile(root)
        (packed,) = (unpacked / "boot").glob("vmlinuz-*")
        image.kernel.write_bytes(vmlinux(packed.read_bytes()))
        with image.initrd.open("wb") as out, CpioWriter(out) as archive:
            _fill(archive, root, unpacked / "lib/modules", kernel)
        stamp.write_text(wanted)
    return image


def _fill(archive: CpioWriter, root: Path, drivers: Path, kernel: Kernel) -> None:
    archive.console()
    archive.tree(root, _kept(root))
    for name in MOUNTS:
        archive.directory(name)
    inside, known = built_in(drivers), modules(drivers)
    first = (*MODULES, *MODULES_MORE[kernel])
    order = in_order((name for name in first if name not in inside), known)
    _modules(archive, "modules", order)
    later = in_order(MODULES_LATER[kernel], known)
    _modules(archive, "modules/later", [each for each in later if each not in order])
    for applet in APPLETS:
        archive.link(f"sbin/{applet}", "/bin/busybox")
    for command, place in _scripts().items():
        begin, function = place.split(":")
        text = COMMAND.format(module=begin, function=function)
        archive.file(f"usr/bin/{command}", text.encode(), executable=True)
    archive.file("init", (GUEST / "init").read_bytes(), executable=True)


def _modules(archive: CpioWriter, directory: str, order: Iterable[Path]) -> None:
    """Add modules, and a list of them in the order in which they are loaded."""
    archive.directory(directory)
    names = ""
    for module in order:
        name = module.name.removesuffix(PACKED)
        archive.file(f"{directory}/{name}", bare_module(module))
        names += f"{name}\n"
    archive.file(f"{directory}/order", names.encode())


def _require_python(root: Path) -> None:
    """Check that the packages of this virtual environment run in the guest, which has Debian's."""
    there = (root / "usr/bin/python3").readlink().name
    if there != PYTHON:
        raise ValueError(
            f"Debian's Python here is {there}, the virtual environment's {PYTHON}: its packages "
            f"would not run in the machine; make it with PYTHON={there}"
        )


def _compile(root: Path) -> None:
    """Compile the guest's own Python, as the installation of a package would have done."""
    compileall.compile_dir(
        root / "usr/lib" / PYTHON,
        quiet=2,
        stripdir=root,
        prependdir="/",
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,  # the archive keeps no times
    )


def _scripts() -> dict[str, str]:
    """Return the project's commands and where each begins."""
    scripts: dict[str, str] = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["scripts"]
    return scripts


def _kept(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if not path.relative_to(root).as_posix().startswith(LEFT_OUT):
            yield path


def _fingerprint(*roots: Path) -> str:
    made_by = [(root.parent / "stamp").read_bytes() for root in roots]
    made_by += [
        path.read_bytes() for path in (PROJECT, GUEST / "init", *sorted(GUEST.parent.glob("*.py")))
    ]
    return hashlib.sha256(b"".join(made_by)).hexdigest()
