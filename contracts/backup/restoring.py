"""Puts a backup back into an empty data directory.

While that goes on, the directory has a marker. Nothing starts on such a directory, and a restore
that was cut short is done again.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from contracts.backup.kept import HALF_RESTORED
from contracts.backup.manifest import Manifest, StoredFile
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.runtime.files import (
    disk_errors,
    give_to_owner_of,
    locked,
    make_directory,
    make_private,
    remove_file,
    sync_directory,
)

LOCK: Final = "lock"
READ_BYTES: Final = 1 << 20


def check_whole(data: Path) -> None:
    """Check that the data directory was not left in the middle of a restore.

    Raises:
        UnavailableError: It was.
    """
    if (data / HALF_RESTORED).exists():
        raise UnavailableError(
            f"data directory {data} is restored or replayed in part: run that command again"
        )


def check_free(data: Path) -> None:
    """Check that nothing would be overwritten.

    Raises:
        RejectedError: The data directory is in use by somebody, or was.
        UnavailableError: It cannot be read.
    """
    if not data.exists() or (data / HALF_RESTORED).exists():
        return
    with disk_errors("list", data):
        there = sorted(each.name for each in data.iterdir() if each.name != LOCK)
    if there:
        raise RejectedError(
            f"expected an empty data directory, {data} has {', '.join(there[:5])}: a restore "
            f"overwrites nothing; keep it until all is well: mv {data} {data}.before"
        )


def key_in_use(manifest: Manifest, data: Path) -> str:
    """Return where a private key of the backup is seen on this machine besides; empty if nowhere.

    Other machines cannot be seen from here.
    """
    old = Path(manifest.data)
    if old == data.absolute():
        return ""
    for name, public_key in manifest.keys.items():
        try:
            if Signer.load(old / name).public_key == public_key:
                return str(old / name)
        except (RejectedError, UnavailableError, OSError):
            continue
    return ""


def restore(backup: Path, manifest: Manifest, data: Path) -> None:
    """Put all files of the data directory back; the backup was checked before.

    Raises:
        RejectedError: The directory is not empty, or a file differs from the manifest.
        UnavailableError: The directory is in use, or the disk is full or failed.
    """
    check_free(data)
    make_directory(data)
    with locked(data / LOCK, f"data directory {data} is in use"):
        check_free(data)
        marker = data / HALF_RESTORED
        with disk_errors("write", marker):
            make_private(marker)
            sync_directory(data)
        for target, pieces in _by_target(manifest):
            _put(backup, data / target, pieces)
        with disk_errors("write", data):
            for folder, _, _ in os.walk(data):
                sync_directory(Path(folder))
        remove_file(marker)


def _by_target(manifest: Manifest) -> Iterator[tuple[str, list[StoredFile]]]:
    found: dict[str, list[StoredFile]] = {}
    for each in manifest.files:
        if not each.is_elsewhere:
            found.setdefault(each.target, []).append(each)
    for target, pieces in found.items():
        yield target, sorted(pieces, key=lambda each: each.offset)


def _put(backup: Path, path: Path, pieces: list[StoredFile]) -> None:
    make_directory(path.parent)
    with disk_errors("write", path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, pieces[0].mode)
        with os.fdopen(descriptor, "wb") as file:
            give_to_owner_of(path.parent, file.fileno())
            os.fchmod(file.fileno(), pieces[0].mode)
            for each in pieces:
                _append(backup / each.path, each, file)
            file.flush()
            os.fsync(file.fileno())


def _append(source: Path, piece: StoredFile, file: BinaryIO) -> None:
    digest = hashlib.sha256()
    if file.tell() != piece.offset:
        raise RejectedError(
            f"{source}: expected byte {file.tell()} of its file, got {piece.offset}"
        )
    with source.open("rb") as opened:
        while data := opened.read(READ_BYTES):
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != piece.sha256:
        raise RejectedError(f"{source}: expected SHA-256 {piece.sha256}, got {digest.hexdigest()}")
