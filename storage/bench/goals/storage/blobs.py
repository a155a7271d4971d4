"""Our way into Cassandra and out of it, beside the best bare loop over the same table."""

import hashlib
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from contracts.chunktree import leaf_hash
from contracts.errors import UnavailableError
from contracts.runtime.files import make_directory
from storage.bench.commands.measuring import HERE
from storage.bench.disk import MIB, drain, timed
from storage.bench.goals.storage.bare import BareTable, Wire, unhashed
from storage.bench.goals.storage.pairs import LIMIT_CPU, OURS_CPU, Turns
from storage.bench.goals.storage.sizes import StorageSizes
from storage.bench.io.inflight import Rows
from storage.bench.run.outcome import Observation, Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.servers.cassandra.cluster import Cluster, fresh_server
from storage.bench.servers.cassandra.config import Options
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.schema import BUCKET_BLOBS
from storage.blobs.cassandra.store import CassandraBlobs
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes

WRITE: Final = "cassandra-write"
WRITE_HASHING: Final = "cassandra-write-hashing"
READ: Final = "cassandra-read"
READ_HASHING: Final = "cassandra-read-hashing"
"""With hashing, the bare loop hashes as we do: its distance is the price of our code."""
IN_FLIGHT: Final = (1, 2, 4, 8, 16, 32)
"""Tried by the bare loop, which then uses the best."""
TRIES: Final = 2
HASHED_AHEAD: Final = 4
POOL_BLOBS: Final = 32
"""Random blobs in memory that make up each recording: no disk is read to write Cassandra."""
WARM_MIB: Final = 256
"""Written and read before the measurement: a new JVM is slow."""


