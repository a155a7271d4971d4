"""Adapter: asks NetworkManager over D-Bus for access points, and whether the link is metered.

Source: NetworkManager's D-Bus API, org.freedesktop.NetworkManager.Connection.Active and
org.freedesktop.NetworkManager.AccessPoint.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from contracts.errors import UnavailableError
from device.journey.presence import AccessPoint

_NAME: Final = "org.freedesktop.NetworkManager"
_PATH: Final = "/org/freedesktop/NetworkManager"
_WIFI: Final = "802-11-wireless"
_ACTIVATED: Final = 2
_METERED: Final = (1, 3)
_ANSWER_S: Final = 5.0


def access_points(bus: str = "SYSTEM") -> Sequence[AccessPoint]:
    """Return the access points of the active Wi-Fi connections.

    Args:
        bus: `SYSTEM`, `SESSION`, or the address of a bus.

    Raises:
        UnavailableError: NetworkManager does not answer, so nobody knows.
    """
    with _asking(bus) as ask:
        found = []
        for path in ask(_PATH, _NAME, "ActiveConnections"):
            active = f"{_NAME}.Connection.Active"
            if ask(path, active, "Type") != _WIFI or ask(path, active, "State") != _ACTIVATED:
                continue
            point = ask(path, active, "SpecificObject")
            if point == "/":
                continue
            name = bytes(ask(point, f"{_NAME}.AccessPoint", "Ssid")).decode("utf-8", "replace")
            address = ask(point, f"{_NAME}.AccessPoint", "HwAddress")
            found.append(AccessPoint(name, str(address).lower()))
        return found


def metered(bus: str = "SYSTEM") -> bool:
    """Say whether NetworkManager takes the connection with the default route for metered.

    Source: NetworkManager's D-Bus API, NMMetered: 1 is yes, 3 a guess that says yes.

    Raises:
        UnavailableError: NetworkManager does not answer, so nobody knows.
    """
    with _asking(bus) as ask:
        return ask(_PATH, _NAME, "Metered") in _METERED


@contextmanager
def _asking(bus: str) -> Iterator[Any]:
    """Yield a function that returns a property: of a path, an interface, by its name."""
    try:
        from jeepney import DBusAddress, Properties  # noqa: PLC0415 - only this way needs it
        from jeepney.io.blocking import open_dbus_connection  # noqa: PLC0415
        from jeepney.wrappers import DBusErrorResponse, unwrap_msg  # noqa: PLC0415
    except ImportError as error:
        raise UnavailableError("jeepney is not installed: scripts/install device") from error

    try:
        with open_dbus_connection(bus, auth_timeout=_ANSWER_S) as connection:

            def ask(path: str, interface: str, name: str) -> Any:  # noqa: ANN401 - D-Bus has its own types
                address = DBusAddress(path, bus_name=_NAME, interface=interface)
                message = Properties(address).get(name)
                reply = connection.send_and_get_reply(message, timeout=_ANSWER_S)
                return unwrap_msg(reply)[0][1]

            yield ask
    except (OSError, DBusErrorResponse, TimeoutError, ValueError) as error:
        raise UnavailableError(f"NetworkManager: {error!s:.200}") from error
