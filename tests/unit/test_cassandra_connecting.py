"""Connecting to a cluster that does not answer holds nobody up."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from contracts.errors import UnavailableError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.store import CassandraBlobs


def test_one_connects_and_nobody_waits_for_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(30)
        store = CassandraBlobs(CassandraConfig(port=server.getsockname()[1]))
        connecting = pool.submit(store.check)
        peer, _ = server.accept()
        with peer:
            for _ in range(2):
                with pytest.raises(UnavailableError, match=r"127\.0\.0\.1 is being connected"):
                    store.get(bytes(32), 0)
            store.close()
            assert not connecting.done(), "nobody waited for the peer to answer"
            with pytest.raises(UnavailableError, match="is closed"):
                store.get(bytes(32), 0)
            server.close()
        with pytest.raises(UnavailableError):
            connecting.result(30)
