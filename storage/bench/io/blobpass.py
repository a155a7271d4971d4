"""One video into Cassandra and back, with the work of device, server and client."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.bench.disk import cool_all
from storage.bench.io.blobtable import BlobTable, Passed
from storage.bench.io.figures import Cpu, DeviceTraffic, cpu, invalid
from storage.bench.io.ground import Ground
from storage.bench.io.sampler import sampling
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.latency import latencies
from storage.bench.run.outcome import Better, Latencies, Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place
from storage.bench.servers.cassandra.node import Node
from storage.bench.trucks.payload import Payload

COMMIT_LOG: Final = Metric("commit-log-bytes", "B", Better.LOWER)
_ID_BYTES: Final = 32
_SEGMENT: Final = re.compile(r"CommitLog-\d+-(\d+)\.log")
Segments = Mapping[int, int]
"""Bytes by the number of a segment; numbers grow by one."""
_PLACEMENT: Final = Raised(
    Flag.UNKNOWN_PLACEMENT,
    "expected a drive whose counters can be read, got a cluster on unknown drives",
)


@dataclass(frozen=True, slots=True)
class OwnServer:
    """A server that the benchmark started, with commit log and tables on one volume."""

    ground: Ground
    node: Node


def on_volume(
    own: OwnServer, table: BlobTable, pieces: int, in_flight: int, place: Place
) -> Outcome:
    """Write a video, flush it to tables, drop them from the page cache, and read it back.

    Raises:
        UnavailableError: The server failed.
    """
    node, payload = own.node, Payload(place.seed, pieces)
    recording = place.seed.to_bytes(_ID_BYTES)
    table.empty()
    with place.counted():
        log = segments(node.data / "commitlog")
        before = Cpu.now(node.pid)
        with sampling(own.ground) as until_flushed:
            with sampling(own.ground) as writing:
                wrote = table.write(recording, payload, in_flight)
            in_log = written(log, segments(node.data / "commitlog"))
            node.nodetool("flush")
            write_cpu = cpu("write", payload.size, before, node.pid)
            cool_all(node.data / "data")
        before = Cpu.now(node.pid)
        with sampling(own.ground) as reading:
            read = table.read(recording, payload, in_flight)
        read_cpu = cpu("read", payload.size, before, node.pid)
    wrong = invalid(read.wrong)
    sink, source = DeviceTraffic(own.ground, writing), DeviceTraffic(own.ground, reading)
    flags = (*wrong, *source.cached(payload.size))
    observations = [
        *sink.seconds("write", *wrong),
        sink.rate("write-rate", payload.size / wrote.elapsed_s, *wrong),
        *source.seconds("read", *flags),
        source.rate("read-rate", payload.size / read.elapsed_s, *flags),
        *DeviceTraffic(own.ground, until_flushed).amplification(payload.size),
        Observation(COMMIT_LOG, in_log),
        *write_cpu,
        *read_cpu,
    ]
    tables = [*writing.series("writing"), *reading.series("reading")]
    return Outcome(observations, tables, _latencies(wrote, read), work=Work(2 * payload.size))


def elsewhere(table: BlobTable, pieces: int, in_flight: int, place: Place) -> Outcome:
    """Write a video into an existing cluster and read it back; only the client is measured.

    Raises:
        UnavailableError: The cluster failed.
    """
    payload, recording = Payload(place.seed, pieces), place.seed.to_bytes(_ID_BYTES)
    table.empty()
    with place.counted():
        before = Cpu.now(None)
        wrote = table.write(recording, payload, in_flight)
        write_cpu = cpu("write", payload.size, before, None, _PLACEMENT)
        before = Cpu.now(None)
        read = table.read(recording, payload, in_flight)
    flags = (*invalid(read.wrong), _PLACEMENT)
    observations = [
        Observation(Metric("write-rate", "B/s"), payload.size / wrote.elapsed_s, flags=flags),
        Observation(Metric("read-rate", "B/s"), payload.size / read.elapsed_s, flags=flags),
        *write_cpu,
        *cpu("read", payload.size, before, None, *flags),
    ]
    return Outcome(observations, (), _latencies(wrote, read))


def _latencies(wrote: Passed, read: Passed) -> list[Latencies]:
    return [
        latencies("write-response", wrote.took_s, intended=False),
        latencies("read-response", read.took_s, intended=False),
    ]


def segments(directory: Path) -> Segments:
    """Return the segments that exist now."""
    found = {}
    for path in directory.iterdir():
        if name := _SEGMENT.fullmatch(path.name):
            with suppress(FileNotFoundError):  # removed just now: its tables are flushed
                found[int(name[1])] = path.stat().st_size
    return found


def written(before: Segments, after: Segments) -> int:
    """Return the bytes that a server wrote into its commit log from one look to the next.

    With direct I/O the file of a segment grows with what is written. Where the file system has no
    direct I/O the file is mapped and has its full size from the start; then the answer is in whole
    segments.

    At the first look the server writes into the last segment but one; the last is its spare. A
    segment that is gone at the second look counts as large as the largest segment seen.
    """
    if not before or not after:
        return 0
    full = max((*before.values(), *after.values()))
    first = max(min(before), max(before) - 1)
    return sum(
        after.get(number, full) - before.get(number, 0) for number in range(first, max(after) + 1)
    )
