"""A truck on its trip in this process, and cameras that are scripted."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import numpy as np
from av import VideoFrame

from contracts.errors import UnavailableError
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper, reading_of
from contracts.records.remark import Remark
from device.camera.filming.plan import CameraPlan
from device.camera.filming.port import Piece
from device.camera.filming.pyav import OpenSegment
from device.camera.filming.segments import part_of
from device.journal.trip import Recording, Trip
from device.live.health import Finding, Health
from device.live.remarks import Remarks
from device.live.source import LiveCamera, LiveSource
from device.settings_file import load
from device.station import make, recording, videos_of
from device.stop import Stop
from device.tripsource import measured_trip
from support.trucks.truck import Truck, walk

START_MS = 1_750_000_000_000
SEGMENT = "dock-000000.mp4"
PICTURES = 20
"""When so many more were taken, several of them are in the film."""


@cache
def cut_film() -> bytes:
    """Return a segment that was cut in its last fragment."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / SEGMENT
        segment = OpenSegment(path, SEGMENT, CameraPlan("dock"), None, 0.0)
        for second in range(6):
            segment.add_picture(VideoFrame(64, 48, "gray"), float(second))
        segment.close()
        return path.read_bytes()[:-10]


class Lens:
    """A camera that sees nothing, until the trip is over."""

    copied = None

    def __init__(self, over: Event) -> None:
        self._over = over

    def pieces(self) -> Iterator[Piece]:
        while not self._over.wait(0.01):
            yield Piece(None, [VideoFrame(64, 48, "gray")])

    def close(self) -> None:
        pass


class Hold(Lens):
    """A camera in a hold where nothing moves, and no picture is the very same as the one before.

    Attributes:
        taken: Gets the shade of each picture.
    """

    def __init__(self, taken: list[int], over: Event) -> None:
        super().__init__(over)
        self.taken = taken

    def pieces(self) -> Iterator[Piece]:
        shades = cycle((128, 129))
        while not self._over.wait(0.01):
            self.taken.append(next(shades))
            grey = np.full((48, 64), self.taken[-1], np.uint8)
            yield Piece(None, [VideoFrame.from_ndarray(grey, format="gray")])


class Torn(Hold):
    """Such a camera, which is torn off after some pictures and stays away."""

    def pieces(self) -> Iterator[Piece]:
        if not self.taken:
            yield from islice(super().pieces(), PICTURES)
        raise UnavailableError("torn off")


class Road:
    """A truck without sensors on its trip; `reboots` forgets all that is in memory."""

    def __init__(self, folder: Path) -> None:
        self.truck, ticks = Truck(folder), count(START_MS)
        self.settings = load(self.truck.config, {})
        self.signer = make(self.settings)
        self._now = lambda: Clock(next(ticks), 0, bytes(16), ClockOrigin.NONE)
        self.reboots()

    def reboots(self) -> None:
        self.remarks, self.found = Remarks(self._now), list[Health]()

    def hear(self, finding: Finding) -> None:
        self.found.append(finding.health)
        self.remarks.hear(finding)

    def drives(
        self,
        readings: int,
        moved: Callable[[int], None] = lambda _: None,
        cameras: Sequence[LiveCamera] = (),
    ) -> Trip:
        """Record so many more readings."""
        source = measured_trip(LiveSource([], 0.001, self.hear, cameras=cameras))
        with (
            closing(Stop()) as stop,
            recording(self.settings, self.signer, self._now, self.remarks) as recorder,
        ):
            trip = recorder.begin(source, "truck-1", self.settings.need_trip())
            left = iter(range(readings - 1))

            def counted(number: int) -> None:
                moved(number)
                if next(left, None) is None:
                    stop.request()

            if not readings:
                stop.request()
            return recorder.record(source, trip, speed=0, stop=stop, moved=counted)

    def arrives(self) -> None:
        with recording(self.settings, self.signer, self._now, self.remarks) as recorder:
            trip = recorder.logbook.open_trip()
            assert trip is not None
            recorder.close(trip)

    def said(self) -> list[Remark]:
        """Return what all readings say."""
        return [each for told in self.told() for each in told[0]]

    def told(self) -> list[tuple[tuple[Remark, ...], Tamper]]:
        """Return remarks and signs of each reading."""
        return [(each.told.remarks, each.tamper) for each in self.readings()]

    def readings(self) -> list[Reading]:
        _, records, _ = walk(self.truck.batches())
        return list(map(reading_of, records))

    def films(self) -> list[Recording]:
        """Return the film of the one trip."""
        with recording(self.settings, self.signer, None, self.remarks) as recorder:
            (trip,) = recorder.logbook.trips()
            return list(recorder.logbook.recordings(trip.trip_id))

    def leaves_film(self, trip: Trip) -> None:
        """Leave what a cut of power leaves of a segment."""
        folder = videos_of(self.settings) / trip.trip_id
        folder.mkdir(parents=True)
        part_of(folder / SEGMENT).write_bytes(cut_film())
