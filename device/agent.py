"""The agent: records its source and offloads whenever a gateway is near, until it is stopped."""

import logging
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from device.backoff import Backoff
from device.display.board import Board
from device.display.drivers.table import displays_of
from device.display.look import Look
from device.display.topic import StatusTopic
from device.earlier import AGAIN, recorded, samples_in
from device.journal.trip import Trip, TripState
from device.journey.configured import presence_of
from device.journey.file import JourneyFile
from device.journey.metered import is_metered
from device.journey.states import State
from device.journey.watch import JourneyWatch
from device.live.drivers.cameras import live_camera
from device.live.drivers.table import connection
from device.live.health import Finding
from device.live.healthfile import DISPLAYS, HealthFile
from device.live.pause import why_paused
from device.live.remarks import Remarks
from device.live.source import LiveSource
from device.offload.metered import WHY, MeteredError
from device.offload.offloading import offload
from device.offload.sites import Sites
from device.recorder import Recorder, input_of
from device.settings import Settings, TripSettings
from device.settings_types import parse_speed
from device.station import clock_of, open_journal, plan_of, recording
from device.stop import Stop
from device.tripsource import TripSource, measured_trip, replayed_trip, simulated_trip
from device.troubles import Trouble
from device.watchdog import Watchdog

OFFLOAD_EVERY_S: Final = 2.0
PATIENCE_S: Final = 60.0
BACKOFF_LIMIT_S: Final = 60.0
FAR_S: Final = 3_600.0
METERED_AGAIN_S: Final = 60.0
"""Over a metered link a look for something new costs a few hundred bytes."""
_log: Final = logging.getLogger(__name__)


