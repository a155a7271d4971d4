"""Which copies should be deleted, judged by ages, quotas and room; the oldest come first.

These are proposals: whether a copy may be deleted depends on trips, holds and the ledger, which the
gateway knows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contracts.copies import Copy, Place, Policy
from storage.recordings.manifest import Progress

DAY_S: Final = 86_400


class Rule(StrEnum):
    """Why a copy should be deleted."""

    QUOTA = "quota"
    ROOM = "room"
    VOLUME_DAYS = "volume-days"
    BLOBS_DAYS = "blobs-days"
    PARTIAL_DAYS = "partial-days"


@dataclass(frozen=True, slots=True)
class Removal:
    """A proposal to delete a copy.

    Attributes:
        recording_id: 32 bytes.
        volume: Name of the volume with the copy; empty for every copy at this site.
        rule: The rule that proposes it.
        reason: Why the rule applies, in words and figures.
    """

    recording_id: bytes
    volume: str
    rule: Rule
    reason: str


@dataclass(frozen=True, slots=True)
class Fill:
    """How full a volume is.

    Attributes:
        name: The volume's.
        holdings: By recording, bytes that it takes there, whole or in part.
        quota_bytes: Limit for them; 0 means no limit.
        free_bytes: Left on the file system.
        needed_bytes: Bytes that announced uploads will take.
    """

    name: str
    holdings: Mapping[bytes, int]
    quota_bytes: int
    free_bytes: int
    needed_bytes: int


def aged(
    released: Mapping[bytes, float], fills: Iterable[Fill], *, volume_days: int, blobs_days: int
) -> Iterator[Removal]:
    """Yield the copies that are older than allowed; 0 days means no limit.

    Args:
        released: Age of each recording, seconds, oldest first.
        fills: The volumes that answer.
        volume_days: Limit for copies on volumes.
        blobs_days: Limit for all copies.
    """
    volumes = list(fills)
    for recording_id, age_s in released.items():
        if blobs_days and age_s >= blobs_days * DAY_S:
            reason = f"{age_s / DAY_S:.1f} days old, blobs_days is {blobs_days}"
            yield Removal(recording_id, "", Rule.BLOBS_DAYS, reason)
        elif volume_days and age_s >= volume_days * DAY_S:
            reason = f"{age_s / DAY_S:.1f} days old, volume_days is {volume_days}"
            for fill in volumes:
                if recording_id in fill.holdings:
                    yield Removal(recording_id, fill.name, Rule.VOLUME_DAYS, reason)


def crowded(released: Mapping[bytes, float], fill: Fill) -> Iterator[Removal]:
    """Yield the released copies of a volume that exceeds its quota or lacks room."""
    used = sum(fill.holdings.values())
    if fill.quota_bytes and used > fill.quota_bytes:
        rule, reason = Rule.QUOTA, f"{used} bytes used, the quota is {fill.quota_bytes}"
    elif fill.quota_bytes and used + fill.needed_bytes > fill.quota_bytes:
        rule = Rule.QUOTA
        reason = (
            f"{used} bytes used and {fill.needed_bytes} announced, the quota is {fill.quota_bytes}"
        )
    elif fill.needed_bytes > fill.free_bytes:
        rule = Rule.ROOM
        reason = f"{fill.needed_bytes} bytes announced, {fill.free_bytes} free"
    else:
        return
    for recording_id in released:
        if recording_id in fill.holdings:
            yield Removal(recording_id, fill.name, rule, reason)


def stalled(uploads: Iterable[tuple[Progress, float]], partial_days: int) -> Iterator[Removal]:
    """Yield the uploads without progress for longer than allowed; 0 days means no limit."""
    for progress, standing_s in uploads:
        if partial_days and standing_s >= partial_days * DAY_S:
            reason = (
                f"at {progress.offset} of {progress.size} bytes for {standing_s / DAY_S:.1f} days, "
                f"partial_days is {partial_days}"
            )
            yield Removal(progress.recording_id, "", Rule.PARTIAL_DAYS, reason)


def leaves_enough(policy: Policy, remaining: Iterable[Copy]) -> bool:
    """Return whether the remaining copies include the blobs that the policy requires.

    A copy on another volume does not count, because only reading it proves that it exists.
    """
    blobs = [copy for copy in remaining if copy.place is Place.BLOBS]
    return any(wanted.met_by(copy) for wanted in policy.requirements for copy in blobs)
