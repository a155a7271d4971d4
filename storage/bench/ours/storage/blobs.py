"""Our way into Cassandra and out of it, beside the best bare loop over the very same table."""

import hashlib
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.chunktree import leaf_hash
from contracts.errors import UnavailableError
from storage.bench.cassandra import cassandra
from storage.bench.inflight import Rows
from storage.bench.ours.storage.bare import BareTable, Wire, unhashed
from storage.bench.ours.storage.media import MIB, timed
from storage.bench.ours.storage.pairs import Pair, interleaved
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.schema import BUCKET_BLOBS
from storage.blobs.cassandra.store import CassandraBlobs
from storage.localcassandra.cluster import Cluster
from storage.localcassandra.config import Options
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes

IN_FLIGHT: Final = (1, 2, 4, 8, 16, 32)
"""Tried by the bare loop, which then keeps the best."""
TRIES: Final = 2
HASHED_AHEAD: Final = 4
POOL_BLOBS: Final = 32
"""Random blobs in memory that make up each recording: no disk is read to write Cassandra."""
WARM_MIB: Final = 256
"""Written and read before anything counts: a JVM that has just begun is slow."""


@dataclass(frozen=True, slots=True)
class BlobFigures:
    """What was measured.

    Attributes:
        writes: Ours beside the bare loop.
        reads: Likewise.
        hashing_writes: Ours beside the loop that takes the same two hashes.
        hashing_reads: Ours beside the loop that checks leaf hashes too.
        bare_loop: How many requests in flight served it best, and all that was tried, in MiB/s.
    """

    writes: list[Pair]
    reads: list[Pair]
    hashing_writes: list[Pair]
    hashing_reads: list[Pair]
    bare_loop: dict[str, Any]


class Bench:
    """Both ways over one server.

    Args:
        store: Ours, over the server and no volume.
        bare: The limit, over the same table.
        mib: Of each recording.
    """

    def __init__(self, store: RecordingStore, bare: BareTable, mib: int) -> None:
        self._store = store
        self._bare = bare
        self._mib = mib
        self._pool = [os.urandom(MIB) for _ in range(POOL_BLOBS)]
        self._made = 0

    def write(self, _: int = 0) -> float:
        """Store a new recording; return seconds until it is whole."""
        return self.store()[1]

    def store(self) -> tuple[bytes, float]:
        """Store a new recording in an empty table; return its id and seconds until it is whole."""
        self._bare.empty()
        self._made += 1
        digest = hashlib.sha256()
        for piece in self._pieces():
            digest.update(piece)
        return digest.digest(), timed(lambda: self._put(digest.digest()))

    def bare_write(self, in_flight: int) -> float:
        """Write as many blobs with the bare loop into an empty table; return seconds."""
        self._bare.empty()
        return self._bare.write(os.urandom(32), unhashed(self._pieces()), self._mib, in_flight)

    def hashing_write(self, in_flight: int) -> float:
        """Write as many blobs with the loop that hashes all twice, in two threads; seconds."""
        self._bare.empty()
        digest = hashlib.sha256()

        def digested() -> Iterator[bytes]:
            for piece in self._pieces():
                digest.update(piece)
                yield piece

        with ThreadPoolExecutor(1) as pool:
            leaves = _ahead(pool, digested())
            return self._bare.write(os.urandom(32), leaves, self._mib, in_flight)

    def read(self, recording_id: bytes) -> float:
        """Read a recording as a verified stream; return seconds."""
        return timed(lambda: _drain(self._store.read(recording_id)))

    def bare_read(self, recording_id: bytes, in_flight: int) -> float:
        """Read its blobs with the bare loop, which verifies nothing; return seconds."""
        return self._bare.read(recording_id, self._mib, in_flight)

    def hashing_read(self, recording_id: bytes, in_flight: int) -> float:
        """Read its blobs with the loop that checks their leaf hashes in a thread; seconds."""
        checked: list[Future[bool]] = []

        def received(rows: Rows) -> None:
            checked.extend(pool.submit(_holds, leaf, data) for leaf, data in rows)

        start_s = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            self._bare.read(recording_id, self._mib, in_flight, received)
        if sum(each.result() for each in checked) != self._mib:
            raise UnavailableError(f"expected {self._mib} blobs that hold, some do not")
        return time.monotonic() - start_s

    def best(self, run: Callable[[int], float]) -> tuple[int, dict[int, list[float]]]:
        """Return how many in flight serve the bare loop best, and all that was tried, in MiB/s."""
        tried: dict[int, list[float]] = {count: [] for count in IN_FLIGHT}
        for _ in range(TRIES):
            for count, rates in tried.items():
                rates.append(round(self._mib / run(count), 1))
        return max(tried, key=lambda count: statistics.median(tried[count])), tried

    def _pieces(self) -> Iterator[bytes]:
        """Yield a recording that no other one equals."""
        yield self._made.to_bytes(8) + self._pool[0][8:]
        for number in range(1, self._mib):
            yield self._pool[number % POOL_BLOBS]

    def _put(self, recording_id: bytes) -> None:
        with self._store.begin(recording_id, self._mib * MIB) as writer:
            for piece in self._pieces():
                writer.write(piece)
            writer.finish()


