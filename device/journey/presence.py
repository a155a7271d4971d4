"""Port: whether a site's network is there. Its adapters ask a broker, a Wi-Fi link, or a file."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from contracts.errors import UnavailableError

_ANSWER_S: Final = 5.0
_FILE_BYTES_MAX: Final = 64


class Presence(Protocol):
    """Says whether a site's network is there now."""

    def look(self) -> bool | None:
        """Return whether it is there; None if it is unknown now, which is logged.

        Raises:
            UnavailableError: It is unknown; the message says why.
        """
        ...


@dataclass(frozen=True, slots=True)
class AccessPoint:
    """The access point that a Wi-Fi interface is connected to.

    Attributes:
        ssid: Name of its network.
        bssid: Its hardware address, lower case.
    """

    ssid: str
    bssid: str


@dataclass(frozen=True, slots=True)
class WifiPresence:
    """A site is there while Wi-Fi is connected to one of its networks.

    Attributes:
        points: Returns the access points that this device is connected to.
        ssids: Names of the sites' networks.
        bssids: Hardware addresses of the sites' access points, lower case; if there are any, the
            name alone does not count, since anyone can give a network that name.
    """

    points: Callable[[], Sequence[AccessPoint]]
    ssids: Sequence[str]
    bssids: Sequence[str] = ()

    def look(self) -> bool | None:
        """See `Presence.look`."""
        return any(
            point.ssid in self.ssids and (not self.bssids or point.bssid in self.bssids)
            for point in self.points()
        )


@dataclass(frozen=True, slots=True)
class FilePresence:
    """Another program writes `present` or `absent` to a file.

    Attributes:
        path: The file.
    """

    path: Path

    def look(self) -> bool | None:
        """See `Presence.look`."""
        try:
            with self.path.open("rb") as file:
                text = file.read(_FILE_BYTES_MAX).decode("ascii", "replace").strip()
        except OSError as error:
            raise UnavailableError(f"{self.path}: {error}") from error
        if text not in ("present", "absent"):
            raise UnavailableError(f"{self.path}: expected `present` or `absent`, got {text!r}")
        return text == "present"


def linked(interface: str) -> Sequence[AccessPoint]:
    """Return the access point that a Wi-Fi interface is connected to, as `iw` tells it, or none.

    Raises:
        UnavailableError: `iw` is not installed or fails, so nobody knows.
    """
    command = ["iw", "dev", interface, "link"]
    try:
        said = subprocess.run(  # noqa: S603 - the interface is checked by the settings
            command, capture_output=True, timeout=_ANSWER_S, check=True, encoding="utf-8"
        ).stdout
    except FileNotFoundError as error:
        raise UnavailableError("iw is not installed: apt-get install iw") from error
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{' '.join(command)}: {error.stderr.strip()[:200]}") from error
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise UnavailableError(f"{' '.join(command)}: {error}") from error
    return points_of(said)


def points_of(said: str) -> Sequence[AccessPoint]:
    """Return what `iw dev INTERFACE link` says: `Connected to BSSID (on wlan0)`, then `SSID: NAME`.

    Raises:
        UnavailableError: It says something else.
    """
    first, *rest = said.strip().splitlines() or [""]
    if first.startswith("Not connected"):
        return ()
    names = [line.strip().removeprefix("SSID: ") for line in rest if "SSID: " in line]
    words = first.split()
    if not first.startswith("Connected to ") or len(words) < len(["Connected", "to", "BSSID"]):
        raise UnavailableError(f"iw: expected `Connected to ...` or `Not connected.`, got {said!r}")
    return (AccessPoint(names[0] if names else "", words[2].lower()),)
