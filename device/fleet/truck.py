"""One truck of a fleet: it is set up, records a trip and offloads it, as any other device."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from device.camera.seeded import SeededCamera
from device.journal.status import status_of
from device.journal.trip import TripState
from device.offload.offloading import offload
from device.offload.sites import Sites
from device.sensors.port import Sample
from device.sensors.simulated import MINUTES_MAX, MINUTES_MIN, SimulatedTrip
from device.settings import BatchSettings, BufferSettings, GatewaySettings, Settings, TripSettings
from device.station import load_signer, make, open_journal, plan_of, recording
from device.stop import Stop
from device.tripsource import TripSource, simulated_source

INTERVAL_MS: Final = 1_000
"""Between two readings: 10,800 of them are three hours."""
ORIGIN: Final = "fleet-origin"
DESTINATION: Final = "fleet-destination"
_SAMPLES_PER_MINUTE: Final = 12
READINGS_MAX: Final = MINUTES_MAX * _SAMPLES_PER_MINUTE
_MAX_READINGS: Final = 100
_MAX_SECONDS: Final = 60
_JOURNAL_BYTES: Final = 1 << 40
"""Practically unlimited: a fleet tests the gateway, not its own buffers."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The gateway that a fleet offloads to.

    Attributes:
        mqtt: HOST:PORT of its broker.
        rest: URL of its REST API.
        public_keys: Keys whose receipts count.
        genesis_block_id: The ledger that receipts must name; None until it was asked.
    """

    mqtt: str
    rest: str
    public_keys: tuple[str, ...]
    genesis_block_id: str | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """What each truck brings.

    Attributes:
        readings: Number of readings, one per second.
        per_transaction: Readings that it signs as one.
        video_bytes: Size of its only recording; 0 for no recording.
        seed: Seed of readings and video, together with the truck's name.
    """

    readings: int
    per_transaction: int
    video_bytes: int
    seed: int


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A truck that got its final receipt and has deleted its trip.

    Attributes:
        began_s: When the offload began, by the machine's monotonic clock.
        ended_s: When receipt and deletion were done.
        readings: Number of readings that the receipt covers.
    """

    began_s: float
    ended_s: float
    readings: int


@dataclass(frozen=True, slots=True)
class Leg:
    """SensorSource: the first samples of a simulated trip, one each INTERVAL_MS."""

    trip: SimulatedTrip
    count: int

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`."""
        for number, sample in enumerate(islice(self.trip.samples(), self.count)):
            yield replace(sample, offset_ms=number * INTERVAL_MS)


@dataclass(frozen=True, slots=True)
class Truck:
    """One device of the fleet; its methods may run in different processes.

    Attributes:
        device_id: Its name at the gateway and on the ledger.
        token: Its token at the gateway.
        delivery_id: The delivery on board.
        directory: Folder of all its files.
        gateway: Where it offloads.
        load: What it brings.
    """

    device_id: str
    token: str
    delivery_id: str
    directory: Path
    gateway: Gateway
    load: Load

    def make(self) -> str:
        """Create key and journal; return the public key."""
        return make(self.settings).public_key

    def record(self, stop: Stop) -> None:
        """Record and seal a trip, offline.

        Raises:
            UnavailableError: The medium failed, or there was a stop.
        """
        source, settings = self._source(), self.settings
        with recording(settings, load_signer(settings)) as recorder:
            trip = recorder.begin(source, self.device_id, plan_of(settings, None))
            trip = recorder.record(source, trip, speed=0, stop=stop)
        if trip.state is TripState.OPEN:
            raise UnavailableError(f"stopped after {trip.readings} readings")

    def offload(self, stop: Stop, patience_s: float) -> Offloaded:
        """Offload everything; return once a final receipt has let the truck delete it.

        Raises:
            RejectedError: The gateway refuses something, or the receipt stays provisional.
            UnavailableError: Nothing moved for `patience_s` seconds, or there was a stop.
        """
        settings, began_s = self.settings, time.monotonic()
        signer = load_signer(settings)
        offload(settings, signer, Sites.of(settings, signer), patience_s=patience_s, stop=stop)
        ended_s = time.monotonic()
        with open_journal(settings, signer) as database:
            status = status_of(database, self.device_id, signer.public_key, settings.buffer)
        for trip in status.trips:
            if trip.state is not TripState.RECEIPTED:
                raise RejectedError(
                    f"expected a final receipt, got a provisional one: {'; '.join(trip.lacking)}"
                )
        return Offloaded(began_s, ended_s, sum(trip.readings for trip in status.trips))

    @property
    def settings(self) -> Settings:
        """Return the settings, as a settings file would have them."""
        per_transaction = self.load.per_transaction
        return Settings(
            device_id=self.device_id,
            data=self.directory,
            batch=BatchSettings(
                max(_MAX_READINGS, per_transaction),
                _MAX_SECONDS * per_transaction,
                per_transaction,
            ),
            buffer=BufferSettings(_JOURNAL_BYTES, _JOURNAL_BYTES),
            trip=TripSettings(ORIGIN, DESTINATION, (self.delivery_id,)),
            gateway=GatewaySettings(
                self.gateway.mqtt,
                self.gateway.rest,
                self.gateway.public_keys,
                token=self.token,
                genesis_block_id=self.gateway.genesis_block_id,
            ),
        )

    def _source(self) -> TripSource:
        name = f"wayseal fleet seed={self.load.seed} device={self.device_id}"
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
        minutes = max(MINUTES_MIN, -(-self.load.readings // _SAMPLES_PER_MINUTE))
        leg = Leg(SimulatedTrip(minutes, seed), self.load.readings)
        size = self.load.video_bytes
        return simulated_source(leg, [SeededCamera(seed, size)] if size else [], name)