class Agent:
    """Two loops: one records, in its own thread; the other offloads. A third watches the journey.

    Args:
        settings: With [trip], [source], and [gateway] or [[gateways]]. With [presence] a trip
            begins at each departure and is sealed at the arrival.
        signer: The device's key.
        stop: Ends all. The trip stays open, and the next start continues it.
        join: File with the start of the trip to join; the agent waits for it. None starts a trip
            of our own.

    Raises:
        SettingsError: The settings name no gateway, or one that is not complete.
    """

    def __init__(
        self, settings: Settings, signer: Signer, stop: Stop, join: Path | None = None
    ) -> None:
        self._settings = settings
        self._signer = signer
        self._stop = stop
        self._join = join
        self._failure: WaysealError | None = None
        self._journey: JourneyWatch | None = None
        self._live: LiveSource | None = None
        """What has begun to record, until the trip ends."""
        self._watchdog = Watchdog()
        self._troubles: dict[Trouble, str] = {}
        self._now = clock_of(settings)
        self._remarks = Remarks(self._now)
        if settings.presence:
            presence = presence_of(settings.presence, settings, signer, stop)
            debounce_s = settings.presence.debounce_s
            self._journey = JourneyWatch(presence, JourneyFile(settings.data), debounce_s)
        look = Look(settings, signer, self._state, self._troubles)
        self._status = StatusTopic(look)
        displays = HealthFile(settings.data, DISPLAYS)
        self._board = Board(displays_of(settings.display), look, displays.tell)

    def run(self) -> None:
        """Work until stopped.

        Raises:
            RejectedError: The source is invalid; offloading continued until the stop.
        """
        threads = [threading.Thread(target=self._record, name="recorder")]
        if self._journey:
            watch = threading.Thread(target=self._journey.watch, args=[self._stop], name="journey")
            threads.append(watch)
        for thread in threads:
            thread.start()
        with self._watchdog.running(), self._board.running():
            try:
                self._offload()
            finally:
                self._stop.request()
                for thread in threads:
                    thread.join()
        if self._failure:
            raise self._failure

    def _state(self) -> State | None:
        return self._journey.state if self._journey is not None else None

    def _record(self) -> None:
        backoff = Backoff(BACKOFF_LIMIT_S)
        while not self._stop.requested:
            try:
                if self._journey is None:
                    return self._record_once(self._stop)
                self._record_next(self._journey)
                backoff.reset()
            except UnavailableError as error:
                _log.error("recording is paused: %s", error)
                self._troubles[Trouble.RECORDING] = f"recording is paused: {error}"
                if (kind := why_paused(error)) is not None:
                    self._remarks.pause(kind)
                self._pause(backoff.next_s())
            except RejectedError as error:
                _log.error("nothing is recorded: %s", error)
                self._troubles[Trouble.RECORDING] = f"nothing is recorded: {error}"
                if self._journey is None:
                    self._failure = error
                    return None
                self._stop.wait(backoff.next_s())  # the next trip may be in order
            except Exception:  # noqa: BLE001 - a truck on the road records whatever happens
                _log.exception("recording is paused: it failed unexpectedly")
                self._troubles[Trouble.RECORDING] = "recording is paused: see the log"
                self._pause(backoff.next_s())
        return None

    def _pause(self, wait_s: float) -> None:
        """Wait for the next try; on the road the sensors are asked on, so that no sign is lost."""
        live = self._live if self._journey is None or self._journey.records else None
        if live is None:
            self._stop.wait(wait_s)
        else:
            live.keep_watch(self._stop, wait_s)

    def _record_next(self, journey: JourneyWatch) -> None:
        """Record the trip from the next departure to the arrival, or what is left of it."""
        if not journey.records:
            self._seal_open()
        with journey.departed(self._stop) as end:
            if end is None:
                return
            self._record_once(end)
            while not end.wait(FAR_S):  # a source of files may end on the way
                continue

    def _seal_open(self) -> None:
        """Seal the trip that the arrival ended, also if the power was cut before it was sealed."""
        with self._recording() as recorder:
            trip = recorder.logbook.open_trip()
            if trip is None:
                return
            trip = recorder.close(trip)
            recorder.logbook.mark_reported(trip.trip_id)
        name = {"trip_id": trip.trip_id}
        _log.info("trip %s is sealed with %d readings", trip.trip_id, trip.readings, extra=name)

    def _recording(self) -> AbstractContextManager[Recorder]:
        return recording(self._settings, self._signer, self._now, self._remarks)

    def _record_once(self, end: Stop) -> None:
        """Record the source until it ends, unless files of it were recorded to their end before.

        Args:
            end: Ends the recording; the trip stays open.
        """
        settings = self._settings
        source = configured_source(settings, self._remarks)
        plan = plan_of(settings, self._join)
        with self._recording() as recorder:
            input_id = input_of(source, plan)
            of_source = [each for each in recorder.logbook.trips() if each.input_id == input_id]
            done = of_source and all(each.state is not TripState.OPEN for each in of_source)
            if done and not source.is_measured:
                _tell_earlier(source, of_source)
                return
            if isinstance(plan, TripSettings):
                source.check_gives(plan.must_measure)
            for line in source.lines():
                _log.info("%s", line)
            trip = recorder.begin(source, settings.device_id, plan)
            _log.info(
                "recording trip %s, which has %d readings",
                trip.trip_id,
                trip.readings,
                extra={"trip_id": trip.trip_id},
            )
            self._troubles.pop(Trouble.RECORDING, None)
            speed = parse_speed(settings.need_source().speed)
            self._live = source.sensors if isinstance(source.sensors, LiveSource) else None
            if source.is_measured:
                with self._watchdog.expecting(source.interval_ms / 1000, end) as beat:
                    trip = recorder.record(source, trip, speed=speed, stop=end, moved=beat)
            else:  # files may hold their readings as far apart as they like
                trip = recorder.record(source, trip, speed=speed, stop=end)
            self._live = None
            if trip.state is not TripState.OPEN:
                recorder.logbook.mark_reported(trip.trip_id)

    def _offload(self) -> None:
        sites = Sites.of(self._settings, self._signer)
        backoff = Backoff(BACKOFF_LIMIT_S, OFFLOAD_EVERY_S)
        while not self._stop.requested:
            wait_s = OFFLOAD_EVERY_S
            away = self._state() is State.ON_THE_ROAD
            is_near = not away and sites.are_near(self._stop)
            if is_near:
                self._troubles.pop(Trouble.GATEWAY, None)
                wait_s = self._offload_once(sites, backoff)
            elif not away:
                self._troubles[Trouble.GATEWAY] = "no gateway answers here"
            if self._journey is not None:
                self._tell(self._journey)
            if is_near and self._journey is not None:
                self._status.tell_apart(sites, self._stop)
            self._stop.wait(wait_s)

    def _offload_once(self, sites: Sites, backoff: Backoff) -> float:
        """Offload what waits; return after how many seconds to try again."""
        try:
            offload(
                self._settings,
                self._signer,
                sites,
                patience_s=PATIENCE_S,
                stop=self._stop,
                status=self._status,
                metered=partial(is_metered, self._settings.offload),
            )
        except MeteredError as error:
            if self._troubles.get(Trouble.METERED) != WHY:
                _log.info("offload: %s", error)
            self._troubles[Trouble.METERED] = WHY
            self._troubles.pop(Trouble.OFFLOAD, None)
            return METERED_AGAIN_S
        except WaysealError as error:
            if not self._stop.requested:
                _log.warning("offload: %s", error)
                self._troubles[Trouble.OFFLOAD] = f"offload: {error}"
            return backoff.next_s()
        backoff.reset()
        self._troubles.pop(Trouble.OFFLOAD, None)
        self._troubles.pop(Trouble.METERED, None)
        return OFFLOAD_EVERY_S

    def _tell(self, journey: JourneyWatch) -> None:
        """Tell the journey whether the truck may leave with nothing on it."""
        journey.check_looking()
        if journey.records:
            return
        try:
            with open_journal(self._settings, self._signer) as database:
                states = {state for (state,) in database.query("SELECT DISTINCT state FROM trips")}
        except WaysealError as error:
            _log.warning("it is unknown whether everything is offloaded: %s", error)
        else:
            journey.note_receipted(everything=states <= {TripState.RECEIPTED})


