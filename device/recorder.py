"""Records one drive: begins or continues its trip, replays it, seals it."""

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from contracts.errors import RejectedError
from contracts.files import make_directory
from contracts.keys import Signer
from contracts.payload import trip_id_of
from contracts.proto.payload_pb2 import StartTrip
from contracts.records.recording import RecordingDigest
from contracts.rules.form import NONCE_BYTES
from device.batcher import BatchLimits
from device.clock import ReplayClock, TripClock, live_clock
from device.drive import Drive
from device.joining import StartedTrip
from device.journal.logbook import Logbook
from device.journal.trip import Recording, Trip, TripState
from device.journey import GROUP_READINGS, Journey
from device.sensors.port import Sample
from device.settings import TripSettings
from device.stop import Stop

Plan = TripSettings | StartedTrip
"""What the next trip is to be: one of our own, or one that another device started."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Turns drives into sealed trips; who uses it holds the recording lock.

    Attributes:
        logbook: The journal.
        signer: The device's key.
        limits: When a batch closes.
        videos: Folder of the recordings, one folder per trip.
    """

    logbook: Logbook
    signer: Signer
    limits: BatchLimits
    videos: Path

    def begin(self, drive: Drive, device_id: str, plan: Plan) -> Trip:
        """Return the trip that records `drive`: the one that was interrupted, else a new one.

        A sealed trip is returned when its end was never reported: then the
        recorder was killed between the two.

        Raises:
            RejectedError: A trip with other input is open, or the one to join was recorded already.
            UnavailableError: A buffer is full, or the medium failed.
        """
        input_id = input_of(drive, plan)
        for trip in self.logbook.trips():
            if trip.state is TripState.OPEN and trip.input_id != input_id:
                raise RejectedError(
                    f"trip {trip.trip_id} is still open with {trip.readings} readings of other "
                    f"input; `wayseal-device close` seals it"
                )
            if not trip.reported and trip.input_id == input_id:
                return trip
            if isinstance(plan, StartedTrip) and trip.trip_id == plan.start.trip_id:
                raise RejectedError(
                    f"trip {trip.trip_id} has {trip.readings} readings of this device already, "
                    f"and is {trip.state}: a device records a trip once"
                )
        self.logbook.check_video_room(sum(camera.size_max for camera in drive.cameras))
        if isinstance(plan, StartedTrip):
            return self._join(drive, device_id, plan)
        return self._start(drive, device_id, plan)

    def record(self, drive: Drive, trip: Trip, *, speed: float, stop: Stop) -> Trip:
        """Record what `trip` lacks of `drive` and seal it; a stop leaves it open.

        Args:
            drive: What to record.
            trip: As `begin` returned it.
            speed: Times faster than real time; 0 for as fast as it goes.
            stop: Ends the work at a reading.

        Raises:
            RejectedError: A source turned out broken.
            UnavailableError: A buffer is full, or the medium failed; what was committed stays.
        """
        if trip.state is not TripState.OPEN:
            return trip
        journey = Journey(self.logbook, self.signer, self.limits, trip)
        self._film(drive, trip)
        clock = _clock(drive, trip.start.nonce)
        samples = islice(drive.sensors.samples(), trip.readings, None)
        for sample in _paced(samples, speed, stop, journey):
            reading = sample.reading(
                clock.at(sample.offset_ms), sample.position, derived=bool(drive.derived_from)
            )
            journey.record(reading)
            if journey.uncommitted >= GROUP_READINGS:
                journey.commit()
        journey.commit()
        return journey.trip if stop.requested else journey.close()

    def close(self, trip: Trip) -> Trip:
        """Seal `trip` with what it has.

        Raises:
            UnavailableError: The medium failed.
        """
        return Journey(self.logbook, self.signer, self.limits, trip).close()

    def _start(self, drive: Drive, device_id: str, plan: TripSettings) -> Trip:
        nonce = os.urandom(NONCE_BYTES)
        clock = _clock(drive, nonce)
        start = StartTrip(
            trip_id=trip_id_of(device_id, nonce),
            nonce=nonce,
            device_id=device_id,
            delivery_ids=plan.deliveries,
            origin_site_id=plan.origin_site,
            destination_site_id=plan.destination_site,
            started_at_ms=clock.at(0).utc_ms,
            derived_from=drive.derived_from,
            via_site_ids=plan.via_sites,
            other_device_ids=plan.other_devices,
        )
        return Journey.begin(
            self.logbook,
            self.signer,
            self.limits,
            start=start,
            clock=clock.at(0),
            input_id=input_of(drive, plan),
        ).trip

    def _join(self, drive: Drive, device_id: str, joined: StartedTrip) -> Trip:
        return Journey.join(
            self.logbook,
            self.signer,
            self.limits,
            device_id=device_id,
            joined=joined,
            clock=_clock(drive, joined.start.nonce).at(0),
            input_id=input_of(drive, joined),
        ).trip

    def _film(self, drive: Drive, trip: Trip) -> None:
        """Make the recordings that `trip` lacks, in order."""
        made = len(self.logbook.recordings(trip.trip_id))
        folder = self.videos / trip.trip_id
        for number, camera in enumerate(drive.cameras[made:], made):
            self.logbook.check_video_room(camera.size_max)
            make_directory(folder)
            file = folder / f"{number:04d}{camera.suffix}"
            file.unlink(missing_ok=True)  # whole, but cut off before the journal knew it
            footage = camera.film(file)
            digest = RecordingDigest.of_file(file)
            self.logbook.add_recording(
                Recording(
                    trip.trip_id,
                    digest,
                    file.name,
                    footage.media_type,
                    footage.duration_ms,
                    footage.source_sha256,
                )
            )


def _paced(
    samples: Iterator[Sample], speed: float, stop: Stop, journey: Journey
) -> Iterator[Sample]:
    """Yield each sample when its time has come; commit before every wait, end on a stop."""
    began_s, first_ms = time.monotonic(), None
    for sample in samples:
        if speed:
            first_ms = sample.offset_ms if first_ms is None else first_ms
            due_s = began_s + (sample.offset_ms - first_ms) / 1000 / speed
            wait_s = due_s - time.monotonic()
            if wait_s > 0:
                journey.commit()
                stop.wait(wait_s)
        if stop.requested:
            return
        yield sample


def input_of(drive: Drive, plan: Plan) -> bytes:
    """Identify what a trip is recorded from, 32 bytes: the drive, and the trip if it is joined."""
    if isinstance(plan, StartedTrip):
        return hashlib.sha256(drive.input_id + plan.start.trip_id.encode()).digest()
    return drive.input_id


def _clock(drive: Drive, nonce: bytes) -> TripClock:
    return live_clock() if drive.live else ReplayClock(drive.started_at_ms, nonce, drive.origin)
