"""`wayseal-gateway adopt`: the gateway goes on with the ledger that succeeds its own."""

import argparse
import json
import os
from contextlib import closing
from pathlib import Path

from contracts.backup.manifest import PERMISSIONS
from contracts.backup.restoring import check_whole
from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.runtime.files import PART_PREFIX, disk_errors, locked, write_file
from contracts.succession import Predecessor, predecessors_in
from gateway.index.store import IndexStore
from gateway.intake.inbox import Inbox
from gateway.plaintext import ledger_problems
from gateway.settings import Settings


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Take the ledger at a URL for the gateway's own, if it goes on from the one that was.

    The index is made again at the next start, and each receipt is signed again once its batches are
    found on the new ledger.

    Raises:
        RejectedError: It does not go on from the gateway's ledger, or that has blocks which it
            lacks, or the settings file cannot be changed.
        UnavailableError: The gateway runs, the ledger does not answer, or the disk failed.
    """
    data = settings.data
    for key, words in ledger_problems(settings.ledger, options.url):
        raise RejectedError(f"{key} {options.url}: {words}")
    check_whole(data)
    with (
        locked(data / "lock", f"data directory {data} is in use: stop the gateway first"),
        closing(LedgerClient(settings.ledger.place_at(options.url))) as ledger,
        closing(_inbox(settings)) as inbox,
    ):
        found = ledger.genesis().header_signature
        own = inbox.genesis_id()
        if own not in {None, found}:
            _check(settings, own or "", found, predecessors_in(ledger.state))
        changed = _write_url(options.config, settings, options.url)
        inbox.replace_genesis_id(found)
    print(
        json.dumps(
            {
                "site_id": settings.site_id,
                "genesis_block_id": found,
                "predecessor": own if own != found else None,
                "ledger_url": options.url,
                "settings_changed": changed,
            }
        )
    )


def _check(settings: Settings, own: str, found: str, before: tuple[Predecessor, ...]) -> None:
    """Check that a ledger goes on from our own, and that we know nothing that it lacks."""
    predecessor = next((each for each in before if each.genesis_block_id == own), None)
    if predecessor is None:
        raise RejectedError(
            f"the ledger that begins with block {found[:16]}… does not go on from this gateway's, "
            f"which begins with {own[:16]}…: expected one that wayseal-node replay has made of it"
        )
    index = settings.index_file
    if not index.exists():
        return
    with closing(IndexStore(index, worked_before=True)) as store:
        if store.rebuild is not None:
            return
        head, there = store.head(), store.block_id(predecessor.block_num)
    if there not in {None, predecessor.block_id}:
        raise RejectedError(
            f"expected block {predecessor.block_id[:16]}… at height {predecessor.block_num} of the "
            f"old ledger, this gateway has seen {there[:16] if there else ''}…: its successor goes "
            "on from another history"
        )
    if head is not None and head.block_num > predecessor.block_num:
        raise RejectedError(
            f"this gateway has seen block {head.block_num} of the old ledger, and its successor "
            f"goes on from block {predecessor.block_num}: stop the old node, export its whole "
            "chain and replay that"
        )


def _inbox(settings: Settings) -> Inbox:
    limits = settings.limits
    return Inbox(
        settings.data / "inbox.db",
        bytes_max=limits.inbox_bytes,
        quarantine_bytes_max=limits.quarantine_bytes,
        of_device=limits.of_device,
    )


def _write_url(file: Path | None, settings: Settings, url: str) -> bool:
    """Put the URL into the settings file, unless the settings have it; return whether that was so.

    Raises:
        RejectedError: The file does not have the old URL in one line.
        UnavailableError: The file cannot be written.
    """
    old = settings.ledger.url
    if old == url:
        return False
    line, new = f'url = "{old}"', f'url = "{url}"'
    text = "" if file is None else file.read_text("utf-8")
    if file is None or text.count(line) != 1:
        raise RejectedError(
            f"ledger.url is {old}, and no settings file has that in one line: set it to {url}, and "
            "run this command again"
        )
    with disk_errors("change", file):
        before = file.stat()
        part = file.with_name(PART_PREFIX + file.name)
        mode = before.st_mode & PERMISSIONS
        write_file(file, text.replace(line, new).encode(), temporary=part, mode=mode)
        if file.stat().st_uid != before.st_uid:
            os.chown(file, before.st_uid, before.st_gid)
    return True
