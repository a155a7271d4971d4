"""`wayseal-gateway cold`: shows where the readings of old trips lie, and moves them now."""

import argparse
import json
import sys
import time
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import disk_errors, holder_of, make_private, remove_file
from gateway.coldplace import cold_files
from gateway.index.coldcheck import states
from gateway.index.cooling import FAILED, NOW
from gateway.index.looked import looking_at_index
from gateway.index.moving import Mover
from gateway.settings import Settings

LOOK_AGAIN_S: Final = 0.2


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Print a line of JSON about the index, then one for each cold file; with `--move` move first.

    Raises:
        RejectedError: A cold file is missing, damaged or another one; or with `--move` no gateway
            runs, or nothing moves by the settings.
        UnavailableError: The index does not answer; or with `--move` the pass failed, or left
            trips that are due.
    """
    if options.move:
        _move(settings)
    faults = 0
    with looking_at_index(settings.index_file, cold_files(settings)) as index:
        failure = _failure(settings)
        stand = Mover(index, settings.index.cold_after_days).look()
        print(
            json.dumps(
                {
                    "cold_after_days": settings.index.cold_after_days,
                    "folder": str(settings.cold_dir),
                    "trips_in_index": stand.trips,
                    "open": stand.open,
                    "held": stand.held,
                    "young": stand.young,
                    "due": stand.due,
                    "ledger_tells_time": not stand.timeless,
                    "last_failure": failure,
                }
            )
        )
        for each in states(index):
            faults += bool(each.fault)
            print(
                json.dumps(
                    {
                        "file": str(each.path),
                        "trips": each.trips,
                        "readings": each.readings,
                        "bytes": each.size,
                        "fault": each.fault or None,
                    }
                )
            )
    if faults:
        raise RejectedError(f"{faults} cold files do not answer: the lines before say why")
    if options.move and (failure or stand.due):
        why = failure or "the gateway's log says why"
        raise UnavailableError(f"{stand.due} trips that are due were not moved: {why}")
    if options.move:
        print("no trip is due any more", file=sys.stderr)


def _failure(settings: Settings) -> str | None:
    """Return why the gateway's last pass failed, if it did."""
    path = settings.data / FAILED
    with disk_errors("read", path):
        try:
            return path.read_text("utf-8", "replace")
        except FileNotFoundError:
            return None


def _move(settings: Settings) -> None:
    """Ask the gateway that runs for a pass, and wait for its end."""
    if not settings.index.cold_after_days:
        raise RejectedError("index.cold_after_days is 0: no trip moves; set it to a number of days")
    lock, asked = settings.data / "lock", settings.data / NOW
    if holder_of(lock) is None:
        raise RejectedError(f"no gateway runs on {settings.data}; it moves old trips at its start")
    print("the gateway moves old trips; its log says what it did", file=sys.stderr, flush=True)
    make_private(asked)
    try:
        while asked.exists():
            if holder_of(lock) is None:
                raise UnavailableError("the gateway ended before it had moved all")
            time.sleep(LOOK_AGAIN_S)
    finally:
        remove_file(asked)
