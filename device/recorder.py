"""Records a trip from its source: starts or continues it, records every sample, seals it.

A sample and the trip's clock make a reading. A live trip claims the machine's UTC time beside the
counter since boot. A replayed trip is derived: its start plus each sample's offset, with the
trip's nonce as boot id.
"""

import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from contracts.actions.form import NONCE_BYTES
from contracts.errors import RejectedError
from contracts.ids import trip_id_of
from contracts.keys import Signer
from contracts.proto.payload_pb2 import StartTrip
from contracts.records.reading import Clock, ClockOrigin, Reading, Tamper
from contracts.records.recording import RecordingDigest
from contracts.records.remark import HARMLESS
from contracts.runtime.files import make_directory
from device.camera.filming.reel import Reel
from device.chain.ends import begin, join
from device.chain.joining import StartedTrip
from device.chain.writer import GROUP_READINGS, BatchLimits, ChainWriter
from device.earlier import still_open
from device.journal.logbook import Logbook
from device.journal.trip import Recording, Trip, TripState
from device.live.clock import Now, machine_now
from device.live.films import keep_film, open_reel
from device.live.port import MOMENTS
from device.live.remarks import Remarks
from device.live.source import LiveSource
from device.live.telling import Narrator
from device.sensors.port import Sample
from device.settings import TripSettings
from device.stop import Stop
from device.tripsource import TripSource

