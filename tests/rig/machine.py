"""The machine: QEMU without KVM, its drives, and what may happen to it while it runs."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rig.image import Image

CONSOLE: Final = "console.log"
PACKAGES: Final = ("qemu-system-x86",)
MEMORY_MIB: Final = 1024
DRIVE_BYTES: Final = 1 << 30
# Emulated, guards against leaks between processes cost time and guard nothing; the clock that the
# kernel would fall back to costs an exit from the emulation for each look at it.
# Host and target are one kernel here: what nvme-tcp sends without a copy may reach over two huge
# pages, which the target's check of the copy takes for a leak, and dies (openebs/mayastor #1693).
KERNEL_OPTIONS: Final = (
    "console=ttyS0 loglevel=4 panic=-1 mitigations=off tsc=reliable hardened_usercopy=off"
)
# Emulated, vector instructions cost more than they save: SHA-256 took 2.4 times as long with AVX.
CPU: Final = "max,-avx,-avx2"
LOOK_S: Final = 0.2
SUCCESS: Final = 0x10
"""What PID 1 writes to the exit port for success; failures are numbers above it."""
DRIVES: Final = {
    "pcie": "nvme,serial=RIGNVME0,id=pcie",
    "spare": "nvme,serial=RIGSPARE0,bus=bay,id=spare",
    "ssd": "ide-hd,serial=RIGSSD0,bus=ide.0,rotation_rate=1,id=ssd",
    "hdd": "ide-hd,serial=RIGHDD0,bus=ide.1,rotation_rate=7200,id=hdd",
    "target": "virtio-blk-pci,serial=RIGTARGET0,id=target",
    "usb": "usb-storage,serial=RIGUSB0,bus=xhci.0,id=usb",
}
"""Device of each drive; the guest finds them by their serials."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Directories of the host that the guest sees.

    Attributes:
        repo: The checkout, read only.
        site: The virtual environment's packages, read only.
        results: What the guest writes.
    """

    repo: Path
    site: Path
    results: Path


def qemu(root: Path) -> list[str]:
    """Return how an unpacked QEMU is started: by its own loader, with its own libraries."""
    libraries = (root / "lib/x86_64-linux-gnu", root / "usr/lib/x86_64-linux-gnu")
    roms = (root / "usr/share/qemu", root / "usr/share/seabios", root / "usr/lib/ipxe/qemu")
    return [
        *("env", f"QEMU_MODULE_DIR={libraries[1] / 'qemu'}"),
        str(root / "lib64/ld-linux-x86-64.so.2"),
        *("--library-path", ":".join(map(str, libraries))),
        str(root / "usr/bin/qemu-system-x86_64"),
        *(word for rom in roms for word in ("-L", str(rom))),
    ]


def arguments(image: Image, shares: Shares, run: Path, scenarios: list[str]) -> list[str]:
    """Return QEMU's arguments; whatever they name is below `run`, its working directory."""
    return [
        *("-machine", "q35", "-cpu", CPU, "-accel", "tcg,thread=multi", "-smp", "2"),
        *("-m", str(MEMORY_MIB), "-nodefaults", "-no-reboot", "-display", "none"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd)),
        *("-append", " ".join([KERNEL_OPTIONS, "--", *scenarios])),
        *("-chardev", f"file,id=console,path={shares.results / CONSOLE},append=on"),
        *("-serial", "chardev:console"),
        *("-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"),
        *_share("repo", shares.repo, readonly=True),
        *_share("site", shares.site, readonly=True),
        *_share("results", shares.results, readonly=False),
        *_monitor_for_the_guest(),
        *("-device", "qemu-xhci,id=xhci", "-device", "pcie-root-port,id=bay"),
        *(word for name in DRIVES for word in _drive(name, run)),
    ]


def _share(tag: str, path: Path, *, readonly: bool) -> list[str]:
    how = "security_model=none,readonly=on" if readonly else "security_model=none"
    return ["-virtfs", f"local,path={path},mount_tag={tag},{how},multidevs=remap"]


def _monitor_for_the_guest() -> list[str]:
    """Let the guest speak to QEMU's monitor: a scenario pulls out a drive by itself."""
    return [
        *("-chardev", "socket,id=monitor,path=monitor.sock,server=on,wait=off"),
        *("-mon", "chardev=monitor,mode=control"),
        *("-chardev", "socket,id=port,path=monitor.sock"),
        *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=port,name=monitor"),
    ]


def _drive(name: str, run: Path) -> list[str]:
    medium = run / f"{name}.img"
    medium.unlink(missing_ok=True)
    with medium.open("wb") as made:
        made.truncate(DRIVE_BYTES)
    file = f"file.driver=file,file.filename={medium.name}"
    # A flush of the guest's need not reach this machine's own disk.
    backend = f"driver=raw,node-name={name}-medium,{file},cache.no-flush=on,discard=unmap"
    return ["-blockdev", backend, "-device", f"{DRIVES[name]},drive={name}-medium"]


@contextmanager
def running(command: list[str], run: Path) -> Iterator[subprocess.Popen[str]]:
    """Run QEMU in the directory `run`; it ends with this process, however that ends."""
    keeper = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    with subprocess.Popen(  # noqa: S603 - our own QEMU
        [*keeper, *command],
        cwd=run,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as machine:
        try:
            yield machine
        finally:
            machine.kill()


def wait(machine: subprocess.Popen[str], late: Callable[[], str]) -> tuple[int | None, str]:
    """Wait for the machine's end.

    Args:
        machine: As it runs.
        late: Says what takes too long, or nothing.

    Returns:
        The exit code of PID 1, or None if it gave none, and the reason.
    """
    while machine.poll() is None:
        reason = late()
        if reason:
            return None, reason
        time.sleep(LOOK_S)
    ended = machine.returncode
    if ended > 2 * SUCCESS and ended % 2:
        return ended // 2 - SUCCESS, ""
    said = machine.stdout.read().strip() if machine.stdout else ""
    return None, f"the machine ended by itself with {ended}{': ' if said else ''}{said[-500:]}"
