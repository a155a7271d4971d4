"""A device's clock: UTC against the counter of one boot, from moment to moment."""

from typing import Final

from contracts.proto.state_pb2 import Chain
from contracts.rules.case import Notes
from contracts.rules.ids import Rule
from contracts.rules.passed import Moment, passed_ms

CLOCK_JUMP_MS: Final = 60_000
"""How far UTC may move apart from the monotonic counter within one boot.

Version 1.0 compares two readings only. So UTC may leave the counter behind in small steps.
"""


class ClockWatch:
    """Follows a device's clock: finds that it went back, or that UTC and the counter moved apart.

    Since version 1.1 it also finds that they moved apart step by step since both were compared
    last.
    """

    __slots__ = ("_apart_ms", "_chain", "_notes", "_version")

    def __init__(self, chain: Chain, notes: Notes) -> None:
        """Go on from the difference that the chain keeps, if any."""
        self._chain = chain
        self._notes = notes
        self._version = notes.case.version
        self._apart_ms = chain.apart_ms if chain.HasField("apart_ms") else None

    def follow(self, before: Moment, now: Moment, sequence: int) -> int:
        """Compare two consecutive moments; return the time that passed, see `passed_ms`."""
        utc_ms, monotonic_ms = now.utc_ms, now.monotonic_ms
        went_ms, counted_ms = utc_ms - before.utc_ms, monotonic_ms - before.monotonic_ms
        same_boot = now.boot_id == before.boot_id
        steady = same_boot and went_ms >= 0 and counted_ms >= 0
        if went_ms < 0:
            self._notes.add(Rule.CLOCK_BACK, f"UTC went back by {-went_ms} ms", sequence)
        if same_boot and counted_ms < 0:
            self._notes.add(Rule.CLOCK_BACK, f"the counter went back by {-counted_ms} ms", sequence)
        elif steady and not -CLOCK_JUMP_MS <= went_ms - counted_ms <= CLOCK_JUMP_MS:
            self._notes.add(
                Rule.CLOCK_JUMP, f"UTC moved by {went_ms} ms while {counted_ms} ms passed", sequence
            )
            steady = False
        if self._version:  # since 1.1
            apart_ms, known_ms = utc_ms - monotonic_ms, self._apart_ms
            if steady:
                if known_ms is None:
                    known_ms = self._apart_ms = before.utc_ms - before.monotonic_ms
                steady = -CLOCK_JUMP_MS <= apart_ms - known_ms <= CLOCK_JUMP_MS
                if not steady:
                    self._notes.add(
                        Rule.CLOCK_JUMP,
                        f"UTC moved {apart_ms - known_ms} ms further than the counter, "
                        "step by step",
                        sequence,
                    )
            if not steady:
                self._apart_ms = apart_ms
        return counted_ms if steady else passed_ms(before, now, self._version)

    def keep(self) -> None:
        """Write the difference into the chain, for later moments."""
        if self._apart_ms is not None:
            self._chain.apart_ms = self._apart_ms
