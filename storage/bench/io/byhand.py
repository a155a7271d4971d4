"""Checks the Cassandra figures: our loop and one by hand, by turns, over the same table.

Usage: python -m storage.bench.io.byhand DIRECTORY [--video-gb GB] [--pairs N]

The loop by hand is the simplest one: it keeps a fixed number of futures in flight and waits for the
oldest before it sends the next. It measures, compares and notes nothing. The last line is a JSON
object with medians in B/s and with ratios, which should be from 0.9 to 1.1.
"""

import argparse
import json
import os
import statistics
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from cassandra.cluster import ResponseFuture, Session

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError
from storage.bench.arguments import video_gb
from storage.bench.io.blobtable import BlobTable, connected, prepared
from storage.bench.io.cassandra import IN_FLIGHT, QUICK_VIDEO_GB, TIMEOUT_S
from storage.bench.io.keyspaces import new_name
from storage.bench.servers.cassandra.cluster import fresh_server
from storage.bench.servers.cassandra.config import Options
from storage.bench.trucks.payload import Payload, pieces_of
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.schema import BUCKET_BLOBS

PAIRS: Final = 6
_RECORDING: Final = bytes(HASH_BYTES)


class ByHand:
    """A loop by hand over a table of blobs.

    Args:
        session: Connected.
        keyspace: Of the table.
    """

    def __init__(self, session: Session, keyspace: str) -> None:
        self._session = session
        self._insert, self._select = prepared(session, keyspace)

    def write(self, payload: Payload) -> float:
        """Write a video; return seconds."""
        rows = (
            (_RECORDING, index // BUCKET_BLOBS, index, _RECORDING, payload.piece(index))
            for index in range(payload.pieces)
        )
        return self._run(self._insert, rows)

    def read(self, payload: Payload) -> float:
        """Read a video; return seconds."""
        keys = ((_RECORDING, index // BUCKET_BLOBS, index) for index in range(payload.pieces))
        return self._run(self._select, keys)

    def _run(self, statement: Any, rows: Iterable[tuple[Any, ...]]) -> float:  # noqa: ANN401
        start_s, waiting = time.monotonic(), deque[ResponseFuture]()
        for row in rows:
            if len(waiting) == IN_FLIGHT:
                waiting.popleft().result()
            waiting.append(self._session.execute_async(statement, row))
        for future in waiting:
            future.result()
        return time.monotonic() - start_s


def compare(directory: Path, payload: Payload, pairs: int) -> dict[str, float]:
    """Return medians of both loops, B/s, and the ratios of ours to the one by hand.

    Args:
        directory: For a server; what it stores is removed.
        payload: To write and read.
        pairs: Repetitions; the loop that was first is second the next time.
    """
    took_s: dict[str, list[float]] = {}
    with fresh_server(directory, Options()) as server:
        config = CassandraConfig(
            tuple(server.addresses),
            server.ports.native,
            keyspace=new_name(os.getpid()),
            timeout_s=TIMEOUT_S,
        )
        with BlobTable.made(config) as ours, connected(config) as (_, session):
            theirs = ByHand(session, config.keyspace)
            for number in range(pairs + 1):
                order = ("ours", "by_hand") if number % 2 else ("by_hand", "ours")
                for who in order:
                    ours.empty()
                    write_s, read_s = _both_ways(who, ours, theirs, payload)
                    if number:  # the first pair warms the server
                        took_s.setdefault(f"{who}_write", []).append(write_s)
                        took_s.setdefault(f"{who}_read", []).append(read_s)
    rates = {name: payload.size / statistics.median(each) for name, each in took_s.items()}
    return rates | {f"{way}_ratio": _ratio(took_s, way) for way in ("write", "read")}


def _ratio(took_s: Mapping[str, Sequence[float]], way: str) -> float:
    """Return the median of the pairs' ratios: a busy minute falls on both of a pair."""
    pairs = zip(took_s[f"by_hand_{way}"], took_s[f"ours_{way}"], strict=True)
    return statistics.median(theirs_s / ours_s for theirs_s, ours_s in pairs)


def _both_ways(who: str, ours: BlobTable, theirs: ByHand, payload: Payload) -> tuple[float, float]:
    if who == "by_hand":
        return theirs.write(payload), theirs.read(payload)
    wrote = ours.write(_RECORDING, payload, IN_FLIGHT)
    read = ours.read(_RECORDING, payload, IN_FLIGHT)
    if read.wrong:
        raise RejectedError(
            f"expected all blobs as they were written, got {len(read.wrong)} wrong ones"
        )
    return wrote.elapsed_s, read.elapsed_s


def main() -> None:
    """Compare, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--video-gb", type=video_gb, default=QUICK_VIDEO_GB)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    options = parser.parse_args()
    payload = Payload(1, pieces_of(options.video_gb))
    found = compare(options.directory.absolute(), payload, options.pairs)
    found = {name: round(value, 3) for name, value in found.items()}
    print(json.dumps(found))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
