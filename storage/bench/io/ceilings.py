"""The ceiling of a link, from its state as the kernel reports it."""

import re
from collections.abc import Sequence
from typing import Final

from storage.bench.run.outcome import Ceiling
from storage.drives.devices import Device

_BITS_PER_BYTE: Final = 8
_MIXED: Final = (8, 10)
_BLOCKS: Final = (128, 130)
_PCIE: Final = {
    "2.5": _MIXED, "5.0": _MIXED, "8.0": _BLOCKS, "16.0": _BLOCKS, "32.0": _BLOCKS,
    "64.0": (242, 256),
}  # fmt: skip
"""GT/s: payload bits and bits on the wire. Source: PCI Express base specification 6.0, 4.2."""
_USB: Final = {"480 Mb/s": (1, 1), "5 Gb/s": _MIXED, "10 Gb/s": (128, 132), "20 Gb/s": (128, 132)}
"""Source: Universal Serial Bus 3.2 specification, 6.3 and 7.2."""
_SLOWER: Final = re.compile(r" \(can [^)]*\)")
_PCIE_LINK: Final = re.compile(r"PCIe ([\d.]+) GT/s x(\d+)")
_SATA_LINK: Final = re.compile(r"SATA ([\d.]+) Gb/s")
_ONE_WAY_AT_A_TIME: Final = ("SATA ", "USB 480 ")
_RATE: Final = re.compile(r"([\d.]+) ([GM])b/s")
_UNITS: Final = {"G": 1e9, "M": 1e6}


def ceiling(drives: Sequence[Device]) -> Ceiling | None:
    """Return the most bytes per second one way to a directory's drive, protocol overhead included.

    None if the link is unknown, or if several drives share the work.

    Args:
        drives: From the directory's own device down.
    """
    if any(len(each.stands_on) > 1 for each in drives):
        return None
    found = [limit for each in drives if (limit := _of(each)) is not None]
    return min(found, key=lambda each: each.value, default=None)


def half_duplex(limit: Ceiling) -> bool:
    """Tell whether reads and writes share a ceiling: the link carries one way at a time.

    Source: Serial ATA specification 3.5, 9 (transport layer); USB 2.0 specification, 7.1.
    """
    return limit.why.startswith(_ONE_WAY_AT_A_TIME)


def _of(device: Device) -> Ceiling | None:
    link = _SLOWER.sub("", device.link)
    if not link:
        return None
    paths = [_carried(each) for each in link.split(" + ")]
    # Equal words of two local paths are one word in `link`: their sum is not known.
    if any(each is None for each in paths) or (len(device.paths) > 1 and "PCIe" in link):
        return None
    return Ceiling(sum(each[0] for each in paths if each), f"{link}{_coding(paths)}")


def _coding(paths: Sequence[tuple[float, str] | None]) -> str:
    codings = {each[1] for each in paths if each}
    return ", " + " and ".join(sorted(codings)) if any(codings) else ""


def _carried(link: str) -> tuple[float, str] | None:
    """Return bytes per second and the line code of one link; None if it is unknown."""
    if found := _PCIE_LINK.fullmatch(link):
        return _coded(float(found[1]) * 1e9 * int(found[2]), _PCIE.get(found[1]))
    if found := _SATA_LINK.fullmatch(link):
        return _coded(float(found[1]) * 1e9, _MIXED)
    if link.startswith("USB "):
        words = link.removeprefix("USB ")
        return _coded(_bits(words), _USB.get(words))
    return _coded(_bits(link), (1, 1))  # the speed of Ethernet is its payload


def _bits(link: str) -> float:
    found = _RATE.search(link)
    return float(found[1]) * _UNITS[found[2]] if found else 0.0


def _coded(bits_per_s: float, coding: tuple[int, int] | None) -> tuple[float, str] | None:
    if coding is None or not bits_per_s:
        return None
    payload, wire = coding
    words = "" if payload == wire else f"{payload}b/{wire}b"
    return bits_per_s * payload / wire / _BITS_PER_BYTE, words