class BothWays:
    """Our way and the bare loop's, over one server.

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
        self.ours_cpu_s = self.limit_cpu_s = 0.0

    def write(self) -> float:
        """Store a new recording; return seconds until it is complete."""
        return self.store()[1]

    def cpu(self) -> list[Observation]:
        """Return the CPU of the last run of each, ours and the loop."""
        return [Observation(OURS_CPU, self.ours_cpu_s), Observation(LIMIT_CPU, self.limit_cpu_s)]

    def store(self) -> tuple[bytes, float]:
        """Store a new recording in an empty table; return its id and the seconds it took."""
        self._bare.empty()
        self._made += 1
        digest = hashlib.sha256()
        for piece in self._pieces():
            digest.update(piece)
        before_s = time.process_time()
        took_s = timed(lambda: self._put(digest.digest()))
        self.ours_cpu_s = time.process_time() - before_s
        return digest.digest(), took_s

    def bare_write(self, in_flight: int) -> float:
        """Write as many blobs with the bare loop into an empty table; return seconds."""
        self._bare.empty()
        with self._limit_counted():
            return self._bare.write(os.urandom(32), unhashed(self._pieces()), self._mib, in_flight)

    def hashing_write(self, in_flight: int) -> float:
        """Write as many blobs with a loop that hashes each twice, in two threads; seconds."""
        self._bare.empty()
        digest = hashlib.sha256()

        def digested() -> Iterator[bytes]:
            for piece in self._pieces():
                digest.update(piece)
                yield piece

        with self._limit_counted(), ThreadPoolExecutor(1) as pool:
            leaves = _ahead(pool, digested())
            return self._bare.write(os.urandom(32), leaves, self._mib, in_flight)

    def read(self, recording_id: bytes) -> float:
        """Read a recording as a verified stream; return seconds."""
        before_s = time.process_time()
        took_s = timed(lambda: drain(self._store.read(recording_id)))
        self.ours_cpu_s = time.process_time() - before_s
        return took_s

    def bare_read(self, recording_id: bytes, in_flight: int) -> float:
        """Read its blobs with the bare loop, which verifies nothing; return seconds."""
        with self._limit_counted():
            return self._bare.read(recording_id, self._mib, in_flight)

    def hashing_read(self, recording_id: bytes, in_flight: int) -> float:
        """Read its blobs with a loop that checks leaf hashes in a thread; return seconds."""
        checked: list[Future[bool]] = []

        def received(rows: Rows) -> None:
            checked.extend(pool.submit(_holds, leaf, data) for leaf, data in rows)

        start_s = time.monotonic()
        with self._limit_counted(), ThreadPoolExecutor(1) as pool:
            self._bare.read(recording_id, self._mib, in_flight, received)
        if sum(each.result() for each in checked) != self._mib:
            raise UnavailableError(
                f"expected {self._mib} blobs that match their leaf hashes, some do not"
            )
        return time.monotonic() - start_s

    def best(self, run: Callable[[int], float]) -> tuple[int, dict[int, list[float]]]:
        """Return the best number in flight for the bare loop, and all rates tried, in MiB/s."""
        tried: dict[int, list[float]] = {count: [] for count in IN_FLIGHT}
        for _ in range(TRIES):
            for count, rates in tried.items():
                rates.append(round(self._mib / run(count), 1))
        return max(tried, key=lambda count: statistics.median(tried[count])), tried

    @contextmanager
    def _limit_counted(self) -> Iterator[None]:
        before_s = time.process_time()
        yield
        self.limit_cpu_s = time.process_time() - before_s

    def _pieces(self) -> Iterator[bytes]:
        """Yield the pieces of a recording that differs from all others."""
        yield self._made.to_bytes(8) + self._pool[0][8:]
        for number in range(1, self._mib):
            yield self._pool[number % POOL_BLOBS]

    def _put(self, recording_id: bytes) -> None:
        with self._store.begin(recording_id, self._mib * MIB) as writer:
            for piece in self._pieces():
                writer.write(piece)
            writer.finish()


class CassandraBlobsBench:
    """Our way into Cassandra and out of it, on one server for both.

    Args:
        directory: For the server and the catalogue.
        sizes: Of the measurements.
        stack: Closed at the end of the run; stops the server if `reading` did not.
    """

    def __init__(self, directory: Path, sizes: StorageSizes, stack: ExitStack) -> None:
        self._directory = directory
        self._sizes = sizes
        self._stack = stack.enter_context(ExitStack())
        self._both: BothWays | None = None
        self._best: dict[str, int] = {}
        self._tried: dict[str, dict[int, list[float]]] = {}

    @property
    def bare_loop(self) -> dict[str, Any]:
        """Return the best numbers in flight, and all rates tried, in MiB/s."""
        best = {f"{way}s_in_flight": count for way, count in self._best.items()}
        return {**best, "tried": self._tried}

    @contextmanager
    def writing(self) -> Iterator[Sequence[Step]]:
        """Start the server, and yield our writes beside the bare loop, without and with hashes."""
        make_directory(self._directory)
        server = self._stack.enter_context(fresh_server(self._directory, Options()))
        store, bare = _both(self._stack, server, self._directory)
        warm = BothWays(store, bare, min(self._sizes.blobs_mib, WARM_MIB))
        warm.read(warm.store()[0])
        both = self._both = BothWays(store, bare, self._sizes.blobs_mib)
        bare_loop = Turns(both.write, lambda: {"bare_loop": both.bare_write(self._best["write"])})
        hashing = Turns(both.write, lambda: {"loop": both.hashing_write(self._best["write"])})
        yield [
            self._step(WRITE, both, both.bare_write, bare_loop),
            self._step(WRITE_HASHING, both, both.bare_write, hashing),
        ]

    @contextmanager
    def reading(self) -> Iterator[Sequence[Step]]:
        """Store a recording, yield our reads beside the bare loop, and stop the server.

        Raises:
            UnavailableError: The server did not start.
        """
        both = self._both
        if both is None:
            raise UnavailableError("expected the server that was started for writing, got none")
        with self._stack:
            recording_id, _ = both.store()

            def ours() -> float:
                return both.read(recording_id)

            def bare_read(in_flight: int) -> float:
                return both.bare_read(recording_id, in_flight)

            bare_loop = Turns(ours, lambda: {"bare_loop": bare_read(self._best["read"])})
            hashing = Turns(
                ours, lambda: {"loop": both.hashing_read(recording_id, self._best["read"])}
            )
            yield [
                self._step(READ, both, bare_read, bare_loop),
                self._step(READ_HASHING, both, bare_read, hashing),
            ]

    def _step(self, name: str, both: BothWays, bare: Callable[[int], float], turns: Turns) -> Step:
        """Return a step that finds the bare loop's best before its first measurement."""
        way = name.split("-")[1]

        def execute(place: Place) -> Outcome:
            if way not in self._best:
                place.says(f"Cassandra: the bare loop's best {way}")
                self._best[way], self._tried[way] = both.best(bare)
            place.says(f"{name}, beside the loop with {self._best[way]} in flight")
            outcome = turns.execute(place)
            return replace(outcome, observations=[*outcome.observations, *both.cpu()])

        return Step(name, HERE, execute)


def _ahead(pool: Executor, pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield leaf hashes with their pieces; a thread hashes the next pieces."""
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
