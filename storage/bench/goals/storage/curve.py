"""The best blob size, concurrency and options here: bare loops, one choice varied at a time.

The choices are measured in rounds, each in random order, so that a busy minute of the machine
falls on all of them alike. The curve shows medians.
"""

import os
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any, Final, get_args

from storage.bench.commands.measuring import HERE
from storage.bench.disk import MIB
from storage.bench.goals.storage.bare import BareTable, Layout, Wire, unhashed
from storage.bench.run.document import Document
from storage.bench.run.outcome import Metric, Observation, Outcome
from storage.bench.run.plan import Execute, Place, Step
from storage.bench.servers.cassandra.cluster import Cluster, fresh_server
from storage.bench.servers.cassandra.config import CommitLogSync, Options

WRITE_RATE: Final = Metric("write-rate", "B/s")
READ_RATE: Final = Metric("read-rate", "B/s")
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
"""Choices of that last question: options at the start of a server."""
WIDTH: Final = 720
_LEFT: Final = 200
_BAR: Final = 8
_ROW: Final = 22
_HEAD: Final = 34
_COLOURS: Final = {"write_mib_per_s": "#b5651d", "read_mib_per_s": "#2f6f8f"}


class BlobCurve:
    """Measures every choice of every question.

    Args:
        directory: For servers; their data are removed.
        mib: Written and read for each choice in each round.
    """

    def __init__(self, directory: Path, mib: int) -> None:
        self._directory = directory
        self._bytes = mib * MIB
        self._pool = os.urandom(min(_POOL_BYTES, self._bytes))
        self._run = 0

    @contextmanager
    def on_one_server(self) -> Iterator[Sequence[Step]]:
        """Yield the choices that share a server, which is warm."""
        with fresh_server(self._directory, Options()) as server:
            self._measured(server, Choice("warm"))
            yield [
                Step(workload(question, choice.name), HERE, self._of(server, choice))
                for question, choices in QUESTIONS.items()
                for choice in choices
            ]

    @contextmanager
    def on_servers(self) -> Iterator[Sequence[Step]]:
        """Yield the choices of the commit log, each with its own server."""
        yield [
            Step(workload(COMMIT_LOG, name), HERE, self._on_own(name, options))
            for name, options in SERVERS.items()
        ]

    def _of(self, server: Cluster, choice: Choice) -> Execute:
        def execute(place: Place) -> Outcome:
            with place.counted():
                return self._measured(server, choice)

        return execute

    def _on_own(self, name: str, options: Options) -> Execute:
        def execute(place: Place) -> Outcome:
            with fresh_server(self._directory, options) as server:
                self._measured(server, Choice("warm"))
                with place.counted():
                    return self._measured(server, Choice(name))

        return execute

    def _measured(self, server: Cluster, choice: Choice) -> Outcome:
        count = self._bytes // choice.size
        blobs = [
            self._pool[start : start + choice.size]
            for start in range(0, len(self._pool) - choice.size + 1, choice.size)
        ]
        self._run += 1
        recording = self._run.to_bytes(32)
        size = count * choice.size
        table = BareTable(server.addresses[0], server.ports.native, choice.wire)
        with closing(table):
            table.create(choice.layout)
            write_s = table.write(recording, unhashed(cycle(blobs)), count, choice.writes)
            read_s = table.read(recording, count, choice.reads)
        return Outcome(
            [Observation(WRITE_RATE, size / write_s), Observation(READ_RATE, size / read_s)]
        )


def workload(question: str, choice: str) -> str:
    """Return a choice as the name of a workload: `blob-size-64-kib`."""
    return re.sub(r"[^a-z0-9]+", "-", f"{question} {choice}".lower()).strip("-")


def curve_of(result: Document) -> list[dict[str, Any]]:
    """Return a row for each choice that a run measured, with each round, in MiB/s."""
    values = {(each["workload"], each["metric"]): each["values"] for each in result["figures"]}
    asked = {question: [each.name for each in choices] for question, choices in QUESTIONS.items()}
    rows = []
    for question, choices in {**asked, COMMIT_LOG: list(SERVERS)}.items():
        for choice in choices:
            name = workload(question, choice)
            if (name, WRITE_RATE.name) not in values:
                continue
            writes, reads = (
                [each / MIB for each in values[name, metric.name]]
                for metric in (WRITE_RATE, READ_RATE)
            )
            rows.append(
                {
                    "question": question,
                    "choice": choice,
                    "write_mib_per_s": round(statistics.median(writes), 1),
                    "read_mib_per_s": round(statistics.median(reads), 1),
                    "write_runs": [round(rate, 1) for rate in writes],
                    "read_runs": [round(rate, 1) for rate in reads],
                }
            )
    return rows


def table_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the curve as a table of Markdown."""
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


def chart(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return an SVG document; bars share one scale, in MiB/s."""
    most = max((row[key] for row in rows for key in _COLOURS), default=1.0)
    parts: list[str] = []
    top, question = 20, ""
    for row in rows:
        if row["question"] != question:
            question = row["question"]
            parts.append(_text(10, top + 18, question, weight="bold"))
            top += _HEAD
        parts.append(_text(20, top + 12, row["choice"]))
        for place, (key, colour) in enumerate(_COLOURS.items()):
            parts += _bar(top + place * _BAR, row[key], most, colour)
        top += _ROW
    legend = [_text(_LEFT, 14, "MiB/s: upper bar written, lower bar read", size=11)]
    height = top + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" fill="#333">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *legend, *parts, "</svg>\n"])


def _bar(top: int, value: float, most: float, colour: str) -> list[str]:
    width = (WIDTH - _LEFT - 50) * value / most
    return [
        f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR - 1}" fill="{colour}"/>',
        _text(_LEFT + 4 + round(width), top + _BAR - 1, f"{value:.0f}", size=8),
    ]


def _text(left: int, baseline: int, words: str, *, size: int = 12, weight: str = "normal") -> str:
    return (
        f'<text x="{left}" y="{baseline}" font-size="{size}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )
