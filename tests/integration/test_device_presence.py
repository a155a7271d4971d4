"""Presence: NetworkManager's answers over a real D-Bus, what `iw` says, a broker, and a file."""

import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jeepney import (
    HeaderFields,
    Message,
    MessageType,
    new_error,
    new_method_return,
)
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from contracts.errors import UnavailableError
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from device.journey.configured import presence_of
from device.journey.networkmanager import access_points, metered
from device.journey.presence import (
    AccessPoint,
    FilePresence,
    WifiPresence,
    linked,
    points_of,
)
from device.settings_file import load
from device.station import make
from device.stop import Stop
from support.trucks.rogue import until
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration

DEADLINE_S = 20.0
NAME = "org.freedesktop.NetworkManager"
ROOT = "/org/freedesktop/NetworkManager"
YARD = AccessPoint("yard-b", "02:00:00:00:01:00")
Properties = dict[tuple[str, str, str], tuple[str, Any]]
WIFI: Properties = {
    (ROOT, NAME, "ActiveConnections"): ("ao", [f"{ROOT}/Active/1", f"{ROOT}/Active/2"]),
    (f"{ROOT}/Active/1", f"{NAME}.Connection.Active", "Type"): ("s", "802-3-ethernet"),
    (f"{ROOT}/Active/1", f"{NAME}.Connection.Active", "State"): ("u", 2),
    (f"{ROOT}/Active/2", f"{NAME}.Connection.Active", "Type"): ("s", "802-11-wireless"),
    (f"{ROOT}/Active/2", f"{NAME}.Connection.Active", "State"): ("u", 2),
    (f"{ROOT}/Active/2", f"{NAME}.Connection.Active", "SpecificObject"): ("o", f"{ROOT}/AP/7"),
    (f"{ROOT}/AP/7", f"{NAME}.AccessPoint", "Ssid"): ("ay", b"yard-b"),
    (f"{ROOT}/AP/7", f"{NAME}.AccessPoint", "HwAddress"): ("s", "02:00:00:00:01:00"),
}


class Manager:
    """Answers on the bus as NetworkManager does, with the properties that a test gives."""

    def __init__(self, bus: str) -> None:
        self.properties: Properties = {}
        self.bus: DBusConnection = open_dbus_connection(bus)
        self.bus.send_and_get_reply(message_bus.RequestName(NAME), timeout=DEADLINE_S)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.bus.close()

    def _serve(self) -> None:
        while True:
            try:
                call = self.bus.receive()
            except (OSError, ValueError):
                return
            if call.header.message_type is MessageType.method_call:
                self.bus.send(self._answer(call))

    def _answer(self, call: Message) -> Message:
        path = call.header.fields[HeaderFields.path]
        found = self.properties.get((path, *call.body))
        if found is None:
            return new_error(call, "org.freedesktop.DBus.Error.UnknownObject", "s", ("no such",))
        return new_method_return(call, "v", (found,))


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "bus"
    command = ["dbus-daemon", "--session", f"--address=unix:path={path}", "--nofork"]
    with subprocess.Popen(tied(command), stderr=subprocess.DEVNULL) as daemon:  # noqa: S603 - a peer
        until("the bus listens", path.exists)
        yield f"unix:path={path}"
        daemon.kill()


@pytest.fixture
def manager(bus: str) -> Iterator[Manager]:
    made = Manager(bus)
    yield made
    made.close()


def test_the_access_point_of_an_active_wifi_connection(bus: str, manager: Manager) -> None:
    manager.properties = WIFI
    assert access_points(bus) == [YARD]


@pytest.mark.parametrize(
    "changed",
    [
        {(ROOT, NAME, "ActiveConnections"): ("ao", [])},
        {(f"{ROOT}/Active/2", f"{NAME}.Connection.Active", "State"): ("u", 1)},
        {(f"{ROOT}/Active/2", f"{NAME}.Connection.Active", "SpecificObject"): ("o", "/")},
    ],
)
def test_wifi_that_is_not_connected_is_at_no_site(
    bus: str, manager: Manager, changed: Mapping[tuple[str, str, str], tuple[str, Any]]
) -> None:
    manager.properties = {**WIFI, **changed}
    assert access_points(bus) == []


