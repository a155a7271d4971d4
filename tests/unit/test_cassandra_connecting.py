"""Connecting to a cluster that does not answer holds nobody up."""

import socket
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest
from cassandra.cluster import NoHostAvailable

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.errors import why_not_connected
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


def test_a_certificate_that_is_refused_is_said_whoever_heard_it() -> None:
    alert = ssl.SSLError(1, "[SSL] tlsv13 alert certificate required")
    alert.reason = "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    said = why_not_connected(NoHostAvailable("", {"127.0.0.1:9042": alert}))
    assert isinstance(said, RejectedError)
    assert "127.0.0.1:9042 refuses cassandra.tls_certificate: TLSV13_ALERT" in str(said)
    ended = ssl.SSLError(8, "EOF occurred in violation of protocol")
    assert isinstance(why_not_connected(ended), UnavailableError)
