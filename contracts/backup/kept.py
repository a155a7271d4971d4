"""Every file that Wayseal keeps, by its place, and who copies it.

The commands copy what this list says, and the table in docs/operator.md, "Backups", has its rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final


class By(StrEnum):
    """Who copies a file; the table says it in these words."""

    GATEWAY = "`wayseal-gateway backup`"
    NODE = "`wayseal-node backup`"
    HAND = "by hand"
    NOBODY = "no"


class How(StrEnum):
    """How a command copies a file while its process runs."""

    WHOLE = "whole"
    """Its writers replace it as a whole, or never change it."""
    DATABASE = "database"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Kept:
    """One row: a file, or files of one kind.

    Attributes:
        place: `GATEWAY`, `NODE` and `DEVICE` are data directories; others stand for themselves.
        name: Below the place; a pattern as of the shell's. A folder ends with a slash.
        by: Who copies it.
        how: How a command copies it.
    """

    place: str
    name: str
    by: By
    how: How = How.WHOLE

    @property
    def path(self) -> str:
        """Return how documents name it."""
        return f"{self.place}/{self.name}"

    def covers(self, name: str) -> bool:
        """Say whether a file below the place is meant, or one within the folder."""
        if not self.name:
            return True
        return name.startswith(self.name) if self.name[-1] == "/" else fnmatchcase(name, self.name)


SETTINGS: Final = "/etc/wayseal"
HALF_RESTORED: Final = ".restoring"
"""In a data directory while a backup is put back; nothing starts on such a directory."""

KEPT: Final = (
    Kept("NODE", "chain.log", By.NODE, How.LOG),
    Kept("NODE", "node.key", By.NODE),
    Kept("NODE", "index/", By.NOBODY),
    Kept("NODE", "lock", By.NOBODY),
    Kept("NODE", HALF_RESTORED, By.NOBODY),
    Kept("GATEWAY", "inbox.db", By.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "deletions.db", By.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "retention.db", By.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "uploads.db", By.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "gateway.key", By.GATEWAY),
    Kept("GATEWAY", "gateway.pub", By.GATEWAY),
    Kept("GATEWAY", "pki/", By.GATEWAY),
    Kept("GATEWAY", "tokens.json", By.GATEWAY),
    Kept("GATEWAY", "volume-ids/", By.GATEWAY),
    Kept("GATEWAY", "recordings/", By.GATEWAY),
    Kept("GATEWAY", "index.db", By.NOBODY),
    Kept("GATEWAY", "scrub.db", By.NOBODY),
    Kept("GATEWAY", "reserve", By.NOBODY),
    Kept("GATEWAY", "*.db.damaged*", By.NOBODY),
    Kept("GATEWAY", "lock", By.NOBODY),
    Kept("GATEWAY", "tokens.lock", By.NOBODY),
    Kept("GATEWAY", "mosquitto.lock", By.NOBODY),
    Kept("GATEWAY", HALF_RESTORED, By.NOBODY),
    Kept("VOLUME", "", By.HAND),
    Kept("BLOBS", "", By.HAND),
    Kept("DEVICE", "device.key", By.HAND),
    Kept("DEVICE", "journal.sqlite", By.NOBODY),
    Kept("DEVICE", "videos/", By.NOBODY),
    Kept("DEVICE", "recording.lock", By.NOBODY),
    Kept("DEVICE", "offload.lock", By.NOBODY),
    Kept(SETTINGS, "gateway.toml", By.GATEWAY),
    Kept(SETTINGS, "gateway.env", By.GATEWAY),
    Kept(SETTINGS, "nvmeof.json", By.GATEWAY),
    Kept(SETTINGS, "nvme-*.key", By.GATEWAY),
    Kept(SETTINGS, "node.env", By.NODE),
    Kept(SETTINGS, "tp.env", By.HAND),
    Kept(SETTINGS, "device.toml", By.HAND),
    Kept(SETTINGS, "device.env", By.HAND),
    Kept("/etc/systemd/system", "wayseal-*", By.NOBODY),
    Kept("/etc/mosquitto/wayseal", "", By.NOBODY),
    Kept("/run/wayseal", "health.json", By.NOBODY),
    Kept("KEYS", "*.key", By.HAND),
    Kept("KEYS", "*.key.pub", By.HAND),
    Kept("KEYS", "order-*.json", By.HAND),
    Kept("/opt/wayseal", "", By.NOBODY),
)
"""In the order in which a command copies them. The gateway's catalogue comes after its databases:
a receipt that a database has then names only recordings that the catalogue has."""


def kept_in(place: str) -> Iterator[Kept]:
    """Yield the rows of a place."""
    return (each for each in KEPT if each.place == place)


def row_of(place: str, name: str) -> Kept | None:
    """Return the row of a file below a place; a database's -wal and -shm belong to its row."""
    plain = name.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
    return next((each for each in kept_in(place) if each.covers(plain)), None)
