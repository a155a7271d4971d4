"""Real Cassandra servers for tests, and stores that use them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from cassandra.cluster import Session

from contracts.errors import WaysealError
from storage.bench.servers.cassandra.artifacts import installed
from storage.bench.servers.cassandra.cluster import Cluster
from storage.bench.servers.cassandra.config import NodePlace, Options
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.driver import make_cluster
from storage.blobs.cassandra.store import CassandraBlobs
from storage.blobs.port import BlobStore
from support.machine.wire import Wire, wire_to
from support.project.pages import ROOT
from support.trucks.rogue import until

HEAP_MB: Final = 512
JVM: Final = ("-XX:TieredStopAtLevel=1",)
"""A server that lives for seconds is up sooner, at half the CPU, without its best compiler."""
HEALED_S: Final = 120
"""Nodes that come back are found again by gossip, then by the driver."""


def make_cassandra(directory: Path, *places: NodePlace, **options: Any) -> Cluster:  # noqa: ANN401
    """Return servers that are not started yet; their jars are cached in build/."""
    chosen = Options(heap_mb=HEAP_MB, jvm=JVM, **options)
    return Cluster(
        directory, places or (NodePlace(),), chosen, lib=installed(ROOT / "build/cassandra")
    )


def config_of(cluster: Cluster, keyspace: str, **changes: Any) -> CassandraConfig:  # noqa: ANN401
    """Return a gateway's settings for these servers."""
    config = CassandraConfig(tuple(cluster.addresses), cluster.ports.native, keyspace=keyspace)
    return replace(config, **changes)


@contextmanager
def by_wire(cluster: Cluster, keyspace: str) -> Iterator[tuple[CassandraConfig, Wire]]:
    """Return settings that lead to a server of one node by a wire, which can be cut and mended.

    For its clients a server behind a cut wire is dead. A mended wire brings it back at once, while
    `Cluster.kill` and `start` cost 10 s of CPU.
    """
    config = config_of(cluster, keyspace)
    with wire_to(config.port) as wire:
        yield replace(config, port=wire.port), wire


@contextmanager
def opened(config: CassandraConfig, **options: Any) -> Iterator[CassandraBlobs]:  # noqa: ANN401
    """Open a store; nothing is asked of the servers yet."""
    store = CassandraBlobs(config, **options)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def cql(config: CassandraConfig) -> Iterator[Session]:
    """Open a session of the driver, to look or to meddle."""
    cluster = make_cluster(config)
    try:
        yield cluster.connect()
    finally:
        cluster.shutdown()


def works(store: BlobStore) -> bool:
    """Say whether a store works now."""
    try:
        store.check()
    except WaysealError:
        return False
    return True


def wait_until_it_works(store: BlobStore) -> None:
    until("a store that works", lambda: works(store), HEALED_S)


def openssl(directory: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)  # noqa: S603, S607


def make_authority(directory: Path, name: str) -> Path:
    """Make a certificate that signs others; return it. Its key lies beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    made = ("-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}")
    openssl(directory, "req", *made, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    return directory / f"{name}.pem"


def make_certificate(authority: Path, name: str, address: str | None = None) -> tuple[Path, Path]:
    """Return certificate and key of a node at an address, or of a client."""
    directory = authority.parent
    request = ("-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}")
    openssl(directory, "req", *request, "-keyout", f"{name}.key", "-out", f"{name}.csr")
    extra: tuple[str, ...] = ()
    if address is not None:
        (directory / f"{name}.ext").write_text(f"subjectAltName=IP:{address}\n")
        extra = ("-extfile", f"{name}.ext")
    signed = ("-CA", authority.name, "-CAkey", f"{authority.stem}.key", "-CAcreateserial")
    made = ("-days", "2", "-in", f"{name}.csr", "-out", f"{name}.pem")
    openssl(directory, "x509", "-req", *signed, *made, *extra)
    return directory / f"{name}.pem", directory / f"{name}.key"
