"""One truck of a fleet: made, sent on its journey, and offloaded, as any other device is."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from contracts.copies import DEFAULT_POLICY
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import Source
from contracts.records.clock import ClockOrigin
from device.camera.seeded import SeededCamera
from device.drive import Drive
from device.journal.trip import TripState
from device.offload.run import offload
from device.sensors.port import Sample
from device.sensors.simulated import MINUTES_MAX, MINUTES_MIN, SimulatedDrive
from device.settings import (
    BatchSettings,
    BufferSettings,
    GatewaySettings,
    Settings,
    TripSettings,
)
from device.simulate import STARTED_AT_MS, csv_lines
from device.station import load_signer, make, open_journal, plan_of, recording
from device.status import status_of
from device.stop import Stop

INTERVAL_MS: Final = 1_000
"""Between two readings: 10,800 of them are three hours."""
ORIGIN: Final = "fleet-origin"
DESTINATION: Final = "fleet-destination"
TIMEOUT_S: Final = 30
_SAMPLES_PER_MINUTE: Final = 12
READINGS_MAX: Final = MINUTES_MAX * _SAMPLES_PER_MINUTE
_MAX_READINGS: Final = 100
_MAX_SECONDS: Final = 60
_JOURNAL_BYTES: Final = 1 << 40
"""As large as the disk: a fleet is there to fill a gateway, not its own buffers."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The checkpoint that a fleet comes to.

    Attributes:
        public_keys: Whose receipts count.
    """

    mqtt_host: str
    mqtt_port: int
    rest: str
    public_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """What each truck brings.

    Attributes:
        readings: How many, one each second.
        per_transaction: How many of them it signs as one.
        video_bytes: Of its one recording; 0: it has none.
        seed: Of readings and bytes, together with the truck's name.
    """

    readings: int
    per_transaction: int
    video_bytes: int
    seed: int


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A truck that got its final receipt, and holds nothing any more.

    Attributes:
        began_s: By the monotonic clock, the same for all processes of the machine.
        ended_s: When receipt and deletion were done.
        readings: How many the receipt covers.
    """

    began_s: float
    ended_s: float
    readings: int


@dataclass(frozen=True, slots=True)
class Leg:
    """SensorSource: the first samples of a simulated drive, one each INTERVAL_MS."""

    drive: SimulatedDrive
    count: int

    def samples(self) -> Iterator[Sample]:
        """See `SensorSource.samples`."""
        for number, sample in enumerate(islice(self.drive.samples(), self.count)):
            yield replace(sample, offset_ms=number * INTERVAL_MS)


@dataclass(frozen=True, slots=True)
class Truck:
    """One device of the fleet; each method may run in another process than the one before.

    Attributes:
        device_id: Its name at the gateway and on the ledger.
        token: Of the gateway.
        delivery_id: What it carries.
        directory: For all that it keeps.
        gateway: Where it goes.
        load: What it brings.
    """

    device_id: str
    token: str
    delivery_id: str
    directory: Path
    gateway: Gateway
    load: Load

    def make(self) -> str:
        """Make key and journal; return the public key."""
        return make(self.settings).public_key

    def record(self, stop: Stop) -> None:
        """Record and seal the journey, offline.

        Raises:
            UnavailableError: The medium failed, or there was a stop.
        """
        drive, settings = self._drive(), self.settings
        with recording(settings, load_signer(settings)) as recorder:
            trip = recorder.begin(drive, self.device_id, plan_of(settings, None))
            trip = recorder.record(drive, trip, speed=0, stop=stop)
        if trip.state is TripState.OPEN:
            raise UnavailableError(f"stopped after {trip.readings} readings")

    def offload(self, stop: Stop, patience_s: float) -> Offloaded:
        """Hand everything to the gateway; return once the final receipt let it all go.

        Raises:
            RejectedError: The gateway refuses something, or the receipt stays provisional.
            UnavailableError: Nothing moved for `patience_s` seconds, or there was a stop.
        """
        settings, began_s = self.settings, time.monotonic()
        signer = load_signer(settings)
        offload(settings, signer, patience_s=patience_s, stop=stop)
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
        """Return what its settings file would say."""
        per_transaction = self.load.per_transaction
        return Settings(
            device_id=self.device_id,
            data=self.directory,
            key_file=self.directory / "device.key",
            batch=BatchSettings(
                max(_MAX_READINGS, per_transaction),
                _MAX_SECONDS * per_transaction,
                per_transaction,
            ),
            buffer=BufferSettings(_JOURNAL_BYTES, _JOURNAL_BYTES),
            trip=TripSettings(ORIGIN, DESTINATION, (self.delivery_id,), (), ()),
            gateway=GatewaySettings(
                self.gateway.mqtt_host,
                self.gateway.mqtt_port,
                self.gateway.rest,
                self.token,
                self.gateway.public_keys,
                DEFAULT_POLICY,
                TIMEOUT_S,
            ),
            source=None,
        )

    def _drive(self) -> Drive:
        name = f"wayseal fleet seed={self.load.seed} device={self.device_id}"
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
        minutes = max(MINUTES_MIN, -(-self.load.readings // _SAMPLES_PER_MINUTE))
        leg = Leg(SimulatedDrive(minutes, seed), self.load.readings)
        digest = hashlib.sha256()
        for line in csv_lines(leg):
            digest.update(line.encode())
        size = self.load.video_bytes
        return Drive(
            leg,
            [SeededCamera(seed, size)] if size else [],
            STARTED_AT_MS,
            ClockOrigin.NONE,
            [Source(role="simulator", name=name, sha256=digest.digest())],
        )
