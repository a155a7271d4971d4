"""Watches one sensor: its latest value, and what is wrong with it."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.errors import RejectedError
from contracts.records.reading import Tamper
from device.live.health import BAD, Finding, Health, Watch
from device.live.port import Measured, Sensor

PLAUSIBLE: Final[Mapping[str, tuple[int, int]]] = {
    "temperature_mcel": (-60_000, 125_000),
    "humidity_mpct": (0, 100_000),
    "pressure_pa": (30_000, 120_000),
}
"""What a truck's sensor can measure; another value is refused, and not recorded."""


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """How a sensor is asked.

    Attributes:
        name: Its name.
        every_s: Time from one question to the next, seconds.
        offsets: What is added to a quantity: calibration.
        frozen_after_s: After that time with the same values they count as frozen; 0 is never.
        late_s: After that time without an answer the sensor hangs, and its value is too old; for
            so long it has to work again before it counts as working.
    """

    name: str
    every_s: float = 1.0
    offsets: Mapping[str, int] = field(default_factory=dict)
    frozen_after_s: float = 0.0
    late_s: float = 5.0


class SensorWatch(Watch):
    """Asks one sensor until it is over; another thread takes what it measured.

    Args:
        plan: How it is asked.
        connect: Opens the sensor; raises as `Sensor.measure` does.
        found: Told of each change of its health, in either thread.
    """

    def __init__(
        self, plan: WatchPlan, connect: Callable[[], Sensor], found: Callable[[Finding], None]
    ) -> None:
        super().__init__(plan.name, "sensor", plan.every_s, found)
        self.plan = plan
        self._connect = connect
        self._latest = Measured()
        self._latest_s = time.monotonic()
        self._changed_s = self._latest_s
        self._signs = Tamper.NONE
        self._good_s: float | None = None

    def take(self) -> Measured:
        """See `Watch.take`."""
        with self._lock:
            age_s = time.monotonic() - self._latest_s
            signs, self._signs = self._signs, Tamper.NONE
            latest = self._latest
        if age_s <= self.plan.late_s:
            lasting = latest.tamper & ~Tamper.SHOCK  # a shock is over, a door may still be open
            return replace(latest, tamper=signs | lasting)
        if self._health not in BAD:
            self._say(Health.SILENT, f"no answer for {age_s:.0f} s")
        return Measured(tamper=signs)

    def _work(self, over: threading.Event) -> None:
        sensor = self._connect()
        try:
            self._ask(sensor, over)
        finally:
            sensor.close()

    def _ask(self, sensor: Sensor, over: threading.Event) -> None:
        while not over.is_set():
            due_s = time.monotonic() + self.plan.every_s
            try:
                measured = plausible(sensor.measure(), self.plan.offsets)
            except RejectedError as error:
                self._say(Health.REFUSED, str(error))
            else:
                self._backoff.reset()
                self._keep(measured)
            over.wait(due_s - time.monotonic())

    def _keep(self, measured: Measured) -> None:
        now_s = time.monotonic()
        with self._lock:
            self._good_s = now_s if self._good_s is None else self._good_s
            good_s = now_s - self._good_s
            if measured.quantities != self._latest.quantities or self._health is Health.STARTING:
                self._changed_s = now_s
            self._latest, self._latest_s = measured, now_s
            self._signs |= measured.tamper
            same_s = now_s - self._changed_s
        limit_s = self.plan.frozen_after_s
        if limit_s and measured.quantities and same_s >= limit_s:  # a parked truck's place may stay
            self._say(Health.FROZEN, f"the same for over {limit_s:.0f} s")
        elif self._health not in BAD or good_s >= self.plan.late_s:  # a loose contact is one loss
            self._say(Health.WORKS, "")

    def _became(self, health: Health) -> None:
        if health in BAD:
            self._good_s, self._latest = None, Measured()


def plausible(measured: Measured, offsets: Mapping[str, int]) -> Measured:
    """Return what was measured with its calibration.

    Raises:
        RejectedError: A value is outside what a truck's sensor can measure.
    """
    found: dict[str, int] = {}
    for quantity, value in measured.quantities.items():
        low, high = PLAUSIBLE[quantity]
        found[quantity] = value + offsets.get(quantity, 0)
        if not low <= found[quantity] <= high:
            raise RejectedError(f"{quantity} must be {low}..{high}, got {found[quantity]}")
    return replace(measured, quantities=found)
