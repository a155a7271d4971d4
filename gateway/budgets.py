"""What the settings let grow, and how much of it is used.

What has no budget of its own, such as the index, has the room of its disk; see `doctor.room`.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from contracts.errors import UnavailableError
from gateway.intake.held import State
from gateway.intake.inbox import Inbox
from gateway.settings import Settings
from storage.volumes.directory import VolumeDirectory
from storage.volumes.volume import READ_LIMIT_S
from storage.volumes.volumes import Volumes

NEARLY_FULL: Final = 0.9
"""The part of a budget beyond which an operator is told."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit of the settings.

    Attributes:
        name: `inbox`, `quarantine`, or a volume with a quota, as `volume main`.
        used: Bytes.
        limit: Bytes.
    """

    name: str
    used: int
    limit: int

    @property
    def nearly_full(self) -> bool:
        """Whether it is near its end."""
        return self.used > self.limit * NEARLY_FULL


def budgets(settings: Settings, inbox: Inbox, volumes: Volumes) -> Iterator[Budget]:
    """Yield each budget, except of volumes that are out, since they do not answer.

    Raises:
        UnavailableError: The inbox cannot be read.
    """
    kept, limits = inbox.in_numbers(), settings.limits
    yield Budget("inbox", kept.used_bytes, limits.inbox_bytes)
    quarantined = kept.bytes.get(State.QUARANTINED, 0)
    yield Budget("quarantine", quarantined, limits.quarantine_bytes)
    for volume in volumes:
        if not volume.place.quota_bytes:
            continue
        with suppress(UnavailableError):
            asked = volume.begin(VolumeDirectory.used_bytes, reading=True)
            used = volume.wait(asked, READ_LIMIT_S)
            yield Budget(f"volume {volume.name}", used, volume.place.quota_bytes)
