"""Copies the block log into a backup while the node appends to it, and checks such a copy.

The log is append-only, so it is stored in pieces of one size. Whole pieces never change again: the
next backup shares them, and reads only what is new. `cat` of all pieces is the log again.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from contracts.backup.manifest import Manifest, StoredFile
from contracts.backup.writing import DATA, Writing
from contracts.errors import RejectedError
from contracts.ledger.blocks.log import (
    FILE_MODE,
    RECORD_BYTES_MAX,
    START,
    Records,
    check_last,
    salt_of,
)
from contracts.ledger.blocks.record import decode_record
from contracts.ledger.engine.blocks import StoredBlock
from contracts.runtime.files import disk_errors
from contracts.sawtooth.blocks import NULL_BLOCK_ID, check_block_id

LOG: Final = "chain.log"
PIECE_BYTES: Final = 64 << 20


def copy_log(path: Path, files: Writing) -> dict[str, Any]:
    """Store all whole records of the log at `path`; return what the manifest says of the chain.

    Records that the backup before has are not read again: the newest of them names all before it.

    Raises:
        RejectedError: The log is damaged, or has no block.
        UnavailableError: It is missing, or the disk is full or failed.
    """
    with disk_errors("copy", path), path.open("rb") as file:
        descriptor = file.fileno()
        head = os.pread(descriptor, START, 0)
        records = Records(lambda size, at: os.pread(descriptor, size, at), salt_of(path, head))
        known = _known(files, records)
        last = _last(path, records, known.get("end", START), os.fstat(descriptor).st_size) or known
        if not last:
            raise RejectedError(f"{path} has no block yet")
        for number, offset in enumerate(range(0, last["end"], PIECE_BYTES)):
            stored = f"{DATA}/{LOG}.{number:06d}"
            size = min(PIECE_BYTES, last["end"] - offset)
            one = StoredFile(stored, LOG, offset, size, "", FILE_MODE)
            if offset + PIECE_BYTES > known.get("end", 0) or not files.shared(one):
                files.piece(file, stored, LOG, offset, size, mode=FILE_MODE)
    return last


def committed(path: Path) -> Iterator[StoredBlock]:
    """Yield all blocks of the log at `path` in order, beside a running node or without one.

    Raises:
        RejectedError: The log is damaged.
        UnavailableError: It is missing, or the disk failed.
    """
    with disk_errors("read", path), path.open("rb") as file:
        descriptor = file.fileno()
        head = os.pread(descriptor, START, 0)
        records = Records(lambda size, at: os.pread(descriptor, size, at), salt_of(path, head))
        known = START
        for _, known, body in records.whole(START):  # noqa: B007 - where it ended
            yield decode_record(body)
        _check_end(path, records, known, os.fstat(descriptor).st_size)


def chain_of(backup: Path, manifest: Manifest) -> Iterator[StoredBlock]:
    """Yield the blocks of a backup in order, each checked against the one before and its signature.

    Raises:
        RejectedError: A record is damaged, or the chain is not the one that the manifest names.
        UnavailableError: The disk failed.
    """
    pieces = _Pieces(backup, manifest)
    path = backup / DATA / LOG
    records = Records(pieces.pread, salt_of(path, pieces.pread(START, 0)))
    previous, known, number = NULL_BLOCK_ID, START, 0
    for offset, end, body in records.whole(START):
        stored = decode_record(body)
        header = check_block_id(stored.block.header, stored.id)
        if (header.block_num, header.previous_block_id) != (number, previous):
            raise RejectedError(
                f"{path}: expected block {number} after {previous[:16]}… at byte {offset}, got "
                f"block {header.block_num} after {header.previous_block_id[:16]}…"
            )
        yield stored
        previous, known, number = stored.id, end, number + 1
    if known != pieces.size:
        raise RejectedError(f"{path}: record at byte {known} is damaged")
    if previous != manifest.ledger.get("block_id"):
        raise RejectedError(
            f"{path}: expected the newest block {manifest.ledger.get('block_id')}, got {previous}"
        )


def _known(files: Writing, records: Records) -> dict[str, Any]:
    """Return what the backup before says of the chain, if this log still begins with it."""
    if files.before is None:
        return {}
    known = dict(files.before[1].ledger)
    head = records.head(known["offset"])
    if head is None or head[1].hex() != known["sha256"]:
        return {}
    return known


def _last(path: Path, records: Records, start: int, size: int) -> dict[str, Any]:
    """Read all records from `start` on; return what there is to say of the last one, if any."""
    newest = None
    for each in records.whole(start):
        newest = each
    _check_end(path, records, start if newest is None else newest[1], size)
    if newest is None:
        return {}
    offset, end, body = newest
    stored, head, first = decode_record(body), records.head(offset), records.body(START)
    if head is None or first is None:
        raise RejectedError(f"block log {path}: its first record is damaged")
    return {
        "genesis_block_id": decode_record(first).id,
        "height": stored.num,
        "block_id": stored.id,
        "state_root": stored.header.state_root_hash,
        "offset": offset,
        "end": end,
        "sha256": head[1].hex(),
    }


def _check_end(path: Path, records: Records, known: int, size: int) -> None:
    """Check that what follows the last whole record is one that is being written, or a torn one."""
    if size > known:
        tail = records.bytes_at(min(size - known, 2 * RECORD_BYTES_MAX), known)
        check_last(path, records, known, tail)


class _Pieces:
    """The log that the pieces of a backup make."""

    def __init__(self, backup: Path, manifest: Manifest) -> None:
        self._backup = backup
        found = [each for each in manifest.files if each.target == LOG]
        self._pieces = sorted(found, key=lambda each: each.offset)
        self.size = sum(each.size for each in found)
        if not found or any(
            each.offset != number * PIECE_BYTES for number, each in enumerate(self._pieces)
        ):
            raise RejectedError(f"{backup}: pieces of {LOG} are missing")

    def pread(self, size: int, offset: int) -> bytes:
        parts = []
        while size and offset < self.size:
            piece = self._pieces[offset // PIECE_BYTES]
            path = self._backup / piece.path
            with disk_errors("read", path), path.open("rb") as file:
                part = os.pread(file.fileno(), size, offset - piece.offset)
            if not part:
                break
            parts.append(part)
            size, offset = size - len(part), offset + len(part)
        return b"".join(parts)
