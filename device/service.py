"""The service `wayseal-device`: its user, and what its unit hides and lets it write."""

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

USER: Final = "wayseal-device"
DATA: Final = Path("/var/lib/wayseal/device")
_UNIT: Final = "wayseal-device"
_ANSWER_S: Final = 5.0
_HOMES: Final = tuple(map(Path, ("/home", "/root", "/run/user")))
_TEMPORARY: Final = tuple(map(Path, ("/tmp", "/var/tmp")))  # noqa: S108 - PrivateTmp hides them
_SHOWN: Final = ("no", "read-only", "")


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """What systemd keeps the service from.

    Attributes:
        is_known: Whether systemd said so; else it is the unit as it is delivered.
        writable: Folders below which the service may write, besides `DATA`.
        hidden: Folders of which it sees nothing, each with the line that shows them.
    """

    is_known: bool
    writable: tuple[Path, ...]
    hidden: dict[Path, str]

    def may_write(self, path: Path) -> bool:
        """Say whether it may write there, as far as the unit goes."""
        return any(path.is_relative_to(each) for each in (DATA, *self.writable))

    def hides(self, path: Path) -> str:
        """Return the line for the unit that shows it a path; nothing if it sees the path."""
        return next((line for each, line in self.hidden.items() if path.is_relative_to(each)), "")


def unit() -> ServiceUnit:
    """Return what systemd says of the unit, with all drop-ins.

    Source: systemctl(1), `show`; systemd.exec(5).
    """
    names = ("LoadState", "ProtectSystem", "ReadWritePaths", "ProtectHome", "PrivateTmp")
    command = ["systemctl", "show", *(f"--property={each}" for each in names), _UNIT]
    try:
        said = subprocess.run(  # noqa: S603 - nobody's words are in it
            command, capture_output=True, timeout=_ANSWER_S, check=True, encoding="utf-8"
        ).stdout
        known = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
        paths = shlex.split(known.get("ReadWritePaths", ""))
    except (OSError, subprocess.SubprocessError, ValueError):  # such as a machine without systemd
        known, paths = {}, []
    if known.get("LoadState") != "loaded":
        return ServiceUnit(is_known=False, writable=(), hidden=_hidden("yes", "yes"))
    if known.get("ProtectSystem") != "strict":
        paths.append("/")
    writable = tuple(Path(each.lstrip("-+")) for each in paths)
    hidden = _hidden(known.get("ProtectHome", ""), known.get("PrivateTmp", ""))
    return ServiceUnit(is_known=True, writable=writable, hidden=hidden)


def _hidden(protect_home: str, private_tmp: str) -> dict[Path, str]:
    homes = {} if protect_home in _SHOWN else dict.fromkeys(_HOMES, "ProtectHome=read-only")
    return homes | ({} if private_tmp in _SHOWN else dict.fromkeys(_TEMPORARY, "PrivateTmp=no"))
