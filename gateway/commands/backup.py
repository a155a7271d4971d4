"""`wayseal-gateway backup`, `check-backup`, `restore`: all that a gateway keeps besides video."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.backup import commands, restoring
from contracts.backup.kept import SETTINGS, CopiedBy, How, Kept, kept_in, row_of
from contracts.backup.manifest import Manifest
from contracts.backup.writing import DATA, Writing, writing
from contracts.errors import RejectedError, WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import Finding, error, ok
from contracts.runtime.schema import Schema
from gateway.access import Tokens
from gateway.commands.check import named_files
from gateway.doctor.machine import Machine
from gateway.doctor.process import answering_as, holder
from gateway.intake.schema import INBOX
from gateway.ownkey import has_begun
from gateway.people.accesslog import SCHEMA as ACCESSES
from gateway.retention.deletions import SCHEMA as DELETIONS
from gateway.settings import Settings
from gateway.uploads.claims import SCHEMA as UPLOADS
from storage.checked.damage import DamageNotes
from storage.checked.look import looking_at
from storage.retention.ages import SCHEMA as AGES

_SCHEMAS: Final = {
    "accesses.db": ACCESSES,
    "inbox.db": INBOX,
    "deletions.db": DELETIONS,
    "retention.db": AGES,
    "uploads.db": UPLOADS,
}
_ANOTHER: Final = "restore another backup"


def make(options: argparse.Namespace, settings: Settings) -> None:
    """Write a backup, beside a running gateway or without one.

    Raises:
        RejectedError: The gateway never ran, or no directory is named.
        UnavailableError: A database is damaged, or the disk is full or failed.
    """
    data = settings.data
    directory: Path | None = options.directory or settings.backup.directory
    if directory is None:
        raise RejectedError("expected DIRECTORY, or backup.directory in the settings")
    restoring.check_whole(data)
    if not has_begun(settings):
        raise RejectedError(f"expected the data directory of a gateway, {data} has no gateway.key")
    in_file = settings.key_file.exists()
    keys = {settings.key_file.name: Signer.load(settings.key_file).public_key} if in_file else {}
    keep = options.keep or settings.backup.keep
    with writing(directory, "gateway", settings.site_id) as unfinished:
        files = unfinished.files
        if settings.hsm.module is not None:
            files.left_out["the key of receipts"] = f"in token {settings.hsm.token}: back that up"
        for row in kept_in("GATEWAY"):
            if row.by is CopiedBy.GATEWAY:
                _store(files, data, row)
        _name_others(files, settings)
        also = [*options.also, *(path for _, path in named_files(settings) if path is not None)]
        if settings.pki_dir != data / "pki":
            also += sorted(each for each in settings.pki_dir.rglob("*") if each.is_file())
        folder = Path(SETTINGS)
        if options.config is not None:
            folder, also = options.config.parent, [options.config, *also]
        elsewhere = commands.settings_files(CopiedBy.GATEWAY, folder, also)
        commands.store_elsewhere(files, elsewhere)
        ledger = {"url": settings.ledger.url}
        commands.finish(unfinished, data, keep, keys=keys, ledger=ledger)


def check(options: argparse.Namespace, _: Settings | None) -> None:
    """Check a backup whole, without restoring it.

    Raises:
        RejectedError: Something is wrong; the lines before say what.
        UnavailableError: It cannot be read.
    """
    commands.check(options.directory, "gateway", look, options.within)


def restore(options: argparse.Namespace, settings: Settings) -> None:
    """Put a backup back into the empty data directory that the settings name.

    Raises:
        RejectedError: The backup is damaged or of another site, the directory is not empty, or the
            key is in use.
        UnavailableError: The disk is full or failed.
    """

    def in_use(manifest: Manifest) -> str:
        if manifest.name != settings.site_id:
            raise RejectedError(
                f"expected a backup of site {settings.site_id}, got one of {manifest.name}: "
                "change site_id in the settings, or take the right backup"
            )
        if options.although_in_use:
            return ""
        return _seen(manifest, settings)

    commands.restore(options.directory, "gateway", look, settings.data, in_use)


def look(backup: Path, manifest: Manifest) -> Iterator[Finding]:
    """Yield the faults of the databases, the key and the tokens of a backup."""
    stored = {each.target: backup / each.path for each in manifest.files if not each.is_elsewhere}
    for name, schema in _SCHEMAS.items():
        if name in stored:
            yield _database(name, stored[name], schema)
    for name, public_key in manifest.keys.items():
        try:
            found = Signer.load(backup / DATA / name).public_key
            if found != public_key:
                raise RejectedError(f"expected the key of {public_key}, got {found}")
        except WaysealError as problem:
            yield error(name, problem, _ANOTHER)
        else:
            yield ok(name, found)
    if "tokens.json" in stored:
        try:
            count = len(Tokens(stored["tokens.json"], DamageNotes()).entries())
        except WaysealError as problem:
            yield error("tokens.json", problem, _ANOTHER)
        else:
            yield ok("tokens.json", f"{count} tokens")


def _store(files: Writing, data: Path, row: Kept) -> None:
    for path in sorted(data.glob(f"{row.name}**/*" if row.name.endswith("/") else row.name)):
        name = path.relative_to(data).as_posix()
        if row.how is How.DATABASE:
            files.made(lambda copy, path=path: copy_database(path, copy), name)  # type: ignore[misc]  # mypy infers no lambda with a default
        elif path.is_file():
            files.store(path, name)


def copy_database(path: Path, copy: Path) -> None:
    """Write the state of a database at one moment to a new file, checksums in its pages included.

    Its process goes on working. Pages are verified as they are read.

    Raises:
        RejectedError: The database is damaged.
        UnavailableError: The disk is full or failed.

    Source: SQLite, "VACUUM", with an INTO clause.
    """
    schema = _SCHEMAS[path.name]
    with looking_at(path, schema) as database:
        database.query("VACUUM INTO ?", str(copy))


def _database(name: str, path: Path, schema: Schema) -> Finding:
    """Read every page of a copied database."""
    try:
        with looking_at(path, schema) as database:
            found = database.query("PRAGMA integrity_check(1)")
        if found != [("ok",)]:
            raise RejectedError(f"its pages contradict each other: {found[0][0]}")
    except WaysealError as problem:
        return error(name, problem, _ANOTHER)
    return ok(name, f"version {schema.version}, whole")


def _name_others(files: Writing, settings: Settings) -> None:
    """Name what is in the data directory and in no row: video, or files that are not ours."""
    places = {each.path.absolute() for each in settings.all_volumes.values()}
    places.add(settings.blobs_dir.absolute())
    for path in sorted(settings.data.iterdir()):
        name = path.name + "/" * path.is_dir()
        if path.absolute() in places:
            files.left_out[str(path)] = "video: docs/recover.md says how to copy it"
        elif row_of("GATEWAY", name) is None:
            files.left_out[str(path)] = "not a file of Wayseal's"


def _seen(manifest: Manifest, settings: Settings) -> str:
    """Return where the backup's key is in use, as far as this machine can tell."""
    if url := answering_as(settings):
        return f"a gateway of site {manifest.name} answers at {url}"
    old = settings.model_copy(update={"data": Path(manifest.data)})
    if holder(old, Machine()) is not None:
        return f"a gateway runs on {manifest.data}"
    return restoring.key_in_use(manifest, settings.data)
