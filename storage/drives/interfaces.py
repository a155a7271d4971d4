"""How a disk is attached, and the speed of its link, from its place in the kernel's device tree.

Model, firmware and serial number come with it. SCSI cuts a SATA drive's model after 16 characters
and its firmware after 4. So both are taken from IDENTIFY DEVICE, which the kernel keeps in page 89h
of the drive's vital product data.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from storage.drives.kernel import Kernel, names, number, text
from storage.drives.nvme import NvmePath
from storage.drives.routes import nic_towards, rate

OPTICAL: Final = 5
"""SCSI peripheral device type."""
_VIRTUAL: Final = ("dm", "md", "loop", "zram", "ram", "nbd", "rbd", "drbd", "zd")
_NAMED: Final = re.compile(rf"({'|'.join(_VIRTUAL)})-?\d+")
_ATA: Final = re.compile(r"ata\d+")
_BUSES: Final = (
    ("usb", re.compile(r"usb\d+")),
    ("sata", _ATA),
    ("virtio", re.compile(r"virtio\d+")),
    ("iscsi", re.compile(r"session\d+")),
    ("sas", re.compile(r"end_device-[\d:]+")),
    ("fc", re.compile(r"rport-[\d:-]+")),
    ("mmc", re.compile(r"mmc\d+")),
    ("nvdimm", re.compile(r"ndbus\d+")),
    ("scsi", re.compile(r"target[\d:]+")),
)
"""The first that matches an ancestor of the device is its interface. A SATA drive in a USB case
counts as USB, because that is its link."""
_IDENTIFY_AT: Final = 60
"""Where IDENTIFY DEVICE data begins in page 89h. Source: SAT-4, 12.4.2."""
_IDENTIFY_BYTES: Final = 512


@dataclass(frozen=True, slots=True)
class Attached:
    """How a disk is attached, and its kind.

    Attributes:
        interface: One word, see docs/storage.md: `nvme-tcp`, `nvme-pcie`, `sata-ssd`, `usb`, …
        link: Speed in words, empty if unknown.
        model: As the drive reports it, like firmware and serial; empty if not reported.
    """

    interface: str
    link: str = ""
    model: str = ""
    firmware: str = ""
    serial: str = ""


def attached(kernel: Kernel, disk: str, ways: tuple[NvmePath, ...]) -> Attached:
    """Return how a disk is attached; `ways` are its paths, if it is an NVMe disk."""
    virtual = _NAMED.fullmatch(disk)
    if virtual:
        return Attached(virtual[1])
    if ways:
        return _nvme(kernel, ways)
    place = kernel.block(disk)
    above = [each.name for each in kernel.ancestors(place / "device")]
    bus = next((bus for bus, form in _BUSES if any(map(form.fullmatch, above))), "other")
    if bus == "sata":
        return _sata(kernel, place)
    if bus == "usb":
        return _usb(kernel, place)
    if bus == "virtio" and text(place / "serial"):
        return Attached("virtio", serial=text(place / "serial"))
    return _scsi(place, bus, "")


def _nvme(kernel: Kernel, ways: tuple[NvmePath, ...]) -> Attached:
    kinds = sorted({way.controller.transport for way in ways})
    first = ways[0].controller
    links = [_nvme_link(kernel, way) for way in ways]
    known = sorted({link for link in links if link})
    return Attached(
        "nvme-" + "+".join(kinds).replace("apple-nvme", "pcie"),
        " + ".join(known) if all(links) else "",
        first.model,
        first.firmware,
        first.serial,
    )


def _nvme_link(kernel: Kernel, way: NvmePath) -> str:
    if way.controller.fabric:
        return nic_towards(kernel, way.controller.address)
    pci = kernel.sys / "class" / "nvme" / way.controller.name / "device"
    now, most = (_pcie(pci, which) for which in ("current", "max"))
    slower = now and most and now != most
    return f"{now} (can {most.removeprefix('PCIe ')})" if slower else now


def _pcie(pci: Path, which: str) -> str:
    speed, width = text(pci / f"{which}_link_speed"), text(pci / f"{which}_link_width")
    if not speed or "Unknown" in speed or width in ("", "0"):
        return ""
    return f"PCIe {speed.removesuffix(' PCIe')} x{width}"


def _sata(kernel: Kernel, place: Path) -> Attached:
    port = next(each for each in kernel.ancestors(place / "device") if _ATA.fullmatch(each.name))
    link = _sata_speed(port)
    if number(place / "device" / "type") == OPTICAL:
        return _scsi(place, "sata-optical", link)
    kind = "sata-hdd" if number(place / "queue" / "rotational") else "sata-ssd"
    told = _scsi(place, kind, link)
    try:
        page = (place / "device" / "vpd_pg89").read_bytes()
    except OSError:
        return told
    words = page[_IDENTIFY_AT : _IDENTIFY_AT + _IDENTIFY_BYTES]
    if len(words) < _IDENTIFY_BYTES:
        return told
    # Source: ACS-4, 7.13: serial in words 10 to 19, firmware in 23 to 26, model in 27 to 46.
    return Attached(
        kind,
        link,
        _identified(words, 27, 47) or told.model,
        _identified(words, 23, 27) or told.firmware,
        _identified(words, 10, 20) or told.serial,
    )


def _sata_speed(port: Path) -> str:
    """Return the speed of a port: `6.0 Gb/s`; empty if the link is down or unknown."""
    for link in names(port):
        said = text(port / link / "ata_link" / link / "sata_spd")
        if said.endswith("Gbps"):
            return f"SATA {said.removesuffix('Gbps').strip()} Gb/s"
    return ""


def _identified(words: bytes, start: int, end: int) -> str:
    """Return text of IDENTIFY DEVICE: two characters per word, the first in the higher byte."""
    swapped = bytearray(words[2 * start : 2 * end])
    swapped[0::2], swapped[1::2] = swapped[1::2], swapped[0::2]
    return swapped.decode("ascii", "replace").strip(" \0")


def _usb(kernel: Kernel, place: Path) -> Attached:
    for each in kernel.ancestors(place / "device"):
        if (each / "idVendor").exists():
            mbit = number(each / "speed")
            told = _scsi(place, "usb", f"USB {rate(mbit)}" if mbit else "")
            return replace(told, serial=told.serial or text(each / "serial"))
    return _scsi(place, "usb", "")


def _scsi(place: Path, interface: str, link: str) -> Attached:
    device = place / "device"
    vendor, model = text(device / "vendor"), text(device / "model") or text(device / "name")
    if vendor not in ("", "ATA") and not vendor.startswith("0x"):
        model = f"{vendor} {model}".strip()
    try:
        # Four bytes of header, then the serial. Source: SPC-5, 7.7.18.
        serial = (device / "vpd_pg80").read_bytes()[4:].decode("ascii", "replace").strip(" \0")
    except OSError:
        serial = text(device / "serial")
    return Attached(interface, link, model, text(device / "rev"), serial)
