"""Free room on the disks of data, volumes, blobs and cold files, against what settings allow."""

import os
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import UnavailableError
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.sizes import size
from gateway.budgets import Budget
from gateway.index.moving import FREE_BYTES_MIN
from gateway.retention.reserve import RESERVE_BYTES
from gateway.settings import Settings
from storage.volumes.directory import VolumeDirectory

_MORE_ROOM = "free room there, move it to a larger disk while the gateway is stopped"


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield for each place whether its disk has room; missing places have lines of their own."""
    limits = settings.limits
    inbox = settings.data / "inbox.db"
    taken = inbox.stat().st_size if inbox.exists() else 0
    yield from _room(
        "data",
        settings.data,
        max(0, limits.inbox_bytes - taken),
        f"limits.inbox_bytes lets the inbox grow to {size(limits.inbox_bytes)}",
        f"{_MORE_ROOM}, or lower limits.inbox_bytes",
    )
    longest = f"limits.upload_bytes allows recordings of {size(limits.upload_bytes)}"
    for name, volume in settings.all_volumes.items():
        remedy = (
            f"{_MORE_ROOM}, set retention.make_room = true, add a volume, or lower "
            "limits.upload_bytes"
        )
        yield from _room(f"volume {name}", volume.path, limits.upload_bytes, longest, remedy)
        yield from _quota(name, volume.path, volume.quota_bytes, settings)
    if settings.storage.blob_store != "cassandra":
        remedy = f"{_MORE_ROOM}, set retention.blobs_days, or lower limits.upload_bytes"
        yield from _room("blobs", settings.blobs_dir, limits.upload_bytes, longest, remedy)
    if settings.index.cold is not None and settings.index.cold_after_days:
        yield from _room(
            "cold files",
            settings.cold_dir,
            FREE_BYTES_MIN,
            "without room old trips stay in the index",
            f"{_MORE_ROOM}, or set index.cold to a larger one",
        )


def _quota(name: str, path: Path, quota: int, settings: Settings) -> Iterator[Finding]:
    """Say whether a volume's quota is near its end; a missing volume has its own line."""
    if not quota or not (path / "parts").is_dir():  # the gateway has never used it
        return
    try:
        budget = Budget(f"volume {name}", VolumeDirectory(path).used_bytes(), quota)
    except UnavailableError as problem:
        yield error(f"volume {name}", problem, "look at the disk")
        return
    words = f"{size(budget.used)} of quota_bytes, {size(quota)}"
    if budget.nearly_full and not settings.retention.make_room:
        remedy = "set retention.make_room = true, raise quota_bytes, or add a volume"
        yield warning(budget.name, f"nearly full: {words}", remedy)
    else:
        yield ok(budget.name, words)


def _room(subject: str, path: Path, wanted: int, because: str, remedy: str) -> Iterator[Finding]:
    try:
        state = os.statvfs(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        yield error(subject, f"{path} does not tell its free room: {problem}", "look at the disk")
        return
    free = state.f_bavail * state.f_frsize
    if state.f_files and not state.f_favail:
        yield error(subject, f"{path} has no free inodes: no file can be made there", remedy)
    elif free < RESERVE_BYTES:
        yield error(subject, f"{path} has {free} bytes free: it is full", remedy)
    elif free < wanted:
        yield warning(subject, f"{path} has {size(free)} free; {because}", remedy)
    else:
        yield ok(subject, f"{path} has {size(free)} free")
