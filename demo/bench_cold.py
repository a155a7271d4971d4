"""What a cold file costs: answers about its trips beside those of the index, and a move's rate.

Part of `make bench-index OPTIONS="--cold"`. Every second trip of a grown index is closed and
old. Half of these move alone; the others in a thread with the gateway's rests, while the main
thread goes on to add blocks as fast as it can.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from contracts.ledger.pages import Committed
from contracts.runtime.sqlite import used_bytes
from demo.renamed import ANY_BLOCK, renamed
from gateway.index.moving import Mover, Pass
from gateway.index.projection import project
from gateway.index.store import IndexStore
from gateway.records.records import Records

PAGE: Final = 500
BUCKETS: Final = 500
PAIRS: Final = 60
ALONE_S: Final = 5.0
_DAY_S: Final = 86_400


class _Intake:
    """Adds blocks for ever, under other names each time."""

    def __init__(self, index: IndexStore, blocks: Sequence[Committed], turn: int) -> None:
        self._index = index
        self._projected = [project(each, ANY_BLOCK) for each in blocks]
        self._many = sum(len(one.readings) for each in self._projected for one in each.readings)
        self._turn = turn

    def run(self, until: Callable[[], bool]) -> tuple[float, float]:
        """Add blocks; return readings a second, and the longest wait for a block, seconds."""
        began_s, readings, longest_s = time.monotonic(), 0, 0.0
        while not until():
            for number, each in enumerate(self._projected, self._turn * len(self._projected)):
                rows, added = renamed(each, self._turn, number)
                before_s = time.monotonic()
                self._index.add(rows, added)
                longest_s = max(longest_s, time.monotonic() - before_s)
            self._turn, readings = self._turn + 1, readings + self._many
        return readings / (time.monotonic() - began_s), longest_s


def measured(index: IndexStore, blocks: Sequence[Committed]) -> dict[str, float]:
    """Move every second trip of a grown index, and return the figures by name."""
    ids = [str(name) for (name,) in index.query(_TRIPS)]
    first, old, young = ids[::4], ids[2::4], ids[1::2]
    _make_old(index, first)
    before = used_bytes(index.query)
    quiet = Mover(index, 30, time.sleep).run()
    freed = before - used_bytes(index.query)
    _make_old(index, old)
    ((newest,),) = index.query("SELECT max(block_num) FROM blocks")
    intake = _Intake(index, blocks, newest // len(blocks) + 1)
    alone_until_s = time.monotonic() + ALONE_S
    alone, alone_wait_s = intake.run(lambda: time.monotonic() > alone_until_s)
    done: list[Pass] = []
    moving = threading.Thread(target=lambda: done.append(Mover(index, 30, time.sleep).run()))
    moving.start()
    beside, beside_wait_s = intake.run(lambda: not moving.is_alive())
    moving.join()
    moved = done[0]
    files = sum(each.stat().st_size for each in _files(index))
    return {
        "moved_trips": quiet.moved + moved.moved,
        "moved_readings": quiet.readings + moved.readings,
        "moved_per_s": round(quiet.readings / quiet.took_s),
        "moved_per_s_beside_intake": round(moved.readings / moved.took_s),
        "index_freed_bytes_per_reading": round(freed / quiet.readings, 1),
        "cold_bytes_per_reading": round(files / (quiet.readings + moved.readings), 1),
        "intake_per_s_alone": round(alone),
        "intake_per_s_beside": round(beside),
        "intake_longest_wait_ms_alone": round(alone_wait_s * 1000),
        "intake_longest_wait_ms_beside": round(beside_wait_s * 1000),
        **_asked(index, first + old, young),
    }


def _asked(index: IndexStore, old: list[str], young: list[str]) -> dict[str, float]:
    """Return medians of answers about trips in cold files and in the index, asked in turn."""
    trips = Records(index).trips
    found: dict[str, float] = {}
    for name, ask in {
        "page": lambda trip_id: trips.readings(trip_id, 0, PAGE),
        "chart": lambda trip_id: trips.bucketed(trip_id, BUCKETS),
        "trip": trips.get,
    }.items():
        cold_ms: list[float] = []
        warm_ms: list[float] = []
        for at in range(PAIRS):
            for ids, took_ms in ((old, cold_ms), (young, warm_ms)):
                began_s = time.perf_counter()
                ask(ids[at % len(ids)])
                took_ms.append((time.perf_counter() - began_s) * 1000)
        ratios = [cold / warm for cold, warm in zip(cold_ms, warm_ms, strict=True)]
        found[f"{name}_ms_cold"] = round(median(cold_ms), 2)
        found[f"{name}_ms_warm"] = round(median(warm_ms), 2)
        found[f"{name}_ratio"] = round(median(ratios), 2)
    return found


_TRIPS: Final = (
    "SELECT name FROM names WHERE number IN (SELECT DISTINCT trip FROM kept_readings)"
    " ORDER BY number"
)


def _make_old(index: IndexStore, old: list[str]) -> None:
    """Close trips, and let a month pass on the ledger."""
    ((newest,),) = index.query("SELECT max(block_num) FROM blocks")
    index.query("DELETE FROM block_times")
    index.add(
        {
            "trip_entries": [(each, b"", 1, 0) for each in old],
            "block_times": [(newest, 0), (newest + 1, 31 * _DAY_S)],
        }
    )


def _files(index: IndexStore) -> list[Path]:
    return list(index.cold.folder.glob("*/*.db"))
