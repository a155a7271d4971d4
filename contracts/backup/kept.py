"""Every file that Wayseal keeps, by its place, and who copies it.

The commands copy what this list says, and the table in docs/operator.md, "Backups", has its rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final


class CopiedBy(StrEnum):
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
    by: CopiedBy
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
    Kept("NODE", "chain.log", CopiedBy.NODE, How.LOG),
    Kept("NODE", "node.key", CopiedBy.NODE),
    Kept("NODE", "index/", CopiedBy.NOBODY),
    Kept("NODE", "lock", CopiedBy.NOBODY),
    Kept("NODE", HALF_RESTORED, CopiedBy.NOBODY),
    Kept("GATEWAY", "inbox.db", CopiedBy.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "deletions.db", CopiedBy.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "retention.db", CopiedBy.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "accesses.db", CopiedBy.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "uploads.db", CopiedBy.GATEWAY, How.DATABASE),
    Kept("GATEWAY", "gateway.key", CopiedBy.GATEWAY),
    Kept("GATEWAY", "gateway.pub", CopiedBy.GATEWAY),
    Kept("GATEWAY", "pki/", CopiedBy.GATEWAY),
    Kept("GATEWAY", "tokens.json", CopiedBy.GATEWAY),
    Kept("GATEWAY", "people.json", CopiedBy.GATEWAY),
    Kept("GATEWAY", "documents.pem", CopiedBy.GATEWAY),
    Kept("GATEWAY", "volume-ids/", CopiedBy.GATEWAY),
    Kept("GATEWAY", "recordings/", CopiedBy.GATEWAY),
    Kept("GATEWAY", "index.db", CopiedBy.NOBODY),
    Kept("GATEWAY", "cold/", CopiedBy.NOBODY),
    Kept("GATEWAY", "cold-failed", CopiedBy.NOBODY),
    Kept("GATEWAY", "cold-now", CopiedBy.NOBODY),
    Kept("GATEWAY", "scrub.db", CopiedBy.NOBODY),
    Kept("GATEWAY", "reserve", CopiedBy.NOBODY),
    Kept("GATEWAY", "*.db.damaged*", CopiedBy.NOBODY),
    Kept("GATEWAY", "lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "tokens.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "people.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "documents.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "sessions.db", CopiedBy.NOBODY),
    Kept("GATEWAY", "jobs.db", CopiedBy.NOBODY),
    Kept("GATEWAY", "jobs/", CopiedBy.NOBODY),
    Kept("GATEWAY", "claims.json", CopiedBy.NOBODY),
    Kept("GATEWAY", "waiting.json", CopiedBy.NOBODY),
    Kept("GATEWAY", "claims.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "waiting.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "mosquitto.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "mosquitto-sessions.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", "reindex.lock", CopiedBy.NOBODY),
    Kept("GATEWAY", HALF_RESTORED, CopiedBy.NOBODY),
    Kept("VOLUME", "", CopiedBy.HAND),
    Kept("BLOBS", "", CopiedBy.HAND),
    Kept("DEVICE", "device.key", CopiedBy.HAND),
    Kept("DEVICE", "tls/", CopiedBy.NOBODY),
    Kept("DEVICE", "journal.sqlite", CopiedBy.NOBODY),
    Kept("DEVICE", "videos/", CopiedBy.NOBODY),
    Kept("DEVICE", "recording.lock", CopiedBy.NOBODY),
    Kept("DEVICE", "offload.lock", CopiedBy.NOBODY),
    Kept("DEVICE", "agent.lock", CopiedBy.NOBODY),
    Kept("DEVICE", "offload.json", CopiedBy.NOBODY),
    Kept("DEVICE", "sensors.json", CopiedBy.NOBODY),
    Kept("DEVICE", "displays.json", CopiedBy.NOBODY),
    Kept("DEVICE", "successions.json", CopiedBy.NOBODY),
    Kept("DEVICE", "journey.json", CopiedBy.NOBODY),
    Kept("DEVICE", "journey.order", CopiedBy.NOBODY),
    Kept(SETTINGS, "gateway.toml", CopiedBy.GATEWAY),
    Kept(SETTINGS, "gateway.env", CopiedBy.GATEWAY),
    Kept(SETTINGS, "nvmeof.json", CopiedBy.GATEWAY),
    Kept(SETTINGS, "nvme-*.key", CopiedBy.GATEWAY),
    Kept(SETTINGS, "node.env", CopiedBy.NODE),
    Kept(SETTINGS, "tp.env", CopiedBy.HAND),
    Kept(SETTINGS, "device.toml", CopiedBy.HAND),
    Kept(SETTINGS, "device.env", CopiedBy.HAND),
    Kept("/etc/systemd/system", "wayseal-*", CopiedBy.NOBODY),
    Kept("/etc/mosquitto/wayseal", "", CopiedBy.NOBODY),
    Kept("/run/wayseal", "health.json", CopiedBy.NOBODY),
    Kept("KEYS", "*.key", CopiedBy.HAND),
    Kept("KEYS", "*.key.pub", CopiedBy.HAND),
    Kept("KEYS", "order-*.json", CopiedBy.HAND),
    Kept("/opt/wayseal", "", CopiedBy.NOBODY),
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
