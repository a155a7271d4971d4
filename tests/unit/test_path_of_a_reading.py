"""How many files a reading crosses: a reader of the code who follows it has to open each of them.

What counts is a trip that is being recorded. What is opened and checked once before does not.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from device.chain.writer import GROUP_READINGS
from device.live.source import LiveSource
from device.sensors.port import Sample, SensorSource
from device.settings import BatchSettings, Settings, TripSettings
from device.station import make, recording
from device.stop import Stop
from device.tripsource import TripSource, replayed_trip, simulated_trip
from support.project.crossed import Crossed
from support.trucks.truck import write_log

FILES_MAX = 10
"""Files that a reading of a sensor crosses to the journal, durable, in a batch that closes."""
CSV_FILES_MAX = 14
"""Files that a reading of a foreign log crosses: in place of the sensor lines, cells and times."""
SETTLED = 100
"""Readings after which nothing is done for the first time."""


@dataclass(frozen=True)
class Watched:
    """SensorSource: notes which files are crossed for `GROUP_READINGS` readings of another one.

    Among so many is a batch that closes and a commit.
    """

    sensors: SensorSource
    crossed: Crossed

    def samples(self) -> Iterator[Sample]:
        samples = self.sensors.samples()
        for number in range(SETTLED + GROUP_READINGS + 1):
            if number == SETTLED:
                self.crossed.begin()
            sample = next(samples)
            yield sample
        self.crossed.end()
        yield from samples


def crossed_by(source: TripSource, folder: Path, per_transaction: int = 1) -> set[str]:
    """Record a trip from `source`; return the files that its readings cross."""
    settings = Settings(
        "truck-1",
        folder / "data",
        batch=BatchSettings(100, 3600, per_transaction),
        trip=TripSettings("site-1", "site-2", ()),
    )
    signer, crossed = make(settings), Crossed()
    assert not isinstance(source.sensors, LiveSource)
    watched = replace(source, sensors=Watched(source.sensors, crossed), cameras=[])
    stop = Stop()
    with closing(stop), recording(settings, signer) as recorder:
        trip = recorder.begin(watched, "truck-1", settings.need_trip())
        try:
            recorder.record(watched, trip, speed=0, stop=stop)
        finally:
            crossed.end()
    assert {"device/recorder.py", "device/journal/logbook.py"} <= crossed.files
    return crossed.files


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("per_transaction", [1, 50])
def test_a_reading_of_a_sensor_to_the_journal(
    tmp_path: Path, per_transaction: int, *, live: bool
) -> None:
    files = crossed_by(simulated_trip(90, 1, live=live), tmp_path, per_transaction)
    clock = {"device/live/clock.py", "contracts/runtime/kernelclock.py"}
    asked = clock if live else set()  # what time it is, and how sure that is
    assert len(files - asked) <= FILES_MAX, "\n".join(sorted(files))


def test_a_reading_of_a_foreign_log_to_the_journal(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.csv", SETTLED + 2 * GROUP_READINGS)
    files = crossed_by(replayed_trip(log, None, [], None), tmp_path)
    assert len(files) <= CSV_FILES_MAX, "\n".join(sorted(files))
