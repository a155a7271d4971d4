"""What is known of the live sensors, in a file: `wayseal-device status` shows it."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.files import OWNER_ONLY, write_file
from device.live.health import Finding

NAME: Final = "sensors.json"
DISPLAYS: Final = "displays.json"
_BYTES_MAX: Final = 1 << 20


@dataclass(slots=True)
class HealthFile:
    """Keeps the latest finding of each sensor; any thread may tell one.

    Attributes:
        folder: The device's data directory.
        name: Of the file in it.
    """

    folder: Path
    name: str = NAME
    _known: dict[str, dict[str, str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def tell(self, finding: Finding) -> None:
        """Keep a finding. A card that takes no writes is told elsewhere: recording goes on."""
        with self._lock:
            self._known[finding.sensor] = {
                "health": finding.health,
                "detail": finding.detail,
                "since": rfc3339(now_ms()),
            }
            path = self.folder / self.name
            text = json.dumps(self._known)
            try:
                write_file(path, text.encode(), temporary=path.with_suffix(".new"), mode=OWNER_ONLY)
            except UnavailableError:
                return


def known(folder: Path, name: str = NAME) -> Mapping[str, Mapping[str, str]]:
    """Return what the latest run of the agent found, by sensor; empty before the first run."""
    try:
        with (folder / name).open("rb") as file:
            found = json.loads(file.read(_BYTES_MAX))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
