"""The gateway meets mosquitto at a Unix socket that no other user of the machine can fill."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from gateway.mosquitto.text import OWN_CONNECTIONS_MAX
from support.machine.mosquitto import MosquittoAppliance
from support.machine.private import write_private
from support.trucks.rogue import Site, until

pytestmark = pytest.mark.integration

PATIENCE_S: Final = 60.0
NOBODY: Final = 65534
_CONNECT: Final = """
import os, socket, sys
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
socket.socket(socket.AF_UNIX).connect(sys.argv[1])
"""


class SocketAppliance(MosquittoAppliance):
    """A gateway whose own listener at mosquitto is a Unix socket."""

    socket: Path

    def _write_settings(self) -> None:
        super()._write_settings()
        text = self.settings_file.read_text("utf-8")
        place = f'[mqtt]\nsocket = "{self.socket}"\n'
        write_private(self.settings_file, text.replace("[mqtt]\n", place))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("socket")
    with TemporaryDirectory(dir="/tmp") as short:
        Path(short).chmod(0o755)  # so that the socket alone decides
        appliance = SocketAppliance(directory / "site")
        appliance.socket = Path(short) / "gateway.sock"
        made = Site(directory, appliance)
        try:
            made.start()
            yield made
        finally:
            made.stop()


def connected(site: Site) -> bool:
    return bool(site.ask("/v1/status")["broker_connected"])


def place_of(site: Site) -> Path:
    assert isinstance(site.appliance, SocketAppliance)
    return site.appliance.socket


def test_the_gateway_is_there_and_no_other_port_is(site: Site) -> None:
    until("the gateway at its socket", lambda: connected(site), PATIENCE_S)
    assert isinstance(site.appliance, SocketAppliance)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", site.appliance.own_port), PATIENCE_S)
    status = place_of(site).stat()
    assert stat.S_ISSOCK(status.st_mode)
    assert not status.st_mode & stat.S_IRWXO


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_gets_no_place(site: Site) -> None:
    command = [sys.executable, "-c", _CONNECT, str(place_of(site)), str(NOBODY)]
    tried = subprocess.run(  # noqa: S603 - the program above
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert "PermissionError" in tried.stderr


def test_strangers_at_the_trucks_port_and_a_kill_keep_the_gateway_out_of_nothing(
    site: Site,
) -> None:
    assert isinstance(site.appliance, SocketAppliance)
    broker = site.appliance.broker
    assert broker is not None
    host, port = broker.address.rsplit(":", 1)
    strangers = [
        socket.create_connection((host, int(port)), PATIENCE_S)
        for _ in range(OWN_CONNECTIONS_MAX + 1)
    ]
    broker.stop()
    until("the gateway notes it", lambda: not connected(site), PATIENCE_S)
    broker.start()
    until("the gateway is back", lambda: connected(site), PATIENCE_S)
    for stranger in strangers:
        stranger.close()
