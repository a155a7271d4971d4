"""What version 1.1 finds about a device: silence, reboots, and times that cannot be."""

from typing import Final

from contracts.proto.payload_pb2 import SealTrip
from contracts.proto.state_pb2 import Chain
from contracts.records.placed import Placed
from contracts.rules.blocktimes import BlockTimes
from contracts.rules.case import Notes
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks
from contracts.rules.passed import Moment, has_rebooted, last_moment, passed_ms
from contracts.rules.silence import Listener
from contracts.rules.watched import Watched

TOLD_MAX: Final = 64
"""Reboots, and stretches of implausible times, that a device's chain tells one by one."""


class Attention:
    """Follows one device's readings and its seal."""

    def __init__(self, watched: Watched, chain: Chain, notes: Notes, marks: Marks) -> None:
        trip = self._trip = watched.trip
        self._chain = chain
        self._notes = notes
        from_start = not chain.count and chain.device_id == trip.start.device_id
        self._listener = Listener(watched.listened, chain, notes, marks, from_start=from_start)
        self._times = BlockTimes.after(watched.agreed_ms, notes.case)
        self._earliest_ms, self._latest_ms = self._times.span()
        self._live = chain.live
        self._implausible = chain.implausible
        self._followed = 0

    def follow(self, last: Moment | None, reading: Placed, passed: int) -> None:
        """Take the next reading, `passed` milliseconds after the moment `last`."""
        if last is None or reading.boot_id != last.boot_id:
            self._check_boot(last, reading, reading.sequence)
        derived = reading.record.derived
        is_outside = not (derived or self._earliest_ms <= reading.utc_ms <= self._latest_ms)
        if is_outside or self._implausible:
            self._check_time(reading, reading.sequence, derived=derived)
        if not (derived or self._live):
            self._live = True
        self._listener.follow(reading, passed)
        self._followed += 1

    def close(self, seal: SealTrip) -> None:
        """Take the device's seal."""
        last = last_moment(self._chain, self._trip)
        self._check_boot(last, seal.clock, self._chain.next_sequence)
        live = self._live or not (self._chain.count or self._trip.start.derived_from)
        self._check_time(seal.clock, self._chain.next_sequence, derived=not live)
        self._listener.close(passed_ms(last, seal.clock, self._notes.case.version))
        self._followed += 1
        self.keep()

    def keep(self) -> None:
        """Write what later readings need into the chain."""
        self._chain.live = self._live
        self._chain.implausible = self._implausible
        if self._times.has_latest:
            self._chain.timed += self._followed
        self._listener.keep()

    def _check_boot(self, last: Moment | None, now: Moment, sequence: int) -> None:
        if not has_rebooted(last, now):
            return
        self._chain.reboots += 1
        if self._chain.reboots <= TOLD_MAX:
            self._notes.add(
                Rule.REBOOTED, f"the device was started {now.monotonic_ms} ms before", sequence
            )

    def _check_time(self, now: Moment, sequence: int, *, derived: bool) -> None:
        """Find the first of consecutive times that do not lie between the blocks.

        A derived reading claims no time of its own, and the verdict says that it is derived.
        """
        was = self._implausible
        found = None if derived else self._times.finding(now.utc_ms)
        self._implausible = found is not None
        if found is None or was:
            return
        chain = self._chain
        chain.implausible_times += 1
        if chain.implausible_times <= TOLD_MAX:
            self._notes.add(*found, sequence)
