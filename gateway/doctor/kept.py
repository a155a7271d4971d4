"""What the gateway keeps in its data directory: keys, databases, and what was damaged or lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.errors import WaysealError
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.sizes import size
from contracts.runtime.sqlite import used_bytes
from contracts.text import counted
from gateway.blobstore import BLOBS_ID
from gateway.budgets import NEARLY_FULL
from gateway.intake.held import State
from gateway.intake.schema import INBOX
from gateway.ownkey import (
    DATABASES,
    has_begun,
    kept_public_key,
    load_key,
    lost_parts,
    public_file,
)
from gateway.retention.deletions import SCHEMA as DELETIONS
from gateway.retention.deletions import DeletionState
from gateway.settings import Settings
from gateway.uploads.claims import SCHEMA as UPLOADS
from storage.checked.look import LookedAt, looking_at
from storage.retention.ages import SCHEMA as AGES

_UNREAD: Final = {"uploads.db": UPLOADS, "retention.db": AGES}
"""Databases that nothing else here reads."""
_ASK: Final = "as an operator, GET"
_DAMAGED: Final = (
    "check the disk; a start of the gateway keeps the rows that are good, and its log names the "
    "others"
)


def findings(settings: Settings, *, runs: bool) -> Iterator[Finding]:
    """Yield what was found; a gateway that was never started keeps nothing.

    Args:
        settings: The gateway's.
        runs: Whether the gateway runs.
    """
    if not settings.data.is_dir():
        return
    yield from _public_key(settings)
    yield from _lost(settings)
    for name in DATABASES:
        yield from _database(settings.data / name)
    yield from _inbox(settings)
    yield from _deletions(settings, runs=runs)


def _public_key(settings: Settings) -> Iterator[Finding]:
    known = kept_public_key(settings)
    try:
        own = load_key(settings).public_key
    except WaysealError:
        return  # `check` tells it
    if known not in {None, own}:
        yield error(
            "key",
            f"{settings.key_file} has the key with public half {own}, but {public_file(settings)} "
            f"has {known}: trucks accept no receipt by another key",
            f"restore {settings.key_file}; for a new key on purpose: wayseal-gateway key --accept",
        )


def _lost(settings: Settings) -> Iterator[Finding]:
    try:
        lost = lost_parts(settings) if has_begun(settings) else []
    except WaysealError as problem:
        yield error("data", problem, _DAMAGED)
        return
    if lost:
        yield warning(
            "data",
            f"{', '.join(lost)} missing in {settings.data}, although this gateway worked before",
            "restore them from the backup, or mount the right disk, before you start the gateway",
        )
    remembered = (settings.data / "volume-ids" / BLOBS_ID).exists()  # then `check` tells it
    has_worked = (settings.data / "inbox.db").exists() and not remembered
    uses_files = settings.storage.blob_store != "cassandra"
    if has_worked and uses_files and not settings.blobs_dir.exists():
        yield error(
            "blobs",
            f"{settings.blobs_dir} is missing, but this gateway has worked before",
            "mount the right disk there, or restore it, before you start the gateway",
        )


def _database(path: Path) -> Iterator[Finding]:
    """Look whether it was damaged once, and whether it opens if nothing else here reads it."""
    damaged = path.with_name(f"{path.name}.damaged")
    if damaged.exists():
        yield warning(
            path.name,
            f"{damaged} is there: the database was damaged once, and a new one took its place",
            f"check the disk, look for {path.name} in the log, then move {damaged} away",
        )
    schema = _UNREAD.get(path.name)
    if schema is not None and path.exists():
        try:
            with looking_at(path, schema):
                pass
        except WaysealError as problem:
            yield error(path.name, problem, _DAMAGED)


def _inbox(settings: Settings) -> Iterator[Finding]:
    path = settings.data / "inbox.db"
    if not path.exists():
        return
    try:
        with looking_at(path, INBOX) as inbox:
            yield _filling(settings, inbox)
            ((quarantined, size_bytes),) = inbox.query(
                "SELECT count(*), ifnull(sum(length(wire)), 0) FROM batches WHERE state = ?",
                State.QUARANTINED,
            )
    except WaysealError as problem:
        yield error("inbox", problem, _DAMAGED)
        return
    if quarantined:
        yield warning(
            "quarantine",
            f"the ledger refuses {counted(quarantined, 'batch', 'batches')}, {size(size_bytes)}",
            f"{_ASK} /v1/quarantine tells why; mend that, then POST "
            "/v1/quarantine/BATCH_ID/release, or DELETE /v1/waiting/batches/BATCH_ID",
        )


def _filling(settings: Settings, inbox: LookedAt) -> Finding:
    used, most = used_bytes(inbox.query), settings.limits.inbox_bytes
    words = f"{size(used)} of limits.inbox_bytes, {size(most)}"
    if used > most * NEARLY_FULL:
        remedy = "check that the ledger commits; then raise limits.inbox_bytes if the disk has room"
        return warning("inbox", f"nearly full: {words}", remedy)
    return ok("inbox", words)


def _deletions(settings: Settings, *, runs: bool) -> Iterator[Finding]:
    path = settings.data / "deletions.db"
    if not path.exists():
        return
    try:
        with looking_at(path, DELETIONS) as deletions:
            ((begun,),) = deletions.query(
                "SELECT count(*) FROM deletions WHERE state = ?", DeletionState.BEGUN
            )
    except WaysealError as problem:
        yield error("deletions", problem, _DAMAGED)
        return
    if begun and not runs:
        words = f"{counted(begun, 'deletion')} not finished, and the gateway does not run"
        yield warning("deletions", words, "systemctl start wayseal-gateway, which finishes them")
    else:
        yield ok("deletions", f"{begun} under way")
