"""What blob size, concurrency and options serve best here: bare loops, one choice varied at a time.

Each question is asked in rounds: all its choices one after the other, then all again, so that
a busy minute of the machine falls on all of them alike. What is shown are medians.
"""

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final, get_args

from storage.bench.cassandra import cassandra
from storage.bench.ours.storage.bare import BareTable, Layout, Wire, unhashed
from storage.bench.ours.storage.media import MIB
from storage.localcassandra.cluster import Cluster
from storage.localcassandra.config import CommitLogSync, Options

KIB: Final = 1 << 10
UNCOMPRESSED: Final = "compression = {'enabled': false}"
SIZES: Final = (64 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB)
IN_FLIGHT: Final = (1, 2, 4, 8, 16, 32, 64)
WRITES_IN_FLIGHT: Final = 16
READS_IN_FLIGHT: Final = 4
_POOL_BYTES: Final = 32 * MIB


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to store blobs.

    Attributes:
        name: In the table.
        size: Bytes of a blob.
        writes: In flight.
        reads: In flight.
        layout: Of the table.
        wire: Between driver and node.
    """

    name: str
    size: int = MIB
    writes: int = WRITES_IN_FLIGHT
    reads: int = READS_IN_FLIGHT
    layout: Layout = field(default_factory=Layout)
    wire: Wire = field(default_factory=Wire)


def _table(name: str, *options: str) -> Choice:
    return Choice(name, layout=Layout((UNCOMPRESSED, *options)))


def _compressed(name: str, compressor: str, chunk_kib: int) -> Choice:
    words = f"'class': '{compressor}', 'chunk_length_in_kb': {chunk_kib}"
    return Choice(name, layout=Layout((f"compression = {{{words}}}",)))


QUESTIONS: Final[Mapping[str, Sequence[Choice]]] = {
    "blob size": [
        Choice(f"{size // KIB} KiB", size, layout=Layout(bucket=64 * MIB // size)) for size in SIZES
    ],
    "blobs in flight": [Choice(str(count), writes=count, reads=count) for count in IN_FLIGHT],
    "compression": [
        _table("none"),
        _compressed("Noop, 1 MiB chunks", "NoopCompressor", 1024),
        _compressed("Noop, 64 KiB chunks", "NoopCompressor", 64),
        _compressed("LZ4, 64 KiB chunks", "LZ4Compressor", 64),
    ],
    "compaction": [
        _table("STCS", "compaction = {'class': 'SizeTieredCompactionStrategy'}"),
        _table(
            "UCS T4",
            "compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'}",
        ),
        _table(
            "UCS T8",
            "compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T8'}",
        ),
        _table("LCS", "compaction = {'class': 'LeveledCompactionStrategy'}"),
        _table("off", "compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}"),
    ],
    "blobs in a partition": [
        Choice(str(count), layout=Layout(bucket=count)) for count in (1, 16, 64, 256)
    ],
    "protocol and driver's buffers": [
        Choice("v4, 1 MiB"),
        Choice("v5, 1 MiB", wire=Wire(protocol=5)),
        Choice("v4, 4 KiB (stock)", wire=Wire(buffer_bytes=4 * KIB)),
        Choice("v4, 64 KiB", wire=Wire(buffer_bytes=64 * KIB)),
        Choice("v4, 256 KiB", wire=Wire(buffer_bytes=256 * KIB)),
    ],
}
COMMIT_LOG: Final = "commit log"
SERVERS: Final[Mapping[str, Options]] = {
    f"{sync}, {access}": Options(sync, yaml={"commitlog_disk_access_mode": access})
    for sync in get_args(CommitLogSync)
    for access in ("legacy", "direct")
}
"""Of that last question, whose choices are those of a server's start."""


@dataclass(slots=True)
class Point:
    """What one choice gave, MiB/s, round by round."""

    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)


class Curve:
    """Asks the questions.

    Args:
        directory: For servers; what is made there is removed.
        mib: How much each run writes and reads.
        rounds: How often each choice is measured.
        say: Tells people how far it is.
    """

    def __init__(self, directory: Path, mib: int, rounds: int, say: Callable[[str], None]) -> None:
        self._directory = directory
        self._bytes = mib * MIB
        self._rounds = rounds
        self._say = say
        self._pool = os.urandom(min(_POOL_BYTES, self._bytes))
        self._run = 0

    def ask(self, questions: Sequence[str]) -> list[dict[str, Any]]:
        """Return a row for each choice of these questions, with every run."""
        rows: list[dict[str, Any]] = []
        tables = {name: QUESTIONS[name] for name in questions if name in QUESTIONS}
        if tables:
            with cassandra(self._directory, Options()) as server:
                for name, choices in tables.items():
                    points = {choice.name: Point() for choice in choices}
                    for number in range(self._rounds):
                        self._say(f"{name}, round {number + 1} of {self._rounds}")
                        for choice in choices:
                            self._measure(server, choice, points[choice.name])
                    rows += _rows(name, points)
        if COMMIT_LOG in questions:
            rows += self._commit_log()
        return rows

    def _commit_log(self) -> list[dict[str, Any]]:
        points = {name: Point() for name in SERVERS}
        for number in range(self._rounds):
            self._say(f"{COMMIT_LOG}, round {number + 1} of {self._rounds}")
            for name, options in SERVERS.items():
                with cassandra(self._directory, options) as server:
                    self._measure(server, Choice(name), Point())  # a JVM that has just begun
                    self._measure(server, Choice(name), points[name])
        return _rows(COMMIT_LOG, points)

    def _measure(self, server: Cluster, choice: Choice, point: Point) -> None:
        count = self._bytes // choice.size
        blobs = [
            self._pool[start : start + choice.size]
            for start in range(0, len(self._pool) - choice.size + 1, choice.size)
        ]
        self._run += 1
        recording = self._run.to_bytes(32)
        mib = count * choice.size / MIB
        table = BareTable(server.addresses[0], server.ports.native, choice.wire)
        with closing(table):
            table.create(choice.layout)
            point.writes.append(
                mib / table.write(recording, unhashed(cycle(blobs)), count, choice.writes)
            )
            point.reads.append(mib / table.read(recording, count, choice.reads))


def table_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the curve for people, as a table of Markdown."""
    lines = [
        "| question | choice | write, MiB/s | read, MiB/s |",
        "|---|---|---|---|",
        *(
            f"| {row['question']} | {row['choice']} | {row['write_mib_per_s']:.0f} "
            f"| {row['read_mib_per_s']:.0f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines)


def _rows(question: str, points: Mapping[str, Point]) -> list[dict[str, Any]]:
    return [
        {
            "question": question,
            "choice": choice,
            "write_mib_per_s": round(statistics.median(point.writes), 1),
            "read_mib_per_s": round(statistics.median(point.reads), 1),
            "write_runs": [round(rate, 1) for rate in point.writes],
            "read_runs": [round(rate, 1) for rate in point.reads],
        }
        for choice, point in points.items()
    ]
