"""The service `wayseal-device`: its user, and where its unit lets it write."""

from pathlib import Path
from typing import Final

USER: Final = "wayseal-device"
DATA: Final = Path("/var/lib/wayseal/device")
