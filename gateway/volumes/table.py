"""Prints drives and volumes as text that fits the terminal's width."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.runtime.sizes import size
from gateway.volumes.document import BlockDevice, DrivePath, GatewayVolume, Volumes
from storage.drives.links import Word
from storage.drives.nvme import OPTIMIZED
from storage.drives.reported import MADE_OF_OTHERS

NARROWEST: Final = 60
_GAP: Final = "  "
_NONE: Final = "-"
_TITLES: Final = {
    "nvme-pcie": "NVMe PCIe",
    "nvme-tcp": "NVMe-oF tcp",
    "nvme-rdma": "NVMe-oF rdma",
    "nvme-fc": "NVMe-oF fc",
    "nvme-loop": "NVMe-oF loop",
    "sata-ssd": "SATA SSD",
    "sata-hdd": "SATA HDD",
    "sata-optical": "SATA optical",
    "usb": "USB",
    "iscsi": "iSCSI",
    "sas": "SAS",
    "fc": "Fibre Channel",
    "scsi": "SCSI",
    "mmc": "SD/eMMC",
    "nvdimm": "NVDIMM",
}
_CELL_MIN: Final = 16
_CELL_SHARE: Final = 6
"""A cell takes at most a sixth of the width, so that one long name leaves room for the others."""
_NAMED_MAX: Final = 2
"""Members of a device that are named in the table."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table.

    Attributes:
        title: Its heading.
        rank: If the terminal is too narrow, columns with the highest rank are left out first.
    """

    title: str
    rank: int


_COLUMNS: Final = (
    Column("DEVICE", 0),
    Column("INTERFACE", 0),
    Column("SIZE", 0),
    Column("HEALTH", 1),
    Column("VOLUME", 0),
    Column("MOUNTED ON", 2),
    Column("FS", 3),
    Column("LINK", 4),
    Column("MODEL", 5),
    Column("SERIAL", 6),
    Column("FIRMWARE", 7),
)


def page(volumes: Volumes, width: int | None) -> str:
    """Return the table, then the volumes, links and health in sentences.

    Args:
        volumes: The devices and volumes.
        width: Width of the terminal, characters; None: unlimited, for a file or a program.
    """
    lines = list(_table([_row(each) for each in volumes.devices], width))
    for title, told in (
        ("Volumes of the gateway", [_volume(each, volumes) for each in volumes.volumes]),
        ("Links", list(_links(volumes.devices))),
        ("Health", list(_ailing(volumes.devices))),
    ):
        if told:
            lines += ["", title, *(line for words in told for line in _wrapped(words, width))]
    return "\n".join(lines)


def title_of(interface: str) -> str:
    """Return the name that people use for an interface."""
    return _TITLES.get(interface, interface)


def _row(device: BlockDevice) -> tuple[str, ...]:
    mounted = [
        f"{each.point} (read-only)" if each.read_only else each.point for each in device.mounts
    ]
    own = not device.disk
    drive = own and device.interface not in MADE_OF_OTHERS
    return (
        device.name if own else f"  {device.name}",
        f"{title_of(device.interface)}{_below(device)}" if own else "",
        size(device.size_bytes) if device.size_bytes else _NONE,
        _state(device) if own else "",
        ", ".join(device.volumes) or _NONE,
        ", ".join(mounted) or _NONE,
        device.filesystem or _NONE,
        (device.link_speed or "unknown") if drive else _NONE if own else "",
        (device.model or device.detail or _NONE) if own else "",
        (device.serial or _NONE) if own else "",
        (device.firmware or _NONE) if own else "",
    )


def _below(device: BlockDevice) -> str:
    below = device.stands_on
    if not below:
        return ""
    return f" on {', '.join(below)}" if len(below) <= _NAMED_MAX else f" on {len(below)} devices"


def _state(device: BlockDevice) -> str:
    """Return a drive's state: a link that is not live comes before its health."""
    if device.link and device.link.state != Word.LIVE:
        return f"link {device.link.state}"
    return device.health.verdict if device.health else _NONE


def _table(rows: Sequence[tuple[str, ...]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table; columns that do not fit are left out by rank."""
    cells = [tuple(column.title for column in _COLUMNS), *rows]
    shown = list(range(len(_COLUMNS)))
    if width is not None:
        width = max(width, NARROWEST)
        longest = max(_CELL_MIN, width // _CELL_SHARE)
        cells = [tuple(_cut(text, longest) for text in row) for row in cells]
    wide = [max(len(row[at]) for row in cells) for at in shown]
    while width is not None and sum(wide[at] + len(_GAP) for at in shown) - len(_GAP) > width:
        last = max(shown, key=lambda at: (_COLUMNS[at].rank, at))
        if not _COLUMNS[last].rank:
            break
        shown.remove(last)
    for row in cells:
        yield _GAP.join(row[at].ljust(wide[at]) for at in shown).rstrip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _volume(volume: GatewayVolume, volumes: Volumes) -> str:
    drives = {device.name: device for device in volumes.devices}
    said = f"{volume.name}: {volume.path}"
    if volume.device:
        interface = drives[volume.device].interface if volume.device in drives else "?"
        said += f" on {volume.device} ({title_of(interface)})"
    if volume.mount_point:
        said += f", {volume.filesystem} mounted on {volume.mount_point}"
    said += f"; {volume.note}" if volume.note else ""
    return f"{said}. Problem: {volume.problem}" if volume.problem else said


def _links(devices: Sequence[BlockDevice]) -> Iterator[str]:
    for device in devices:
        if device.link and device.link.state != Word.LIVE:
            yield f"{device.name}: {device.link.words}"
        elif any(path.transport != "pcie" for path in device.paths):
            yield f"{device.name}: live, {', '.join(map(_way, device.paths))}"


def _way(path: DrivePath) -> str:
    """Return one path and what is special about it."""
    ana = path.ana_state if path.ana_state != OPTIMIZED else ""
    more = (ana, "DH-CHAP" if path.dhchap else "", "TLS" if path.tls else "")
    told = ", ".join(each for each in more if each)
    return f"{path.controller} to {path.address}" + (f" ({told})" if told else "")


def _ailing(devices: Sequence[BlockDevice]) -> Iterator[str]:
    for device in devices:
        if device.health and device.health.why:
            yield f"{device.name}: {device.health.verdict}: {', '.join(device.health.why)}"


def _wrapped(words: str, width: int | None) -> list[str]:
    if width is None:
        return [f"  {words}"]
    return textwrap.wrap(
        words,
        max(width, NARROWEST),
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )
