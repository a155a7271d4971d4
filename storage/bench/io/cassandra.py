"""The papers' video through Cassandra, on each volume and in existing clusters."""

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.chunktree import HASH_BYTES
from contracts.errors import RejectedError, WaysealError
from storage.bench.arguments import video_gb
from storage.bench.disk import require_room
from storage.bench.io.blobpass import OwnServer, elsewhere, on_volume
from storage.bench.io.blobtable import BlobTable, connected, drop_left_over
from storage.bench.io.ground import Ground
from storage.bench.io.keyspaces import new_name
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Execute, Part, Step, StepGroup
from storage.bench.run.volumetarget import VolumeTarget
from storage.bench.servers.cassandra.artifacts import installed
from storage.bench.servers.cassandra.cluster import Cluster, fresh_server
from storage.bench.servers.cassandra.config import Options
from storage.bench.trucks.payload import PIECE_BYTES, Payload, pieces_of
from storage.blobs.cassandra.config import CassandraConfig

WORKLOAD: Final = "cassandra"
VIDEO_GB: Final = 5.39
"""Source: paper 002, Table I."""
QUICK_VIDEO_GB: Final = 0.128
IN_FLIGHT: Final = 16
"""As a gateway has; see docs/performance.md, blobs in flight."""
TIMEOUT_S: Final = 60.0
PASSWORD: Final = "WAYSEAL_BENCH_CASSANDRA_PASSWORD"  # noqa: S105 - the variable's name
"""In the environment, since the result keeps the command line."""
UNKNOWN: Final = "unknown"
"""Interface of a cluster on unknown drives."""
_ROOM: Final = 4
"""Commit log, tables, and tables being compacted, each as large as the video, and one spare."""
_SLACK_BYTES: Final = 2 << 30
_WARM_PIECES: Final = 256
_QUICK_WARM_PIECES: Final = 32
_EXISTING: Final = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9._-]{0,31})=(?P<host>\[[0-9a-f:]+\]|[^:\[\]]+)(:(?P<port>[0-9]+))?"
)
_PORT: Final = 9042
_PORTS_END: Final = 1 << 16
_START_S: Final = 10.0
_GUESSED_WRITE: Final = 100e6
_GUESSED_READ: Final = 300e6
"""B/s, for the time left."""


@dataclass(frozen=True, slots=True)
class Existing:
    """An existing cluster.

    Attributes:
        address: Of a node.
        port: For clients.
    """

    name: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class CassandraLoad:
    """The load on each cluster.

    Attributes:
        pieces: Blobs of the video.
        in_flight: Requests at once.
        warm: Blobs written and read before the measurement: a new JVM is slow.
        seed: Of the blobs that warm the JVM.
    """

    pieces: int
    in_flight: int
    warm: int
    seed: int


