"""Room on the card: whether it takes writes, and how much the buffers may still take of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.sizes import size
from device.journal.status import Use

SPARE_BYTES: Final = 16 << 20
"""Less than this is full: SQLite's log and a batch have to fit."""
_NEARLY_FULL: Final = 0.8
_FAILED_CARD: Final = (
    "a card that fails is mounted so: dmesg | tail; replace it, or if it is sound: "
    "mount -o remount,rw"
)
_MORE_ROOM: Final = "offload at a site, free room there, or take a larger card"


def card(path: Path, may_grow: int) -> Finding:
    """Look at the file system of the data directory.

    Args:
        path: The directory.
        may_grow: Bytes that the buffers may still take.
    """
    try:
        state = os.statvfs(path)
    except OSError as problem:
        return error("card", f"{path} does not tell its free room: {problem}", "look at the card")
    free = state.f_bavail * state.f_frsize
    if state.f_flag & os.ST_RDONLY:
        return error("card", f"{path} is mounted read-only: nothing is recorded", _FAILED_CARD)
    if state.f_files and not state.f_favail:
        return error("card", f"{path} has no free inodes: no file can be made there", _MORE_ROOM)
    if free < SPARE_BYTES:
        return error("card", f"{path} has {size(free)} free: it is full", _MORE_ROOM)
    if free < may_grow:
        words = f"{path} has {size(free)} free; the buffers may take {size(may_grow)} more"
        return warning("card", words, f"{_MORE_ROOM}; or lower [buffer]")
    return ok("card", f"{path} has {size(free)} free")


def buffers(journal: Use, video: Use) -> Iterator[Finding]:
    """Yield how full each buffer is."""
    for name, use, stops in (
        ("journal", journal, "no reading is recorded"),
        ("video", video, "no trip with video begins"),
    ):
        words = f"{size(use.used)} of buffer.{name}_bytes_max, {size(use.max)}"
        if use.used < use.max * _NEARLY_FULL:
            yield ok(f"{name} buffer", words)
        else:
            remedy = f"offload at a site, or raise buffer.{name}_bytes_max"
            yield warning(f"{name} buffer", f"{words}: once it is full, {stops}", remedy)