@pytest.mark.parametrize(
    ("said", "is_metered"), [(0, False), (1, True), (2, False), (3, True), (4, False)]
)
def test_networkmanager_says_whether_the_link_is_metered(
    bus: str,
    manager: Manager,
    said: int,
    is_metered: bool,  # noqa: FBT001
) -> None:
    manager.properties = {(ROOT, NAME, "Metered"): ("u", said)}
    assert metered(bus) is is_metered


def test_nobody_knows_while_networkmanager_does_not_answer(bus: str, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"NetworkManager: .*(Unknown|not provided)"):
        access_points(bus)
    with pytest.raises(UnavailableError, match=r"NetworkManager: .*No such file"):
        access_points(f"unix:path={tmp_path}/no-bus")


def test_a_bus_that_says_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.journey.networkmanager._ANSWER_S", 0.2)
    path = tmp_path / "silent"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        with pytest.raises(UnavailableError, match="NetworkManager: "):
            access_points(f"unix:path={path}")


def test_a_point_that_goes_while_it_is_asked_for_is_not_known(bus: str, manager: Manager) -> None:
    manager.properties = {key: value for key, value in WIFI.items() if key[2] != "Ssid"}
    with pytest.raises(UnavailableError, match=r"NetworkManager: .*no such"):
        access_points(bus)


CONNECTED = """Connected to 02:00:00:00:01:00 (on wlan0)
\tSSID: yard-b
\tfreq: 5180
"""


def test_what_iw_says() -> None:
    assert points_of(CONNECTED) == (YARD,)
    assert points_of("Not connected.\n") == ()
    with pytest.raises(UnavailableError, match="expected `Connected to"):
        points_of("Usage: iw\n")
    with pytest.raises(UnavailableError, match="iw"):
        points_of("")


def test_iw_asked_for_an_interface_that_is_not_there() -> None:
    with pytest.raises(UnavailableError, match="iw"):
        linked("nowlan0")


def test_iw_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UnavailableError, match="iw is not installed: apt-get install iw"):
        linked("wlan0")


@pytest.mark.parametrize(
    ("point", "bssids", "near"),
    [
        (YARD, (), True),
        (YARD, (YARD.bssid,), True),
        (YARD, ("02:00:00:00:01:ff",), False),
        (AccessPoint("cafe", YARD.bssid), (YARD.bssid,), False),
        (AccessPoint("cafe", YARD.bssid), (), False),
    ],
)
def test_a_site_is_a_known_network_and_a_known_point_if_they_are_named(
    point: AccessPoint, bssids: tuple[str, ...], near: object
) -> None:
    assert WifiPresence(lambda: [point], ["yard-b"], bssids).look() is near


GATEWAY = """
[gateway]
site_id = "site-b"
mqtt = "127.0.0.1:{port}"
rest = "http://127.0.0.1:1"
token = "any"
public_keys = ["02{key}"]
[presence]
by = "broker"
"""


def test_a_site_is_there_while_its_broker_takes_connections(tmp_path: Path) -> None:
    port = free_port()
    truck = Truck(tmp_path / "truck", GATEWAY.format(port=port, key="a" * 64))
    settings = load(truck.config, {})
    assert settings.presence is not None
    with closing(Stop()) as stop:
        presence = presence_of(settings.presence, settings, make(settings), stop)
        assert presence.look() is False
        with subprocess.Popen(  # noqa: S603 - a peer of the test
            tied(["mosquitto", "-p", str(port)]), stderr=subprocess.DEVNULL
        ) as broker:
            until("the broker is seen", lambda: presence.look() is True)
            broker.terminate()
        assert presence.look() is False
        stop.request()
        assert presence.look() is None


def test_a_file_says_it(tmp_path: Path) -> None:
    presence = FilePresence(tmp_path / "presence")
    with pytest.raises(UnavailableError, match="No such file"):
        presence.look()
    presence.path.write_text("present\n")
    assert presence.look() is True
    presence.path.write_text("absent")
    assert presence.look() is False
    presence.path.write_text("maybe")
    with pytest.raises(UnavailableError, match="expected `present` or `absent`, got 'maybe'"):
        presence.look()
