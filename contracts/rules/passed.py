"""Time between two moments of one device, as its own counter says."""

from typing import NamedTuple, Protocol

from contracts.proto.state_pb2 import Chain, Trip
from contracts.records.clock import UTC_MS_MAX
from contracts.rules.version import RulesVersion


class Moment(Protocol):
    """A claimed UTC time beside the counter of one boot: a reading, or a `Clock` message."""

    @property
    def utc_ms(self) -> int:
        """Return the time, milliseconds since the Unix epoch."""
        ...

    @property
    def monotonic_ms(self) -> int:
        """Return the milliseconds since the boot."""
        ...

    @property
    def boot_id(self) -> bytes:
        """Return the boot's id; empty if only the time is known."""
        ...


class _Before(NamedTuple):
    utc_ms: int
    monotonic_ms: int
    boot_id: bytes


def last_moment(chain: Chain, trip: Trip) -> Moment | None:
    """Return a chain's last moment: its last reading, or the trip's start for its device."""
    if chain.count:
        return _Before(chain.last_utc_ms, chain.last_monotonic_ms, chain.last_boot_id)
    start = trip.start
    if chain.device_id != start.device_id:
        return None
    return start.clock if start.HasField("clock") else _Before(start.started_at_ms, 0, b"")


def passed_ms(before: Moment | None, now: Moment, version: RulesVersion) -> int:
    """Return the time that passed, which no clock setting changes within one boot.

    Across a reboot it is what UTC says. Since version 1.1 it is at least what the new boot counted:
    a wall clock that stands still over reboots must not hide time.
    """
    if before is None:
        return 0
    counted_ms = now.monotonic_ms - before.monotonic_ms
    if now.boot_id == before.boot_id and counted_ms >= 0:
        return counted_ms
    by_utc_ms = max(0, now.utc_ms - before.utc_ms)
    if version < RulesVersion.V1_1 or not has_rebooted(before, now):
        return by_utc_ms
    return max(by_utc_ms, min(now.monotonic_ms, UTC_MS_MAX))


def has_rebooted(before: Moment | None, now: Moment) -> bool:
    """Say whether a device was started again between two moments."""
    return before is not None and before.boot_id not in (b"", now.boot_id)
