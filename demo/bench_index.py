"""`make bench-index`: how an index of a gateway grows, in bytes and in CPU for a reading.

A node commits a short chain; its blocks go into an index again and again under other names, until
it has the readings that were asked for. So ten million take minutes and no chain of that length.
What is timed is what the gateway's follower does with a block in memory: project it (once, since
that is the same in each turn), and add it.
Prints one JSON object as its last line and writes it to build/bench/index-KIND.json.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Final, Self

from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import Committed
from contracts.runtime.files import make_directory
from demo.bench_cold import measured
from demo.ending import failing_in_one_line
from demo.renamed import ANY_BLOCK, renamed
from gateway.index.projection import project
from gateway.index.store import IndexStore
from storage.bench.goals.goals import written
from storage.bench.goals.ledger.chains import QUICK, NodeMeasurements
from storage.checked.connection import pages_read

DIRECTORY: Final = Path("build/bench")
FIRST: Final = 100_000
"""The first figures are those at so many readings; the next at twice as many, and so on."""
_CHAINS: Final = {"alone": replace(QUICK, chain=QUICK.in_a_row), "runs": QUICK}


@dataclass(frozen=True, slots=True)
class Point:
    """The index at some size.

    Attributes:
        readings: In the index.
        bytes_per_reading: Of its file.
        cpu_us: CPU for each reading since the point before, microseconds.
        kernel_us: How much of it the kernel used: for reading, writing and syncing the file.
        pages: Pages read from the file for each reading since the point before.
    """

    readings: int
    bytes_per_reading: float
    cpu_us: float
    kernel_us: float
    pages: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What this process and its connection to the index have used so far.

    Attributes:
        cpu_s: Seconds of CPU.
        kernel_s: Those in the kernel.
        pages: Read from the file.
    """

    cpu_s: float = 0.0
    kernel_s: float = 0.0
    pages: int = 0

    @classmethod
    def now(cls, index: IndexStore) -> Self:
        """Return what was used until now."""
        used = getrusage(RUSAGE_SELF)
        with index.connection() as db:
            return cls(used.ru_utime + used.ru_stime, used.ru_stime, pages_read(db))

    def plus(self, begin: Self, end: Self) -> "Spent":
        """Return the sum with what was used between two moments."""
        return Spent(
            self.cpu_s + end.cpu_s - begin.cpu_s,
            self.kernel_s + end.kernel_s - begin.kernel_s,
            self.pages + end.pages - begin.pages,
        )


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(prog="make bench-index", description=__doc__)
    parser.add_argument("--readings", type=int, default=1_000_000, help="default 1,000,000")
    parser.add_argument("--kind", choices=list(_CHAINS), default="runs", help="default runs")
    parser.add_argument(
        "--cold", action="store_true", help="then move every second trip into cold files"
    )
    options = parser.parse_args()
    with failing_in_one_line("bench-index"):
        make_directory(DIRECTORY)
        with TemporaryDirectory(prefix="index-", dir=DIRECTORY) as directory:
            blocks = _chain(options.kind, Path(directory))
            index = Path(directory) / "index.db"
            points = []
            for point in grown(index, blocks, options.readings):
                print_point(point)
                points.append(point)
            cold = _cold(index, blocks) if options.cold else {}
    last = points[-1]
    figures = {
        "kind": options.kind,
        "readings": last.readings,
        "index_bytes_per_reading_gateway": round(last.bytes_per_reading, 1),
        "index_cpu_us_per_reading": round(last.cpu_us, 1),
        "growth": {
            each.readings: [
                round(each.bytes_per_reading, 1),
                round(each.cpu_us, 1),
                round(each.kernel_us, 1),
                round(each.pages, 3),
            ]
            for each in points
        },
        **cold,
    }
    print(written(figures, DIRECTORY / f"index-{options.kind}.json"))


def grown(path: Path, blocks: Sequence[Committed], readings: int) -> Iterator[Point]:
    """Fill an index with blocks, under other names each time; yield its growth.

    Args:
        path: Of the index, a new file.
        blocks: A chain from its beginning.
        readings: How many shall be in the index, at least.
    """
    began_s = time.process_time()
    projected = [project(each, ANY_BLOCK) for each in blocks]
    projected_s = time.process_time() - began_s
    many = sum(len(one.readings) for each in projected for one in each.readings)
    count, due, turn, spent, since = 0, FIRST, 0, Spent(), 0
    with closing(IndexStore(path)) as index:
        while count < readings:
            for number, each in enumerate(projected, turn * len(projected)):
                rows, added = renamed(each, turn, number)
                began = Spent.now(index)
                index.add(rows, added)
                spent = spent.plus(began, Spent.now(index))
            turn, count = turn + 1, count + many
            if count >= min(due, readings):
                yield _point(path, count, spent, count - since, projected_s / many)
                spent, since = Spent(), count
                due = max(due, count) * 2


def _point(path: Path, count: int, spent: Spent, added: int, projected_s: float) -> Point:
    """Return the point at `count` readings.

    Args:
        path: Of the index.
        count: Readings in it.
        spent: On the last ones.
        added: How many those are.
        projected_s: CPU to project one.
    """
    return Point(
        count,
        path.stat().st_size / count,
        (spent.cpu_s / added + projected_s) * 1e6,
        spent.kernel_s / added * 1e6,
        spent.pages / added,
    )


def _cold(path: Path, blocks: Sequence[Committed]) -> dict[str, float]:
    with closing(IndexStore(path)) as index:
        return measured(index, blocks)


def print_point(point: Point) -> None:
    """Print a point of the growth."""
    print(
        f"{point.readings:>12,} readings: {point.bytes_per_reading:6.1f} bytes, "
        f"{point.cpu_us:6.1f} µs of CPU for each since the line before, "
        f"{point.kernel_us:5.1f} of them in the kernel, {point.pages:6.3f} pages read",
        flush=True,
    )


def _chain(kind: str, directory: Path) -> list[Committed]:
    """Return the blocks of a chain that a node has committed."""
    sizes, chain = _CHAINS[kind], directory / "chain"
    node = NodeMeasurements(DIRECTORY, sizes, lambda words: print(words, flush=True))
    if kind == "alone":
        node.in_a_row(chain, on=False)
    else:
        node.runs(chain)
    with node.node(chain) as running, closing(LedgerClient(running.addresses["rest"])) as ledger:
        return list(ledger.committed(0))


if __name__ == "__main__":
    main()
