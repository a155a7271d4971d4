"""A real Cassandra server for the time of a measurement."""

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.localcassandra.cluster import Cluster
from storage.localcassandra.config import Options

ACCEPT_TIMEOUT_S: Final = 60
"""A node says that it serves a moment before it does."""
_POLL_S: Final = 0.1


@contextmanager
def cassandra(directory: Path, options: Options, lib: Path | None = None) -> Iterator[Cluster]:
    """Run one new server; remove all that it stored.

    Args:
        directory: For commit log and tables.
        options: Of the server.
        lib: Its jars; fetched when not given.

    Raises:
        RejectedError: There is no java or no mvn.
        UnavailableError: It does not get ready.
    """
    home = directory / "cassandra"
    try:
        with Cluster(home, options=options, lib=lib) as server:
            _wait_until_it_accepts(server)
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _wait_until_it_accepts(server: Cluster) -> None:
    end_s = time.monotonic() + ACCEPT_TIMEOUT_S
    while True:
        try:
            socket.create_connection((server.addresses[0], server.ports.native), _POLL_S).close()
        except OSError as error:
            if time.monotonic() > end_s:
                raise UnavailableError(f"Cassandra does not let clients in: {error}") from error
            time.sleep(_POLL_S)
        else:
            return
