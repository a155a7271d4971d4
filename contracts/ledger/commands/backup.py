"""`wayseal-node backup`, `check-backup` and `restore`: the chain, the key and the settings."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from contracts.backup import commands, restoring
from contracts.backup.kept import CopiedBy, How, kept_in
from contracts.backup.manifest import Manifest
from contracts.backup.writing import DATA, writing
from contracts.errors import RejectedError, WaysealError
from contracts.keys import Signer
from contracts.ledger.blocks.copying import chain_of, copy_log
from contracts.runtime.checks import Finding, error, ok
from contracts.runtime.files import locked

_KEY = "node.key"
_ANOTHER = "take another backup; the blocks before that one are good"


def make(options: argparse.Namespace) -> None:
    """Write a backup of the data directory, beside a running node or without one.

    Raises:
        RejectedError: There is no chain, or it is damaged.
        UnavailableError: The disk is full or failed.
    """
    data: Path = options.data
    restoring.check_whole(data)
    if not (data / "chain.log").exists():
        raise RejectedError(f"expected the data directory of a node, {data} has no chain.log")
    key = data / _KEY
    keys = {_KEY: Signer.load(key).public_key} if key.exists() else {}
    name = keys.get(_KEY, "with a key elsewhere")
    with writing(options.directory, "node", name) as unfinished:
        files, ledger = unfinished.files, {}
        for row in kept_in("NODE"):
            if row.by is CopiedBy.NODE and row.how is How.LOG:
                ledger = copy_log(data / row.name, files)
            elif row.by is CopiedBy.NODE:
                files.store(data / row.name, row.name)
        if not keys:
            files.left_out[_KEY] = "the node has its key elsewhere: --also FILE"
        also = commands.settings_files(CopiedBy.NODE, options.settings, options.also)
        commands.store_elsewhere(files, also)
        commands.finish(unfinished, data, options.keep, keys=keys, ledger=ledger)


def check(options: argparse.Namespace) -> None:
    """Check a backup whole, without restoring it.

    Raises:
        RejectedError: Something is wrong; the lines before say what.
        UnavailableError: It cannot be read.
    """
    commands.check(options.directory, "node", look, options.within)


def restore(options: argparse.Namespace) -> None:
    """Put a backup back into an empty data directory.

    Raises:
        RejectedError: The backup is damaged, the directory not empty, or the key in use.
        UnavailableError: The disk is full or failed.
    """

    def in_use(manifest: Manifest) -> str:
        if options.although_in_use:
            return ""
        return restoring.key_in_use(manifest, options.data) or _runs(Path(manifest.data))

    commands.restore(options.directory, "node", look, options.data, in_use)


def look(backup: Path, manifest: Manifest) -> Iterator[Finding]:
    """Yield what is wrong with the chain and the key of a backup."""
    try:
        count = sum(1 for _ in chain_of(backup, manifest))
    except WaysealError as problem:
        yield error("chain.log", problem, _ANOTHER)
    else:
        head = manifest.ledger["block_id"]
        yield ok("chain.log", f"{count} blocks, each signed and chained, up to {head[:16]}…")
    for name, public_key in manifest.keys.items():
        try:
            found = Signer.load(backup / DATA / name).public_key
        except WaysealError as problem:
            yield error(name, problem, _ANOTHER)
        else:
            if found != public_key:
                yield error(name, f"expected the key of {public_key}, got {found}", _ANOTHER)
            else:
                yield ok(name, public_key)


def _runs(data: Path) -> str:
    """Return the data directory of the backup's node if a node holds it on this machine."""
    if not (data / "lock").exists():
        return ""
    try:
        with locked(data / "lock", "a node runs"):
            return ""
    except WaysealError:
        return f"a node runs on {data}"
