"""`wayseal-gateway reindex`: makes the index again beside the one in use, or one cold file."""

import argparse
import json
import os
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.files import holder_of, locked
from gateway.coldplace import cold_files
from gateway.index.coldfolder import ColdFiles
from gateway.index.cooling import REINDEX_LOCK, Cooling
from gateway.index.looked import looking_at_index
from gateway.index.moving import generation_of
from gateway.index.reindexing import ReindexProgress, build
from gateway.index.remaking import remake
from gateway.index.store import OFFERED
from gateway.intake.schema import INBOX
from gateway.settings import Settings
from storage.checked.look import looking_at

TAKEN_S: Final = 120.0
"""How long the command waits for a running gateway to take the new index."""
LOOK_AGAIN_S: Final = 0.1
POLITE: Final = 10
"""Less of the processor than the gateway gets: see nice(2)."""


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Build an index, say how far it is, and wait until a running gateway has taken it.

    With `--trip` make only the cold file with that trip's readings again.

    Raises:
        RejectedError: The ledger is not the gateway's, or an index waits to be taken.
        UnavailableError: Another one is being made, no gateway has run here, the ledger did not
            answer, the disk is full, or the gateway did not take it.
    """
    data = settings.data
    offered = data / OFFERED
    with looking_at(data / "inbox.db", INBOX) as inbox:
        known = inbox.query("SELECT genesis_id FROM network")
    with (
        locked(
            data / REINDEX_LOCK,
            f"an index is being made in {data} already, or the gateway clears old cold files",
        ),
        closing(LedgerClient(settings.ledger.place)) as ledger,
    ):
        if offered.exists():
            raise RejectedError(f"index {offered} is whole and waits for the gateway to start")
        os.nice(POLITE)
        if options.trip is not None:
            _remake(settings, ledger, options.trip)
            return
        old = _file_number(settings.index_file)
        cooling = Cooling(cold_files(settings), settings.index.cold_after_days)
        _clear(settings, cooling.files)
        made = build(ledger, offered, known[0][0] if known else None, _say, cooling)
        _say(made)
        taken = _is_taken(settings, offered, old)
    told = {"blocks": made.blocks, "readings": made.readings, "took_s": round(made.took_s, 1)}
    print(json.dumps({**told, "taken": taken}))


def _clear(settings: Settings, files: ColdFiles) -> None:
    """Remove cold files of builds that were killed, whose room this one may need."""
    if settings.index_file.exists():
        with suppress(WaysealError), looking_at_index(settings.index_file, files) as index:
            files.remove_others(generation_of(index))


def _remake(settings: Settings, ledger: LedgerClient, trip_id: str) -> None:
    with looking_at_index(settings.index_file, cold_files(settings)) as index:
        genesis = ledger.genesis().header_signature
        if index.block_id(0) != genesis:
            raise RejectedError(
                f"the ledger begins with block {genesis[:16]}…, expected that of the index"
            )
        made = remake(index, ledger, trip_id, lambda words: print(words, file=sys.stderr))
    print(
        json.dumps(
            {
                "file": made.file,
                "trips_kept": made.kept,
                "trips_fetched": made.fetched,
                "blocks": made.blocks,
            }
        )
    )


def _is_taken(settings: Settings, offered: Path, old: int | None) -> bool:
    """Wait for a running gateway; return False if none runs.

    Args:
        settings: Of the gateway.
        offered: The new index.
        old: The file number of the index in use before.

    Raises:
        UnavailableError: It did not take the index.
    """
    until_s = time.monotonic() + TAKEN_S
    while offered.exists():
        if holder_of(settings.data / "lock") is None:
            return False
        if time.monotonic() > until_s:
            raise UnavailableError(
                f"the gateway has not taken {offered} within {TAKEN_S:.0f} s: its log says why"
            )
        time.sleep(LOOK_AGAIN_S)
    if _file_number(settings.index_file) == old:
        raise UnavailableError("the gateway did not take the new index: its log says why")
    return True


def _file_number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _say(progress: ReindexProgress) -> None:
    print(progress, file=sys.stderr, flush=True)
