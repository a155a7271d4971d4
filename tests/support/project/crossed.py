"""Which product files a piece of work crosses: those whose functions it calls."""

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Final

ROOT: Final = Path(__file__).parents[3]
_ROOMS: Final = tuple(f"{ROOT / room}/" for room in ("contracts", "device", "gateway", "storage"))


class Crossed:
    """Notes product files whose functions run while `noting` is set.

    Attributes:
        files: As `device/recorder.py`.
        noting: Whether calls count now.
    """

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.noting = False

    def begin(self) -> None:
        """Count the calls of this thread from now on."""
        self.noting = True
        sys.setprofile(self._note)

    def end(self) -> None:
        """Count no more calls."""
        sys.setprofile(None)
        self.noting = False

    def follow_threads(self, *, follow: bool = True) -> None:
        """Look at the calls of all threads that start from now on, or of no more threads."""
        threading.setprofile(self._note if follow else None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if self.noting and event == "call" and name.startswith(_ROOMS):
            self.files.add(name[len(str(ROOT)) + 1 :])