Plan = TripSettings | StartedTrip
"""The next trip: our own by [trip], or one that another device started."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Turns a source into a sealed trip; the caller holds the recording lock.

    Attributes:
        logbook: The journal.
        signer: The device's key.
        limits: When a batch closes.
        videos: Folder of the recordings, one folder per trip.
        now: What time it is.
        remarks: What the device says of itself, gathered from all threads.
    """

    logbook: Logbook
    signer: Signer
    limits: BatchLimits
    videos: Path
    now: Now = machine_now
    remarks: Remarks = field(default_factory=Remarks)

    def begin(self, source: TripSource, device_id: str, plan: Plan) -> Trip:
        """Return the trip that records `source`: the interrupted one, or else a new one.

        A sealed trip is returned if nobody was told of its end: the recorder was killed
        between sealing and reporting it. What is measured here and now is never told again, so
        then a new trip begins.

        Raises:
            RejectedError: A trip with other input is open, or this device has recorded the trip
                that it is to join.
            UnavailableError: A buffer is full, or the medium failed.
        """
        input_id = input_of(source, plan)
        for trip in self.logbook.trips():
            is_open = trip.state is TripState.OPEN
            if is_open and trip.input_id != input_id:
                raise RejectedError(still_open(trip, source))
            if trip.input_id == input_id and (is_open or not (trip.reported or source.is_measured)):
                return trip
            if isinstance(plan, StartedTrip) and trip.trip_id == plan.start.trip_id:
                raise RejectedError(
                    f"trip {trip.trip_id} has {trip.readings} readings of this device already, "
                    f"and is {trip.state}: a device records a trip once"
                )
        self.logbook.check_video_room(sum(camera.size_max for camera in source.cameras))
        if isinstance(plan, StartedTrip):
            return self._join(source, device_id, plan)
        return self._start(source, device_id, plan)

    def record(
        self,
        source: TripSource,
        trip: Trip,
        *,
        speed: float,
        stop: Stop,
        moved: Callable[[int], None] = lambda _: None,
    ) -> Trip:
        """Record the samples of `source` that `trip` lacks and seal it; a stop leaves it open.

        Args:
            source: Sensors and cameras.
            trip: As `begin` returned it.
            speed: Times faster than real time; 0 means no pauses.
            stop: Ends the work between two readings.
            moved: Told how many readings the trip has, after each one.

        Raises:
            RejectedError: A sensor or camera delivers invalid data.
            UnavailableError: A buffer is full, or the medium failed; committed readings stay.
        """
        if trip.state is not TripState.OPEN:
            return trip
        chain = ChainWriter(self.logbook, self.signer, self.limits, trip)
        self._film(source, trip)
        clock = self._clock(source, trip.start.nonce, tells=trip.tells)
        reel = self._reel(trip, source) if source.is_measured else None
        narrator = self._narrator(trip, reel) if reel is not None and trip.tells else None
        self.remarks.goes_on()
        holds = Tamper.NONE

        def idle() -> None:
            chain.commit()
            if narrator is not None:
                self.remarks.told(chain.trip.readings)
            if reel is not None:
                whole = keep_film(self.logbook, reel, trip)
                if narrator is not None:
                    narrator.name(whole)

        # Closed at once, or sensors and cameras would go on until somebody drops the error.
        with closing(_stream(source, trip.readings, speed, stop, idle, reel)) as samples:
            for sample in samples:
                reading = _reading(sample, clock, derived=bool(source.derived_from))
                if narrator is not None:
                    reading = narrator.complete(reading)
                chain.record(reading)
                if reel is not None and _is_wrong(reading, sample.tamper):
                    reel.mark(time.monotonic())
                holds = sample.tamper & ~MOMENTS
                moved(chain.trip.readings)
                if chain.uncommitted >= GROUP_READINGS:
                    chain.commit()
        idle()
        self.remarks.stops(trip.trip_id, chain.trip.readings - trip.readings, holds)
        return chain.trip if stop.requested else chain.close()

    def close(self, trip: Trip) -> Trip:
        """Seal `trip` as it is.

        Raises:
            UnavailableError: The medium failed.
        """
        reel = self._reel(trip)
        if trip.tells:
            self._say_last(trip, reel)
        trip = self.logbook.open_trip() or trip
        trip = ChainWriter(self.logbook, self.signer, self.limits, trip).close()
        self.remarks.told(trip.readings)
        self.remarks.end()
        return trip

    def _say_last(self, trip: Trip, reel: Reel) -> None:
        """Record what happened since the last reading, such as a power cut, before the seal.

        It takes as many readings as there are remarks for; without them there is no seal.

        Raises:
            UnavailableError: The medium failed.
        """
        narrator = self._narrator(trip, reel)
        chain = ChainWriter(self.logbook, self.signer, self.limits, trip, closing=True)
        in_order = self.remarks.stopped_in_order(trip.trip_id)
        holds = self.remarks.holds(trip.trip_id)
        while (last := narrator.last(self.now(), in_order=in_order, holds=holds)) is not None:
            chain.record(last)
        chain.commit()

    def _clock(self, source: TripSource, nonce: bytes, *, tells: bool) -> "_TripClock":
        if source.live:
            return _LiveClock(self.now, tells_error=tells)
        return _ReplayClock(source.started_at_ms, nonce)

    def _narrator(self, trip: Trip, reel: Reel) -> Narrator:
        recordings = self.logbook.recordings(trip.trip_id)
        return Narrator(trip, recordings, reel, self.remarks, self.logbook.owed(trip.trip_id))

    def _start(self, source: TripSource, device_id: str, plan: TripSettings) -> Trip:
        nonce = os.urandom(NONCE_BYTES)
        begins = self._clock(source, nonce, tells=source.is_measured).at(0)
        number, seal_before = self.logbook.series()
        start = StartTrip(
            trip_id=trip_id_of(device_id, nonce),
            nonce=nonce,
            device_id=device_id,
            delivery_ids=plan.deliveries,
            origin_site_id=plan.origin_site,
            destination_site_id=plan.destination_site,
            started_at_ms=begins.utc_ms,
            derived_from=source.derived_from,
            via_site_ids=plan.via_sites,
            other_device_ids=plan.other_devices,
            trip_number=number + 1,
            previous_seal_sha256=seal_before,
            clock=begins.message() if source.is_measured else None,
        )
        return begin(
            self.logbook,
            self.signer,
            start=start,
            clock=begins,
            input_id=input_of(source, plan),
        )

    def _join(self, source: TripSource, device_id: str, joined: StartedTrip) -> Trip:
        return join(
            self.logbook,
            device_id=device_id,
            joined=joined,
            clock=self._clock(source, joined.start.nonce, tells=False).at(0),
            input_id=input_of(source, joined),
        )

    def _film(self, source: TripSource, trip: Trip) -> None:
        """Film the recordings that `trip` lacks, in order."""
        made = len(self.logbook.recordings(trip.trip_id))
        folder = self.videos / trip.trip_id
        for number, camera in enumerate(source.cameras[made:], made):
            self.logbook.check_video_room(camera.size_max)
            make_directory(folder)
            file = folder / f"{number:04d}{camera.suffix}"
            file.unlink(
                missing_ok=True
            )  # from a recorder that was killed before the journal had it
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

    def _reel(self, trip: Trip, source: TripSource | None = None) -> Reel:
        live = source.sensors if source is not None else None
        cameras = len(live.cameras) if isinstance(live, LiveSource) else 0
        folder = self.videos / trip.trip_id
        late_ms = source.interval_ms if source is not None else 0
        return open_reel(self.logbook, folder, trip, cameras, lambda: self.now().utc_ms, late_ms)


