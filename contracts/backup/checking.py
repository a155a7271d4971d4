"""Compares the files of a backup with its manifest, without restoring anything."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.backup.manifest import FILE, Manifest, StoredFile
from contracts.errors import UnavailableError, WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.files import GROUP_AND_OTHERS, disk_errors

READ_BYTES: Final = 1 << 20
_TAKE_ANOTHER: Final = "take another backup; this one cannot be restored whole"


def findings(backup: Path, manifest: Manifest) -> Iterator[Finding]:
    """Yield what is wrong with the files of a backup, and at last what is well."""
    sound = True
    for each in manifest.files:
        try:
            problem = _problem(backup / each.path, each)
        except WaysealError as failed:
            problem = str(failed)
        if problem:
            sound = False
            yield error(each.path, problem, _TAKE_ANOTHER)
    yield from _unknown(backup, manifest)
    for name, why in manifest.left_out.items():
        yield warning(name, f"not in this backup: {why}", "copy it by hand, or run backup as root")
    if sound:
        made = rfc3339(manifest.made_ms)
        words = f"{len(manifest.files)} files, {manifest.size} bytes, match their SHA-256"
        yield ok("files", f"{words}; {manifest.of} {manifest.name}, {made}")


def _problem(path: Path, file: StoredFile) -> str:
    """Return what is wrong with one file; nothing if it is as it was stored."""
    if not path.is_file():
        return "expected a file, it is missing"
    with disk_errors("read", path):
        status = path.stat()
        if status.st_size != file.size:
            return f"expected {file.size} bytes, got {status.st_size}"
        if status.st_mode & GROUP_AND_OTHERS:
            return f"others may have copied it; if they have not: chmod 600 {path}"
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return "" if digest == file.sha256 else f"expected SHA-256 {file.sha256}, got {digest}"


def _unknown(backup: Path, manifest: Manifest) -> Iterator[Finding]:
    """Look for files that the manifest does not name."""
    known = {each.path for each in manifest.files} | {FILE}
    try:
        for path in sorted(backup.rglob("*")):
            name = path.relative_to(backup).as_posix()
            if path.is_file() and name not in known:
                yield warning(name, "the manifest does not name it", "find out who put it there")
    except OSError as problem:
        raise UnavailableError(f"cannot list {backup}: {problem}") from problem