def _tell_earlier(source: TripSource, trips: Sequence[Trip]) -> None:
    """Log which of the sealed `trips` has most of the source; warn if readings are missing."""
    trip, count = max(trips, key=lambda each: each.readings), samples_in(source)
    words = recorded(trip, count, "this source")
    if trip.readings < count:
        _log.warning("nothing new to record: %s; %s", words, AGAIN)
    else:
        _log.info("nothing new to record: %s", words)


def configured_source(settings: Settings, remarks: Remarks) -> TripSource:
    """Return the source of [source]; files are read from end to end.

    Args:
        settings: The device's.
        remarks: Hears what changes of live sensors and cameras.

    Raises:
        RejectedError: A file cannot be replayed, or is missing in the settings.
        UnavailableError: There are videos and OpenCV is not installed.
    """
    source = settings.need_source()
    if source.driver == "sensors":
        known = HealthFile(settings.data)

        def found(finding: Finding) -> None:
            known.tell(finding)
            remarks.hear(finding)

        sensors = [connection(each) for each in settings.sensors]
        limited = settings.trip.must_measure if settings.trip else ()
        cameras = [live_camera(each) for each in settings.cameras]
        return measured_trip(
            LiveSource(
                sensors, source.interval_s, found, limited, cameras, remarks.spare, remarks.miss
            )
        )
    if source.driver == "simulated":
        live = parse_speed(source.speed) == 1
        return simulated_trip(source.minutes, source.seed, live=live)
    if source.readings is None:
        raise RejectedError("key source.readings: expected a CSV file, got none")
    return replayed_trip(source.readings, source.track, source.videos, None, source.log_options)
