"""Sensors are asked on while nothing can be recorded, and what they saw is told afterwards."""

from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from contracts.records.reading import Tamper, reading_of
from device.agent import Agent
from device.backoff import Backoff
from device.journal.logbook import BufferFullError, Logbook
from device.live.port import Measured
from device.live.remarks import Remarks
from device.live.source import Connection, LiveSource
from device.live.watch import WatchPlan
from device.settings import Settings
from device.settings_file import load
from device.station import make
from device.stop import Stop
from device.tripsource import TripSource, measured_trip
from support.trucks.rogue import until
from support.trucks.truck import Truck, walk

SENSORS = '[source]\ndriver = "sensors"\n[[sensors]]\nname = "door"\ndriver = "1-wire"\n'
EVERY_S = 0.01
LONG_S = 3_600.0
"""A pause that ends with the test."""


class Door:
    """A contact that a test opens and closes."""

    def __init__(self) -> None:
        self.is_open = False
        self.asked = 0

    def measure(self) -> Measured:
        self.asked += 1
        return Measured(tamper=Tamper.DOOR_OPEN if self.is_open else Tamper.NONE)

    def close(self) -> None:
        pass

    def opens_and_closes(self) -> None:
        for self.is_open in (True, False):
            asked = self.asked
            until("the door is asked", partial(self._is_asked_twice, asked))

    def _is_asked_twice(self, before: int) -> bool:
        return self.asked > before + 1


def test_a_door_that_opens_in_a_pause_is_told_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    truck, full, door = Truck(tmp_path, SENSORS), Event(), Door()
    settings = load(truck.config, {})
    signer = make(settings)
    room = Logbook._check_room  # noqa: SLF001 - every commit asks for room here

    def check_room(logbook: Logbook, size: int, trip_id: str) -> None:
        if full.is_set():
            raise BufferFullError("the journal is full")
        room(logbook, size, trip_id)

    def source(_: Settings, remarks: Remarks) -> TripSource:
        sensors = [Connection(WatchPlan("door", EVERY_S), lambda: door)]
        return measured_trip(LiveSource(sensors, EVERY_S, remarks.hear, missed=remarks.miss))

    monkeypatch.setattr(Logbook, "_check_room", check_room)
    monkeypatch.setattr("device.agent.configured_source", source)
    monkeypatch.setattr("device.agent.Backoff", lambda *_: Backoff(LONG_S, LONG_S))
    with closing(Stop()) as stop:
        agent = Agent(settings, signer, stop)
        recorder = Thread(target=agent._record)  # noqa: SLF001 - its thread's work
        recorder.start()
        try:
            until("it records", lambda: door.asked > 1)
            full.set()
            until("it is paused", lambda: "recording is paused: the journal is" in caplog.text)
            door.opens_and_closes()
        finally:
            full.clear()
            stop.request()
            recorder.join()
        agent._seal_open()  # noqa: SLF001 - as at an arrival
    _, records, _ = walk(truck.batches())
    signs = [bool(reading_of(record).tamper & Tamper.DOOR_OPEN) for record in records]
    assert signs == [False] * (len(signs) - 1) + [True]
