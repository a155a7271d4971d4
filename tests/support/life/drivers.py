"""The truck's sensors: they fail when the world says so. And the stream that asks them."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from contracts.errors import RejectedError, UnavailableError
from contracts.records.reading import Position
from device.camera.filming.reel import Reel
from device.live.health import Health
from device.live.port import Measured
from device.live.source import Connection, LiveSource, mixed
from device.live.watch import SensorWatch, WatchPlan
from device.sensors.port import Sample
from device.stop import Stop

if TYPE_CHECKING:
    import threading

FAULTS: Final = {
    "unplugged": Health.LOST,
    "raises": Health.LOST,
    "lies": Health.REFUSED,
    "nonsense": Health.REFUSED,
    "hangs": Health.SILENT,
}
"""What a driver does, and what has to be found of it."""
_MCEL: Final = 4_500
_IMPOSSIBLE_MCEL: Final = 999_000


@dataclass
class Driver:
    """A sensor; its fault is empty while it works."""

    name: str
    measured: Callable[[], Measured]
    fault: str = ""

    def measure(self) -> Measured:
        match self.fault:
            case "unplugged":
                raise UnavailableError(f"{self.name} is unplugged")
            case "raises":
                raise ZeroDivisionError(self.name)
            case "nonsense":
                raise RejectedError(f"{self.name}: expected a number, got 'nan'")
            case "lies":
                return Measured({"temperature_mcel": _IMPOSSIBLE_MCEL})
        return self.measured()

    def close(self) -> None:
        """Nothing to release."""


class _Once:
    """Lets a watch ask its sensor once: it is over at the first wait."""

    def __init__(self) -> None:
        self._is_over = False

    def is_set(self) -> bool:
        return self._is_over

    def wait(self, _: float) -> bool:
        self._is_over = True
        return True


@dataclass(frozen=True, slots=True)
class VirtualSource(LiveSource):
    """Live sensors that are asked in turn, in one thread, each time that the world's time moves.

    Attributes:
        drivers: The sensors.
        tick: Lets time pass until the next reading.
        kept: Told that all readings so far are durable.
    """

    drivers: Sequence[Driver] = ()
    tick: Callable[[], None] = lambda: None
    kept: Callable[[], None] = lambda: None

    def stream(
        self, stop: Stop, idle: Callable[[], None], reel: Reel | None = None
    ) -> Generator[Sample]:
        """See `LiveSource.stream`."""
        del reel  # there is no camera
        watches = [SensorWatch(each.plan, each.connect, self._tell) for each in self.sensors]
        offset_ms = 0
        while not stop.requested:
            for watch, driver in zip(watches, self.drivers, strict=True):
                if driver.fault != "hangs":
                    watch.run(cast("threading.Event", _Once()))
            found = mixed([watch.take() for watch in watches])
            yield Sample(
                offset_ms,
                temperature_mcel=found.quantities.get("temperature_mcel"),
                position=found.position,
                tamper=found.tamper,
            )
            idle()
            self.kept()
            self.tick()
            offset_ms += self.interval_ms

    @property
    def interval_ms(self) -> int:
        return round(self.interval_s * 1_000)


def sources(count: Callable[[], int]) -> list[Driver]:
    """Return the truck's sensors.

    The receiver never fails: each of its positions is a number of `count`, by which the readings
    are told apart.
    """
    return [
        Driver("gps", lambda: Measured(position=Position(count(), 0, 100))),
        Driver("cargo", lambda: Measured({"temperature_mcel": _MCEL})),
    ]


def connections(drivers: Sequence[Driver], interval_s: float) -> list[Connection]:
    """Return how the truck asks its sensors; nothing that never changes counts as frozen."""
    late_s = 2 * interval_s
    return [
        Connection(WatchPlan(each.name, interval_s, late_s=late_s), lambda each=each: each)  # type: ignore[misc] # mypy cannot infer a lambda with a default
        for each in drivers
    ]
