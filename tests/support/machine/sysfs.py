"""Recorded trees of sysfs and procfs, built piece by piece as kernel 6.1 lays them out."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storage.drives.kernel import Kernel

STAT = "{reads} 0 {read} {read_ms} {writes} 0 {written} {write_ms} 0 {busy_ms} 0 0 0 0 0 0 0"
"""A block device's `stat`, sectors of 512 bytes."""


@dataclass
class Machine:
    """Writes trees below `root`; `kernel` reads them."""

    root: Path
    mounted: list[str] = field(default_factory=list)
    numbers: int = 0

    def __post_init__(self) -> None:
        for name in ("block", "class/block", "class/nvme", "dev/block", "class/net"):
            (self.root / "sys" / name).mkdir(parents=True)
        (self.root / "proc" / "self").mkdir(parents=True)
        (self.root / "proc" / "net").mkdir()
        self.mount("0:21", "/proc", "proc", "proc")

    @property
    def kernel(self) -> Kernel:
        return Kernel(self.root / "sys", self.root / "proc", self.root / "udev", self.root / "run")

    def write(self, where: str, **attributes: object) -> Path:
        """Write attributes into a directory of sysfs, made if it is missing; `__` is a slash."""
        place = self.root / "sys" / where
        place.mkdir(parents=True, exist_ok=True)
        for name, value in attributes.items():
            file = place / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(value, bytes):
                file.write_bytes(value)
            else:
                file.write_text(f"{value}\n", "utf-8")
        return place

    def link(self, where: str, target: str) -> None:
        """Make a link in sysfs, relative as the kernel's are."""
        link = self.root / "sys" / where
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(self.root / "sys" / target, link.parent))

    def disk(
        self,
        where: str,
        device: str = "",
        *,
        gib: int = 1,
        rotational: int = 0,
        **attributes: object,
    ) -> str:
        """Make a disk below its parent device; return its number."""
        name = Path(where).name
        number = f"259:{self.numbers}"
        self.numbers += 1
        self.write(
            where,
            dev=number,
            size=gib << 21,
            ro=0,
            removable=0,
            hidden=0,
            queue__rotational=rotational,
            stat=STAT.format(
                reads=0, read=0, read_ms=0, writes=0, written=0, write_ms=0, busy_ms=0
            ),
        )
        self.write(where, **attributes)
        if device:
            self.link(f"{where}/device", device)
        self.link(f"block/{name}", where)
        self._known(name, where, number)
        return number

    def partition(self, disk: str, name: str, *, gib: int = 1) -> str:
        """Make a partition of a disk that is there; return its number."""
        place = os.path.realpath(self.root / "sys" / "block" / disk)
        where = f"{os.path.relpath(place, os.path.realpath(self.root / 'sys'))}/{name}"
        number = f"259:{self.numbers}"
        self.numbers += 1
        self.write(where, dev=number, size=gib << 21, ro=0, partition=1)
        self._known(name, where, number)
        return number

    def mount(
        self, number: str, point: str, kind: str, source: str, options: str = "rw", root: str = "/"
    ) -> None:
        """Mount something, after all that is mounted already."""
        self.mounted.append(f"40 1 {number} {root} {point} rw,relatime - {kind} {source} {options}")
        path = self.root / "proc" / "self" / "mountinfo"
        path.write_text("\n".join(self.mounted) + "\n", "utf-8")

    def unmount(self, point: str) -> None:
        """Undo the last mount there."""
        last = max(at for at, line in enumerate(self.mounted) if line.split()[4] == point)
        del self.mounted[last]
        path = self.root / "proc" / "self" / "mountinfo"
        path.write_text("\n".join(self.mounted) + "\n", "utf-8")

    def nvme_pcie(self, at: str = "0000:01:00.0", name: str = "nvme0") -> str:
        """Make a local NVMe drive without multipath; return the number of its disk."""
        pci = f"devices/pci0000:00/0000:00:1d.0/{at}"
        self.write(
            pci,
            current_link_speed="8.0 GT/s PCIe",
            current_link_width=4,
            max_link_speed="16.0 GT/s PCIe",
            max_link_width=4,
        )
        place = f"{pci}/nvme/{name}"
        self.write(
            place,
            subsysnqn=f"nqn.2014.08.org.nvmexpress:144d144d{name}",
            transport="pcie",
            state="live",
            address=at,
            model="Samsung SSD 980 PRO 1TB                 ",
            serial="S5GXNX0T123456      ",
            firmware_rev="5B2QGXA7",
        )
        self.link(f"{place}/device", pci)
        self.link(f"class/nvme/{name}", place)
        return self.disk(f"{place}/{name}n1", place, gib=931)

    def controller(self, name: str, nqn: str, address: str, **attributes: object) -> str:
        """Make a connection over TCP; return its directory."""
        place = f"devices/virtual/nvme-fabrics/ctl/{name}"
        self.write(
            place,
            **{
                "subsysnqn": nqn,
                "transport": "tcp",
                "state": "live",
                "address": address,
                "reconnect_delay": 2,
                "ctrl_loss_tmo": "off",
                "fast_io_fail_tmo": 10,
                "kato": 5,
                "model": "Linux",
                "serial": "deadbeef01",
                "firmware_rev": "6.1.0-18",
                **attributes,
            },
        )
        self.link(f"class/nvme/{name}", place)
        return place

    def head(self, nqn: str, controllers: Mapping[str, str | None], subsystem: int = 1) -> str:
        """Make a multipath head and its hidden paths; return its number.

        Args:
            nqn: Of the subsystem.
            controllers: ANA state of the path through each; None has no path.
            subsystem: Its number.
        """
        place = f"devices/virtual/nvme-subsystem/nvme-subsys{subsystem}"
        self.write(place, subsysnqn=nqn, model="Linux", serial="deadbeef01", iopolicy="numa")
        self.link(f"class/nvme-subsystem/nvme-subsys{subsystem}", place)
        for name, ana_state in controllers.items():
            if ana_state is not None:
                own = f"devices/virtual/nvme-fabrics/ctl/{name}"
                hidden = f"{own}/nvme{subsystem}c{name.removeprefix('nvme')}n1"
                self.disk(hidden, own, hidden=1, ana_state=ana_state)
        return self.disk(f"{place}/nvme{subsystem}n1", place, gib=2000)

    def set(self, name: str, **attributes: object) -> None:
        """Change attributes of a controller."""
        self.write(f"class/nvme/{name}", **attributes)

    def sata(self, name: str, port: int, *, rotational: int, model: str) -> str:
        """Make a SATA drive; return its number."""
        ata = f"devices/pci0000:00/0000:00:17.0/ata{port}"
        self.write(
            f"{ata}/link{port}/ata_link/link{port}", sata_spd="6.0 Gbps", sata_spd_limit="6.0 Gbps"
        )
        place = f"{ata}/host{port}/target{port}:0:0/{port}:0:0:0"
        self.write(
            place,
            type=0,
            vendor="ATA     ",
            model=model[:16],
            rev="1234",
            vpd_pg80=b"\x00\x80\x00\x14" + b"SERIAL".rjust(20),
            vpd_pg89=identify(model, "SERIAL", "FW123456"),
        )
        return self.disk(f"{place}/block/{name}", place, gib=3726, rotational=rotational)

    def usb_stick(self, name: str) -> str:
        """Make a USB stick; return its number."""
        usb = "devices/pci0000:00/0000:00:14.0/usb2/2-1"
        self.write(usb, idVendor="0781", idProduct="5581", speed=5000, serial="4C53000")
        place = f"{usb}/2-1:1.0/host6/target6:0:0/6:0:0:0"
        self.write(place, type=0, vendor="SanDisk ", model="Ultra           ", rev="1.00")
        return self.disk(f"{place}/block/{name}", place, gib=57, rotational=1, removable=1)

    def virtio(self, name: str) -> str:
        """Make a virtual disk; return its number."""
        place = "devices/pci0000:00/0000:00:02.0/virtio1"
        self.write(place, vendor="0x1af4", device="0x0002")
        return self.disk(f"{place}/block/{name}", place, gib=20, serial="disk-1", rotational=1)

    def loop(self, name: str, file: str) -> str:
        """Make a loop device over a file; return its number."""
        return self.disk(f"devices/virtual/block/{name}", loop__backing_file=file)

    def dm(self, name: str, below: str, uuid: str, title: str) -> str:
        """Make a device of the device mapper upon another one; return its number."""
        number = self.disk(f"devices/virtual/block/{name}", dm__name=title, dm__uuid=uuid)
        self.link(f"devices/virtual/block/{name}/slaves/{below}", f"class/block/{below}")
        return number

    def card(self, name: str, mbit: int) -> None:
        """Make a network card."""
        self.write(f"class/net/{name}", speed=mbit)

    def routes(self, *rows: str) -> None:
        """Write /proc/net/route: card, destination and mask in hexadecimal, lowest byte first."""
        lines = ["Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT"]
        for row in rows:
            card, target, mask = row.split()
            lines.append(f"{card}\t{target}\t00000000\t0001\t0\t0\t0\t{mask}\t0\t0\t0")
        (self.root / "proc" / "net" / "route").write_text("\n".join(lines) + "\n", "ascii")

    def _known(self, name: str, where: str, number: str) -> None:
        self.link(f"class/block/{name}", where)
        self.link(f"dev/block/{number}", where)


def identify(model: str, serial: str, firmware: str) -> bytes:
    """Return page 89h of a SATA drive: 60 bytes of SAT, then IDENTIFY DEVICE."""
    words = bytearray(512)
    for start, end, said in ((10, 20, serial), (23, 27, firmware), (27, 47, model)):
        padded = said.ljust(2 * (end - start)).encode("ascii")
        for at in range(0, len(padded), 2):
            words[2 * start + at : 2 * start + at + 2] = padded[at : at + 2][::-1]
    return b"\x00\x89\x02\x38" + bytes(56) + bytes(words)