def add_cassandra_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of Cassandra."""
    add = parser.add_argument
    add(
        "--video-gb",
        type=video_gb,
        metavar="GB",
        help=f"size of the video; default {VIDEO_GB}, quick {QUICK_VIDEO_GB}; 0 skips Cassandra",
    )
    add(
        "--cassandra",
        type=_existing,
        action="append",
        default=[],
        metavar="NAME=HOST[:PORT]",
        help="also measure an existing cluster on unknown drives; may be repeated",
    )
    add(
        "--cassandra-user",
        default="",
        metavar="ROLE",
        help=f"login there; its password is in {PASSWORD}",
    )
    add(
        "--in-flight",
        type=int,
        choices=range(1, 257),
        default=IN_FLIGHT,
        metavar="N",
        help="blobs in flight to Cassandra; default %(default)s",
    )


def prepare_cassandra(options: argparse.Namespace, setup: Setup, _stack: ExitStack) -> Prepared:
    """Check that the load can be carried out, and return the group.

    Keyspaces that killed runs of this machine left in existing clusters are dropped here.

    Raises:
        RejectedError: java is missing, a name is taken, a login is wrong, or a disk is too full.
        UnavailableError: A cluster does not answer.
    """
    size_gb = options.video_gb
    if size_gb is None:
        size_gb = QUICK_VIDEO_GB if setup.quick else VIDEO_GB
    server = Options()
    settings = {
        "video_gb": size_gb,
        "blob_bytes": PIECE_BYTES,
        "in_flight": options.in_flight,
        "consistency": "QUORUM",
        "commitlog_sync": server.commitlog_sync,
        "heap_mb": server.heap_mb,
    }
    if not size_gb:
        return Prepared((), {WORKLOAD: settings})
    warm = _QUICK_WARM_PIECES if setup.quick else _WARM_PIECES
    chosen = CassandraLoad(pieces_of(size_gb), options.in_flight, warm, setup.seed)
    size = chosen.pieces * PIECE_BYTES
    for volume in setup.volumes:
        require_room(volume.directory, _ROOM * size + _SLACK_BYTES)
    lib = installed()
    configs = _configs(options, [volume.name for volume in setup.volumes])
    targets = [_described(name, config) for name, config in configs.items()]
    count = len(setup.volumes) + len(configs)
    each_s = size / _GUESSED_WRITE + size / _GUESSED_READ
    group = StepGroup(
        Part.IO,
        "Cassandra on each volume",
        _START_S * len(setup.volumes) + count * setup.repetitions * each_s,
        partial(_opened, chosen, setup.volumes, configs, lib),
        setup.repetitions,
    )
    return Prepared((group,), {WORKLOAD: settings}, targets)


def _configs(options: argparse.Namespace, taken: Sequence[str]) -> dict[str, CassandraConfig]:
    """Return the configuration for each existing cluster, by name."""
    configs: dict[str, CassandraConfig] = {}
    for each in options.cassandra:
        if each.name in configs or each.name in taken:
            raise RejectedError(f"expected a different name for each target, got {each.name} twice")
        configs[each.name] = CassandraConfig(
            (each.address,),
            each.port,
            keyspace=new_name(os.getpid()),
            username=options.cassandra_user,
            password=os.environ.get(PASSWORD, ""),
            timeout_s=TIMEOUT_S,
        )
    return configs


def _described(name: str, config: CassandraConfig) -> dict[str, Any]:
    """Ask an existing cluster, and return it as a result describes it."""
    try:
        with connected(config) as (cluster, session):
            drop_left_over(cluster, session)
            hosts = cluster.metadata.all_hosts()
            return {
                "name": name,
                "kind": "cassandra",
                "interface": UNKNOWN,
                "address": f"{config.contact_points[0]}:{config.port}",
                "nodes": len(hosts),
                "releases": sorted({str(host.release_version) for host in hosts}),
            }
    except WaysealError as error:
        raise type(error)(f"--cassandra {name}: {error}") from error


@contextmanager
def _opened(
    chosen: CassandraLoad,
    volumes: Sequence[VolumeTarget],
    configs: Mapping[str, CassandraConfig],
    lib: Path,
) -> Iterator[Sequence[Step]]:
    """Start a server on each volume, make a table in each and in each cluster, and warm them."""
    with ExitStack() as stack:
        executes: dict[str, Execute] = {}
        for volume in volumes:
            server = stack.enter_context(fresh_server(volume.work, Options(), lib))
            table = stack.enter_context(BlobTable.made(_own(server)))
            _warm(table, chosen)
            own = OwnServer(Ground.of(volume, buffered=True), server.nodes[0])
            executes[volume.name] = partial(on_volume, own, table, chosen.pieces, chosen.in_flight)
        for name, config in configs.items():
            table = stack.enter_context(BlobTable.made(config))
            _warm(table, chosen)
            executes[name] = partial(elsewhere, table, chosen.pieces, chosen.in_flight)
        yield [Step(WORKLOAD, name, execute) for name, execute in executes.items()]


def _own(server: Cluster) -> CassandraConfig:
    return CassandraConfig(
        tuple(server.addresses),
        server.ports.native,
        keyspace=new_name(os.getpid()),
        timeout_s=TIMEOUT_S,
    )


def _warm(table: BlobTable, chosen: CassandraLoad) -> None:
    payload = Payload(chosen.seed, chosen.warm)
    recording = bytes(HASH_BYTES)
    table.write(recording, payload, chosen.in_flight)
    table.read(recording, payload, chosen.in_flight)


def _existing(text: str) -> Existing:
    found = _EXISTING.fullmatch(text)
    port = int(found["port"] or _PORT) if found else 0
    if found is None or not 0 < port < _PORTS_END:
        raise argparse.ArgumentTypeError(
            f"expected NAME=HOST[:PORT] with a name of a-z, 0-9, '.', '_' and '-', got {text!r}"
        )
    return Existing(found["name"], found["host"].strip("[]"), port)