def _stream(
    source: TripSource,
    done: int,
    speed: float,
    stop: Stop,
    idle: Callable[[], None],
    reel: Reel | None,
) -> Generator[Sample]:
    """Yield the samples that a trip lacks, each when it is due, until `stop` is requested.

    Args:
        source: A replayed trip goes on after its `done` readings, a measured one with what is now.
        done: Readings that the trip has.
        speed: Times faster than real time; 0 means no pauses. Sensors that measure ignore it.
        stop: Ends the stream between two samples.
        idle: Called before each wait.
        reel: Takes what live cameras film; None for a replayed trip.
    """
    if isinstance(source.sensors, LiveSource):
        return source.sensors.stream(stop, idle, reel)
    return _paced(islice(source.sensors.samples(), done, None), speed, stop, idle)


def _paced(
    samples: Iterator[Sample], speed: float, stop: Stop, idle: Callable[[], None]
) -> Generator[Sample]:
    """Yield each sample when it is due."""
    began_s, first_ms = time.monotonic(), None
    for sample in samples:
        if speed:
            first_ms = sample.offset_ms if first_ms is None else first_ms
            due_s = began_s + (sample.offset_ms - first_ms) / 1000 / speed
            wait_s = due_s - time.monotonic()
            if wait_s > 0:
                idle()
                stop.wait(wait_s)
        if stop.requested:
            return
        yield sample


def input_of(source: TripSource, plan: Plan) -> bytes:
    """Return the id of the trip's input, 32 bytes: the source, and the trip if it is joined."""
    if isinstance(plan, StartedTrip):
        return hashlib.sha256(source.input_id + plan.start.trip_id.encode()).digest()
    return source.input_id


class _TripClock(Protocol):
    """Tells when a sample was taken."""

    def at(self, offset_ms: int) -> Clock:
        """Return the time of the sample that is due `offset_ms` after the trip's start."""
        ...


@dataclass(frozen=True, slots=True)
class _ReplayClock:
    """The clock of a replayed trip.

    Attributes:
        started_at_ms: UTC of the trip's start, milliseconds since the Unix epoch.
        boot_id: 16 bytes; the trip's nonce.
    """

    started_at_ms: int
    boot_id: bytes

    def at(self, offset_ms: int) -> Clock:
        """See `_TripClock.at`."""
        return Clock(self.started_at_ms + offset_ms, offset_ms, self.boot_id, ClockOrigin.NONE)


@dataclass(frozen=True, slots=True)
class _LiveClock:
    """The truck's clock: the moment of the call, whatever offset was planned.

    Attributes:
        now: What time it is.
        tells_error: By how much it may be wrong is told, which version 1.2 of the rules takes.
    """

    now: Now
    tells_error: bool

    def at(self, offset_ms: int) -> Clock:
        """See `_TripClock.at`."""
        del offset_ms
        now = self.now()
        return now if self.tells_error else replace(now, error_ms=None)


def _is_wrong(reading: Reading, measured: Tamper) -> bool:
    """Say whether a reading tells of something wrong besides the signs that were `measured`.

    The source has marked the film of those. A sensor may stay unplugged for a whole trip. Remarks
    tell when that begins and ends, so the film between has nothing to show of it, and need not
    leave over a telephone's link. The same holds of a camera, whose own film its signs mark.
    """
    signs = reading.tamper & ~(measured | Tamper.SENSOR_UNPLUGGED)
    return bool(signs) or any(each.kind not in HARMLESS for each in reading.told.remarks)


def _reading(sample: Sample, clock: _TripClock, *, derived: bool) -> Reading:
    return Reading(
        clock.at(sample.offset_ms),
        temperature_mcel=sample.temperature_mcel,
        humidity_mpct=sample.humidity_mpct,
        pressure_pa=sample.pressure_pa,
        position=sample.position,
        tamper=sample.tamper,
        derived=derived,
    )
