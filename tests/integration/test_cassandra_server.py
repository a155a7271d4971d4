"""`make cassandra`: a real server starts, says how to reach it, keeps what it stores, ends."""

import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest

from gateway.storagesettings import CassandraSettings
from support.project.pages import ROOT

pytestmark = pytest.mark.integration
COMMAND = [sys.executable, "-m", "storage.bench.servers.cassandra.wayseal_cassandra"]
STOP_S = 60


@contextmanager
def running(directory: Path) -> Iterator[CassandraSettings]:
    """Run the command until it is ready; end it as Ctrl-C does."""
    command = [*COMMAND, str(directory), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            assert server.stdout is not None
            lines = list(takewhile(lambda line: line != "ready\n", server.stdout))
            yield CassandraSettings(**tomllib.loads("".join(lines))["cassandra"])
            server.send_signal(signal.SIGINT)
            assert server.wait(STOP_S) == 0
        finally:
            server.terminate()


@pytest.mark.long
def test_a_developer_gets_a_server_and_a_gateways_settings(tmp_path: Path) -> None:
    with running(tmp_path / "dev") as settings:
        socket.create_connection((settings.contact_points[0], settings.port), 5).close()
        other = subprocess.run(  # noqa: S603
            [*COMMAND, str(tmp_path / "dev")], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (other.returncode, "other servers run in" in other.stderr) == (1, True)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((settings.contact_points[0], settings.port), 5)
