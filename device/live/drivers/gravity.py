"""Tells an accelerometer that works from one that is stuck or lies: gravity is always there."""

import math
from collections.abc import Sequence
from typing import Final

Acceleration = tuple[int, ...]
"""Raw values along x, y and z."""
LOW_MG: Final = 600
HIGH_MG: Final = 1_400
"""What the mean acceleration may be, thousandths of g: 1 g, a hard brake, and the chip's offset."""


class Gravity:
    """Judges windows of samples: their mean is about 1 g, and noise lets no window be still.

    The first window ends with the first samples, so that a technician has an answer at once. It is
    too short to tell whether the chip is stuck, and one knock can make it wrong: until one is
    right, the next samples are judged by themselves again.

    Args:
        mg_per_lsb: Thousandths of g that one step of a raw value is.
        window: Samples of each further window.

    Attributes:
        now_mg: Mean acceleration of the latest samples, thousandths of g.
        wrong: Why the latest whole window cannot be, in words; empty if it can.
    """

    def __init__(self, mg_per_lsb: float, window: int) -> None:
        self._mg_per_lsb = mg_per_lsb
        self._window = window
        self._due = 1
        self._seen = 0
        self.now_mg = 0.0
        self.wrong = ""
        self._sums = [0, 0, 0]
        self._count = 0
        self._is_still = True
        self._first: Acceleration = ()

    @property
    def is_early(self) -> bool:
        """Whether no window was right yet, in the time of the first whole one."""
        return self._due < self._window and self._seen < self._window

    def take(self, samples: Sequence[Acceleration]) -> None:
        """Take samples as they come; there may be none."""
        if not samples:
            return
        sums = [sum(axis) for axis in zip(*samples, strict=True)]
        self.now_mg = self._mg(sums, len(samples))
        self._sums = [a + b for a, b in zip(self._sums, sums, strict=True)]
        self._count += len(samples)
        self._seen += len(samples)
        self._first = self._first or samples[0]
        self._is_still = self._is_still and all(each == self._first for each in samples)
        if self._count >= self._due:
            self.wrong = self._verdict()
            if not self.wrong:
                self._due = self._window
            self._begin()

    def _begin(self) -> None:
        self._sums = [0, 0, 0]
        self._count = 0
        self._is_still = True
        self._first = ()

    def _verdict(self) -> str:
        mean_mg = self._mg(self._sums, self._count)
        if not LOW_MG <= mean_mg <= HIGH_MG:
            return (
                f"expected the 1 g of gravity, {LOW_MG / 1000:g} to {HIGH_MG / 1000:g} g, got "
                f"{mean_mg / 1000:.2f} g as the mean of {self._count} samples"
            )
        if self._is_still and self._count >= self._window:
            return f"gave the same values {self._count} times in a row: it is stuck"
        return ""

    def _mg(self, sums: Sequence[int], count: int) -> float:
        return self._mg_per_lsb * math.hypot(*sums) / count
