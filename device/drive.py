"""What a trip is recorded from, checked as a whole before anything is signed.

Whatever is not measured here and now is derived; the trip's start names every
file it was taken from, with its SHA-256.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Source
from contracts.records.clock import ClockOrigin, check_utc_ms
from contracts.rules.form import RECORDINGS_MAX, SOURCES_MAX
from device.camera.port import Camera
from device.sensors.port import SensorSource

ROLES: Final = ("readings", "track", "video", "simulator")


@dataclass(frozen=True, slots=True)
class Drive:
    """Everything that one trip is recorded from.

    Attributes:
        sensors: Samples, from the trip's start.
        cameras: Each makes one recording, from the trip's start.
        started_at_ms: UTC of the start, milliseconds since the Unix epoch; of a live drive
            the machine's clock counts instead.
        origin: Where replayed times come from.
        derived_from: The files or the simulator behind it; empty when all is measured.
        live: Samples take the machine's clock, now.
    """

    sensors: SensorSource
    cameras: Sequence[Camera]
    started_at_ms: int
    origin: ClockOrigin
    derived_from: Sequence[Source]
    live: bool = False

    def __post_init__(self) -> None:
        """Check what the rules would refuse, so that no trip starts that could not go on."""
        if len(self.derived_from) > SOURCES_MAX or len(self.cameras) > RECORDINGS_MAX:
            raise RejectedError(
                f"a trip is made from up to {SOURCES_MAX} files with up to {RECORDINGS_MAX} "
                f"recordings, got {len(self.derived_from)} with {len(self.cameras)}"
            )
        check_utc_ms("start", self.started_at_ms)

    @property
    def input_id(self) -> bytes:
        """Identify the input, 32 bytes: an interrupted trip goes on with the same only."""
        names = [[source.role, source.name, source.sha256.hex()] for source in self.derived_from]
        start = None if self.live else self.started_at_ms
        return hashlib.sha256(json.dumps([names, start]).encode()).digest()


def source_of(role: str, path: Path, sha256: bytes) -> Source:
    """Return what the ledger keeps of a source file: its role, bare name and SHA-256."""
    if role not in ROLES:
        raise RejectedError(f"role must be one of {', '.join(ROLES)}: {role!r}")
    return Source(role=role, name=path.name, sha256=sha256)
