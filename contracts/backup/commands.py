"""What the commands of gateway and node that make, check and restore backups have in common."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.backup import checking, restoring, shelf
from contracts.backup.kept import SETTINGS, CopiedBy, kept_in
from contracts.backup.manifest import Manifest
from contracts.backup.writing import Unfinished, Writing
from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.checks import Finding, Severity, error, report
from contracts.runtime.commands import complain

_HOUR_MS: Final = 3_600_000

Look = Callable[[Path, Manifest], Iterator[Finding]]
"""Yields what is wrong within the files of a backup, which match their digests."""


def settings_files(by: CopiedBy, folder: Path, also: list[Path]) -> Iterator[Path]:
    """Yield the settings files that a command copies, and those that are named besides.

    Args:
        by: The command.
        folder: The directory of settings.
        also: Further files.

    Raises:
        RejectedError: A further file is missing.
    """
    for row in kept_in(SETTINGS):
        if row.by is by:
            yield from sorted(folder.glob(row.name))
    for path in also:
        if not path.is_file():
            raise RejectedError(f"--also: expected a file, got {path}")
        yield path


def store_elsewhere(files: Writing, paths: Iterator[Path]) -> None:
    """Store files outside the data directory; one that this user may not read is left out.

    Raises:
        UnavailableError: The disk is full or failed.
    """
    stored: set[Path] = set()
    for path in paths:
        where = path.absolute()
        if where in stored:
            continue
        stored.add(where)
        try:
            with where.open("rb"):
                pass
        except FileNotFoundError:
            continue
        except PermissionError:
            files.left_out[str(where)] = "this user may not read it"
        else:
            files.store(where, str(where))


def finish(unfinished: Unfinished, data: Path, keep: int, **known: dict[str, str]) -> None:
    """Let a backup appear, drop the oldest ones, and print what was done.

    Raises:
        UnavailableError: The disk is full or failed.
    """
    path, manifest = unfinished.finish(data, **known)
    for name, why in manifest.left_out.items():
        complain(f"wayseal-{manifest.of}", f"{name} is not in the backup: {why}")
    dropped = shelf.drop_old(path.parent, manifest.of, keep)
    document = {
        "backup": str(path),
        "files": len(manifest.files),
        "bytes": manifest.size,
        "ledger": manifest.ledger,
        "left_out": manifest.left_out,
        "dropped": dropped,
    }
    sys.stdout.write(json.dumps(document) + "\n")


def check(directory: Path, of: str, look: Look, within_h: int | None) -> None:
    """Look at every byte of a backup, and print what was found.

    Raises:
        RejectedError: Something is wrong; the lines before say what.
        UnavailableError: It cannot be read.
    """
    path = shelf.chosen(directory, of)
    manifest = _read(path, of)
    if not report(_all_of(path, manifest, look, within_h)):
        raise RejectedError(f"backup {path}: the lines with `error` say what is wrong")


def restore(
    directory: Path, of: str, look: Look, data: Path, in_use: Callable[[Manifest], str]
) -> None:
    """Check a backup whole, put its data directory back, and print what is left to do.

    Args:
        directory: The backup, or the directory of several.
        of: `gateway` or `node`.
        look: Looks into its files.
        data: The data directory; missing or empty.
        in_use: Returns where its key is in use, or nothing if that does not matter.

    Raises:
        RejectedError: The backup is damaged, the directory not empty, or the key in use.
        UnavailableError: The disk is full or failed.
    """
    path = shelf.chosen(directory, of)
    manifest = _read(path, of)
    restoring.check_free(data)
    if found := in_use(manifest):
        raise RejectedError(
            f"the key in this backup is in use: {found}. Two that sign with one key contradict "
            f"each other: stop that one for good, and remove its key; then --although-in-use"
        )
    wrong = [each for each in _all_of(path, manifest, look) if each.severity is Severity.ERROR]
    if wrong:
        report(wrong)
        raise RejectedError(f"backup {path} is damaged, nothing was restored: restore another one")
    restoring.restore(path, manifest, data)
    for name, public_key in manifest.keys.items():
        complain(
            f"wayseal-{of}",
            f"{name}, the private key of {public_key}, is restored from {manifest.host}: start "
            f"this {of} only if the one at {manifest.host}:{manifest.data} never runs again",
        )
    document = {
        "restored": str(data),
        "backup": str(path),
        "made": rfc3339(manifest.made_ms),
        "ledger": manifest.ledger,
        "elsewhere": _elsewhere(path, manifest),
        "left_out": manifest.left_out,
    }
    sys.stdout.write(json.dumps(document) + "\n")


def _elsewhere(backup: Path, manifest: Manifest) -> dict[str, str]:
    """Return how each file outside the data directory stands; a restore leaves them alone."""
    found = {}
    for each in manifest.files:
        if each.is_elsewhere:
            found[each.target] = f"missing: it is {backup / each.path}"
            with suppress(OSError):
                same = Path(each.target).read_bytes() == (backup / each.path).read_bytes()
                found[each.target] = "as it was" if same else f"differs from {backup / each.path}"
    return found


def _all_of(
    path: Path, manifest: Manifest, look: Look, within_h: int | None = None
) -> Iterator[Finding]:
    sound = True
    for each in checking.findings(path, manifest):
        sound = sound and each.severity is not Severity.ERROR
        yield each
    if sound:  # or the same damage would be told twice, in other words
        yield from look(path, manifest)
    age_h = (now_ms() - manifest.made_ms) / _HOUR_MS
    if within_h is not None and age_h > within_h:
        words = f"expected a backup of the last {within_h} hours, got one of {age_h:.1f} hours ago"
        yield error("age", words, f"systemctl status wayseal-{manifest.of}-backup tells why")


def _read(path: Path, of: str) -> Manifest:
    manifest = Manifest.read(path)
    if manifest.of != of:
        raise RejectedError(f"expected a backup of a {of}, {path} is of a {manifest.of}")
    return manifest