def blob_figures(
    directory: Path, mib: int, repetitions: int, say: Callable[[str], None]
) -> BlobFigures:
    """Start a server, measure both ways, remove what it stored.

    Args:
        directory: For the server and the catalogue.
        mib: Of each recording.
        repetitions: How often.
        say: Tells people how far it is.
    """
    with ExitStack() as stack:
        server = stack.enter_context(cassandra(directory, Options()))
        store, bare = _both(stack, server, directory)
        warm = Bench(store, bare, min(mib, WARM_MIB))
        warm.read(warm.store()[0])
        bench = Bench(store, bare, mib)
        say("Cassandra: the bare loop's best writing")
        best_writes, writes_tried = bench.best(bench.bare_write)
        say(f"Cassandra: writing, beside the bare loop with {best_writes} in flight")
        writes = interleaved(
            repetitions, bench.write, lambda _: {"bare_loop": bench.bare_write(best_writes)}
        )
        say("Cassandra: writing, beside the same loop with our hashes")
        hashing_writes = interleaved(
            repetitions, bench.write, lambda _: {"loop": bench.hashing_write(best_writes)}
        )
        recording_id, _ = bench.store()
        say("Cassandra: the bare loop's best reading")
        best_reads, reads_tried = bench.best(lambda count: bench.bare_read(recording_id, count))
        say(f"Cassandra: reading, beside the bare loop with {best_reads} in flight")
        reads = interleaved(
            repetitions,
            lambda _: bench.read(recording_id),
            lambda _: {"bare_loop": bench.bare_read(recording_id, best_reads)},
        )
        say("Cassandra: reading, beside the same loop with our hashes")
        hashing_reads = interleaved(
            repetitions,
            lambda _: bench.read(recording_id),
            lambda _: {"loop": bench.hashing_read(recording_id, best_reads)},
        )
    tried = {"write": writes_tried, "read": reads_tried}
    return BlobFigures(
        writes,
        reads,
        hashing_writes,
        hashing_reads,
        {"writes_in_flight": best_writes, "reads_in_flight": best_reads, "tried": tried},
    )


def _ahead(pool: Executor, pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield leaf hashes with their pieces, the next of which are hashed meanwhile."""
    waiting: deque[tuple[Future[bytes], bytes]] = deque()
    for piece in pieces:
        waiting.append((pool.submit(leaf_hash, piece), piece))
        if len(waiting) == HASHED_AHEAD:
            leaf, data = waiting.popleft()
            yield leaf.result(), data
    yield from ((leaf.result(), data) for leaf, data in waiting)


def _holds(leaf: bytes, data: bytes) -> bool:
    return leaf_hash(data) == leaf


def _both(stack: ExitStack, server: Cluster, directory: Path) -> tuple[RecordingStore, BareTable]:
    address, port = server.addresses[0], server.ports.native
    config = CassandraConfig(contact_points=(address,), port=port)
    blobs = stack.enter_context(closing(CassandraBlobs(config)))
    blobs.check()  # makes the table
    volumes = stack.enter_context(Volumes({}, directory / "memory"))
    store = stack.enter_context(RecordingStore(directory / "catalogue", blobs, volumes, _no_damage))
    bare = stack.enter_context(closing(BareTable(address, port, Wire())))
    bare.use(config.keyspace, BUCKET_BLOBS)
    return store, bare


def _no_damage(recording_id: bytes, index: int, copy: str) -> None:
    raise UnavailableError(f"recording {recording_id.hex()} blob {index}: copy {copy} is damaged")


def _drain(pieces: Iterator[bytes]) -> None:
    for _ in pieces:
        pass
