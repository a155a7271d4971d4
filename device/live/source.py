"""One stream from all sensors: at each tick the latest value of each quantity."""

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from contracts.records.reading import Tamper
from device.camera.filming.plan import CameraPlan
from device.camera.filming.port import Feed
from device.camera.filming.reel import Reel
from device.live.camerawatch import CameraWatch
from device.live.health import Finding, Health, Watch
from device.live.port import MOMENTS, Measured, Sensor
from device.live.watch import SensorWatch, WatchPlan
from device.sensors.port import Sample
from device.stop import Stop

FIRST_ANSWERS_S: Final = 5.0
"""How long the first tick waits for sensors that have not answered yet."""
_LOOK_S: Final = 0.05
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Connection:
    """A sensor of the settings: how it is asked, and how it is opened."""

    plan: WatchPlan
    connect: Callable[[], Sensor]


@dataclass(frozen=True, slots=True)
class LiveCamera:
    """A camera of the settings: how it films, and how it is opened.

    Attributes:
        plan: How it films.
        connect: Opens it; an event that is set ends its waits.
    """

    plan: CameraPlan
    connect: Callable[[threading.Event], Feed]


@dataclass(frozen=True, slots=True)
class LiveSource:
    """What is measured here and now. A trip from it is never the same again.

    Attributes:
        sensors: Where two give the same quantity, the one that stands first counts while it works.
        interval_s: Time from one sample to the next, seconds.
        found: Told of each change of a sensor's health.
        limited: Quantities such as `temperature` that somebody has to give.
        cameras: Each films the whole trip.
        spares: Told that a camera's film takes less room from now on, or no longer.
        missed: Told which signs nobody has taken, when recording fails.
    """

    sensors: Sequence[Connection]
    interval_s: float
    found: Callable[[Finding], None] = field(default=lambda _: None)
    limited: Sequence[str] = ()
    cameras: Sequence[LiveCamera] = ()
    spares: Callable[[str, bool], None] = field(default=lambda _name, _spares: None)
    missed: Callable[[Tamper], None] = field(default=lambda _signs: None)

    def stream(
        self, stop: Stop, idle: Callable[[], None], reel: Reel | None = None
    ) -> Generator[Sample]:
        """Yield a sample at each tick until `stop` is requested; missed ticks are left out.

        A sign since the last tick gives one sample more.

        Args:
            stop: Ends the stream.
            idle: Called before each wait.
            reel: Takes what the cameras film; at the end all of it is there. None: they do not.
        """
        with self._watching(reel) as watches:
            try:
                yield from self._samples(watches, stop, idle, reel)
            except BaseException:  # also that nobody wants more samples
                self.missed(_taken(watches).tamper)
                raise

    def keep_watch(self, stop: Stop, wait_s: float) -> None:
        """Ask the sensors while nothing can be recorded, and hand all signs to `missed`.

        Cameras do not film then, so they see nothing.

        Args:
            stop: Ends the wait.
            wait_s: How long, seconds.
        """
        with self._watching(None) as watches:
            stop.wait(wait_s)
            self.missed(_taken(watches).tamper)

    def _samples(
        self, watches: Sequence[Watch], stop: Stop, idle: Callable[[], None], reel: Reel | None
    ) -> Iterator[Sample]:
        began_s = time.monotonic()
        self._await_answers(watches, stop)
        due_s, measured = time.monotonic(), None
        while not stop.requested:
            is_first, measured = measured is None, _taken(watches, reel)
            if is_first:
                self._tell_missing(measured)
            yield _sample(measured, round((due_s - began_s) * 1000))
            idle()
            now_s = time.monotonic()
            missed = max(0.0, now_s - due_s) // self.interval_s
            due_s += self.interval_s * (missed + 1)
            stop.wait(due_s - now_s)
        rest = _taken(watches, reel)
        if rest.tamper & (MOMENTS | ~(measured.tamper if measured else Tamper.NONE)):
            yield _sample(rest, round((time.monotonic() - began_s) * 1000))

    @contextmanager
    def _watching(self, reel: Reel | None) -> Iterator[Sequence[Watch]]:
        over = threading.Event()
        watches: list[Watch] = [
            SensorWatch(each.plan, each.connect, self._tell) for each in self.sensors
        ]
        if reel is not None:
            watches += [
                CameraWatch(each.plan, each.connect, reel, self._tell, self.spares)
                for each in self.cameras
            ]
        threads = [
            # A driver that hangs must not keep the agent from ending.
            threading.Thread(target=watch.run, args=[over], name=watch.name, daemon=True)
            for watch in watches
        ]
        for thread in threads:
            thread.start()
        try:
            yield watches
        finally:
            over.set()
            for watch, thread in zip(watches, threads, strict=True):
                watch.end(thread)

    def _await_answers(self, watches: Sequence[Watch], stop: Stop) -> None:
        until_s = time.monotonic() + FIRST_ANSWERS_S
        while time.monotonic() < until_s and not stop.requested:
            if all(watch.health is not Health.STARTING for watch in watches):
                return
            stop.wait(_LOOK_S)

    def _tell_missing(self, measured: Measured) -> None:
        """Log what no sensor measures. The truck still departs: other readings are worth it."""
        for name in missing(self.limited, [measured]):
            _log.error(
                "no sensor gives %s, which the deliveries limit: nothing will show that the limit "
                "was kept",
                name,
            )

    def _tell(self, finding: Finding) -> None:
        level = logging.INFO if finding.health is Health.WORKS else logging.WARNING
        _log.log(level, "%s", finding)
        self.found(finding)


def missing(limited: Sequence[str], measured: Sequence[Measured]) -> list[str]:
    """Return those of the limited quantities that nobody has measured."""
    given = {quantity.partition("_")[0] for each in measured for quantity in each.quantities}
    return [name for name in limited if name not in given]


def _taken(watches: Sequence[Watch], reel: Reel | None = None) -> Measured:
    """Return what all measure now, and mark the film that shows their signs.

    A sensor's sign is about the truck, so film of all cameras may show it. What a camera sees, or
    no longer sees, is in its own film alone.
    """
    taken = [watch.take() for watch in watches]
    if reel is not None:
        for watch, each in zip(watches, taken, strict=True):
            if each.tamper:
                camera = watch.name if isinstance(watch, CameraWatch) else ""
                reel.mark(time.monotonic(), camera)
    return mixed(taken)


def mixed(measured: Sequence[Measured]) -> Measured:
    """Return for each quantity the first value that there is, and all signs."""
    quantities: dict[str, int] = {}
    tamper = Tamper.NONE
    for each in reversed(measured):
        quantities |= each.quantities
        tamper |= each.tamper
    positions = (each.position for each in measured if each.position)
    return Measured(quantities, next(positions, None), tamper)


def _sample(measured: Measured, offset_ms: int) -> Sample:
    found = measured.quantities
    return Sample(
        offset_ms,
        temperature_mcel=found.get("temperature_mcel"),
        humidity_mpct=found.get("humidity_mpct"),
        pressure_pa=found.get("pressure_pa"),
        position=measured.position,
        tamper=measured.tamper,
    )
