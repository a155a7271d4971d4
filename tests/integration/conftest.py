"""Servers that are dear to start, shared by the tests that only need one to be there."""

from collections.abc import Iterator

import pytest

from storage.localcassandra.cluster import Cluster
from support.cassandras import make_cassandra


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return one node of data centre dc1, without login or TLS."""
    with make_cassandra(tmp_path_factory.mktemp("cassandra")) as cluster:
        yield cluster
