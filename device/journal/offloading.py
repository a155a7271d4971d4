"""How far an offload is that runs now, as it told last; `wayseal-device status` shows it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.runtime.files import holder_of
from contracts.runtime.sizes import size
from contracts.text import counted

NAME: Final = "offload.json"
_BYTES_MAX: Final = 1 << 16
_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Offloading:
    """How far an offload is.

    Attributes:
        site: Where; None if the settings do not name it.
        batches: Batches that the gateway does not hold yet.
        video_bytes: Bytes of all recordings that it was told of.
        video_bytes_sent: Of these, what it has.
        bytes_per_s: Of the latest seconds; None if that is not known yet.
        left_s: Seconds until all video is sent; None if that cannot be said.
    """

    site: str | None
    batches: int
    video_bytes: int
    video_bytes_sent: int
    bytes_per_s: int | None
    left_s: int | None

    def __str__(self) -> str:
        """Return it in words."""
        words = []
        if self.batches:
            words.append(f"{counted(self.batches, 'batch', 'batches')} to send")
        if self.video_bytes:
            words.append(f"{size(self.video_bytes_sent)} of {size(self.video_bytes)} of video sent")
        if self.left_s:
            words += [f"{size(self.bytes_per_s or 0)}/s", f"about {self.duration} left"]
        return ", ".join(words) or "all is sent, waiting for receipts"

    @property
    def duration(self) -> str:
        """Return the time left in words."""
        seconds = self.left_s or 0
        minutes = round(seconds / _MINUTE_S)
        return f"{minutes} min" if seconds > 2 * _MINUTE_S else f"{seconds} s"


def offloading(folder: Path, lock: Path) -> Offloading | None:
    """Return how far the offload is that runs now; None if none runs, or it has told nothing.

    Args:
        folder: The device's data directory.
        lock: The lock file that an offloading process holds.
    """
    if holder_of(lock) is None:
        return None
    try:
        with (folder / NAME).open("rb") as file:
            told: Any = json.loads(file.read(_BYTES_MAX))
        return Offloading(**told)
    except (OSError, ValueError, TypeError):
        return None
