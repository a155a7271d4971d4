"""What several files of tests need: a server that is dear to start, a device of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.localcassandra.cluster import Cluster
from support.cassandras import make_cassandra
from support.loops import loop_device


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return one node of data centre dc1, without login or TLS."""
    with make_cassandra(tmp_path_factory.mktemp("cassandra")) as cluster:
        yield cluster


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """Return a loop device of 512 MiB, on drive.img."""
    with loop_device(tmp_path / "drive.img", 512 << 20) as made:
        yield made
