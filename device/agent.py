"""The agent: records its source and offloads whenever a gateway is near, until it is stopped."""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from device.earlier import AGAIN, recorded, samples_in
from device.journal.trip import Trip, TripState
from device.offload.offloading import offload
from device.offload.progress import Backoff
from device.offload.sites import Sites
from device.recorder import input_of
from device.settings import Settings, SourceSettings, TripSettings, parse_speed
from device.station import plan_of, recording
from device.stop import Stop
from device.tripsource import TripSource, replayed_trip, simulated_trip

OFFLOAD_EVERY_S: Final = 2.0
PATIENCE_S: Final = 60.0
BACKOFF_LIMIT_S: Final = 60.0
_log: Final = logging.getLogger(__name__)


class Agent:
    """Two loops: one records, in its own thread; the other offloads.

    Args:
        settings: With [trip], [source], and [gateway] or [[gateways]].
        signer: The device's key.
        stop: Ends both. The trip stays open, and the next start continues it.
        join: File with the start of the trip to join; the agent waits for it. None starts a trip
            of our own.
    """

    def __init__(
        self, settings: Settings, signer: Signer, stop: Stop, join: Path | None = None
    ) -> None:
        self._settings = settings
        self._signer = signer
        self._stop = stop
        self._join = join
        self._failure: WaysealError | None = None

    def run(self) -> None:
        """Work until stopped.

        Raises:
            RejectedError: The source is invalid; offloading continued until the stop.
        """
        recorder = threading.Thread(target=self._record, name="recorder")
        recorder.start()
        try:
            self._offload()
        finally:
            self._stop.request()
            recorder.join()
        if self._failure:
            raise self._failure

    def _record(self) -> None:
        backoff = Backoff(BACKOFF_LIMIT_S)
        while not self._stop.requested:
            try:
                return self._record_once(configured_source(self._settings.need_source()))
            except UnavailableError as error:
                _log.error("recording is paused: %s", error)
                self._stop.wait(backoff.next_s())
            except RejectedError as error:
                _log.error("nothing is recorded: %s", error)
                self._failure = error
                return None
        return None

    def _record_once(self, source: TripSource) -> None:
        """Record `source`, unless it was recorded to its end before."""
        settings = self._settings
        plan = plan_of(settings, self._join)
        with recording(settings, self._signer) as recorder:
            input_id = input_of(source, plan)
            of_source = [each for each in recorder.logbook.trips() if each.input_id == input_id]
            if of_source and all(each.state is not TripState.OPEN for each in of_source):
                _tell_earlier(source, of_source)
                return
            if isinstance(plan, TripSettings):
                source.check_gives(plan.must_measure)
            for line in source.lines():
                _log.info("%s", line)
            trip = recorder.begin(source, settings.device_id, plan)
            speed = parse_speed(settings.need_source().speed)
            trip = recorder.record(source, trip, speed=speed, stop=self._stop)
            if trip.state is not TripState.OPEN:
                recorder.logbook.mark_reported(trip.trip_id)

    def _offload(self) -> None:
        sites = Sites.of(self._settings, self._signer)
        backoff = Backoff(BACKOFF_LIMIT_S, OFFLOAD_EVERY_S)
        while not self._stop.requested:
            wait_s = OFFLOAD_EVERY_S
            if sites.are_near(self._stop):
                try:
                    offload(
                        self._settings,
                        self._signer,
                        sites,
                        patience_s=PATIENCE_S,
                        stop=self._stop,
                    )
                    backoff = Backoff(BACKOFF_LIMIT_S, OFFLOAD_EVERY_S)
                except WaysealError as error:
                    if not self._stop.requested:
                        _log.warning("offload: %s", error)
                    wait_s = backoff.next_s()
            self._stop.wait(wait_s)


def _tell_earlier(source: TripSource, trips: Sequence[Trip]) -> None:
    """Log which of the sealed `trips` has most of the source; warn if readings are missing."""
    trip, count = max(trips, key=lambda each: each.readings), samples_in(source)
    words = recorded(trip, count, "this source")
    if trip.readings < count:
        _log.warning("nothing new to record: %s; %s", words, AGAIN)
    else:
        _log.info("nothing new to record: %s", words)


def configured_source(settings: SourceSettings) -> TripSource:
    """Return the source of [source]; files are read from end to end.

    Raises:
        RejectedError: A file cannot be replayed, or is missing in the settings.
        UnavailableError: There are videos and OpenCV is not installed.
    """
    if settings.driver == "simulated":
        live = parse_speed(settings.speed) == 1
        return simulated_trip(settings.minutes, settings.seed, live=live)
    if settings.readings is None:
        raise RejectedError("key source.readings: expected a CSV file, got none")
    return replayed_trip(
        settings.readings, settings.track, settings.videos, None, settings.log_options
    )
