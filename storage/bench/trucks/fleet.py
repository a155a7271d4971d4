"""Trucks of the benchmark: their network, and the batches that they sign, in the form of device/.

Keys and values come from numbers, so the same fleet signs the same bytes each time.
"""

import hashlib
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from contracts import address
from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.ids import trip_id_of
from contracts.keys import Signer
from contracts.party.network import COLD, SampleNetwork, Signed
from contracts.proto.payload_pb2 import (
    Limit,
    RecordReading,
    Source,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.records.reading import (
    Clock,
    ClockOrigin,
    DeviceChain,
    Position,
    Reading,
    record_of,
    run_of,
)
from contracts.sawtooth.batches import build_batch
from storage.bench.trucks.signed import serialised

DEVICES: Final = 20
START_MS: Final = 1_790_000_000_000
STEP_MS: Final = 5_000
_NOISE: Final = struct.Struct(">6H")
_NETWORK: Final = SampleNetwork(lot="BENCH")
_SIMULATED: Final = Source(
    role="sensors", name="simulated", sha256=hashlib.sha256(b"wayseal bench").digest()
)
"""Where the values come from, whose times are not those of the ledger's blocks."""
_LIMITS: Final = (
    COLD,
    Limit(quantity=Limit.HUMIDITY_MPCT, maximum=80_000, tolerated_s=1_800),
)


@dataclass(frozen=True, slots=True)
class Load:
    """The load that each device of the fleet signs for its one trip.

    Attributes:
        name: Tells fleets on the same ledger apart.
        devices: How many trucks.
        readings: Of one device.
        per_transaction: Consecutive readings in one transaction.
        per_batch: Transactions in one batch.
    """

    name: str
    devices: int
    readings: int
    per_transaction: int
    per_batch: int

    @property
    def total(self) -> int:
        """Return the readings of all devices together."""
        return self.devices * self.readings

    @property
    def transactions(self) -> int:
        """Return the transactions of one device."""
        return -(-self.readings // self.per_transaction)

    @property
    def batches_each(self) -> int:
        """Return the batches of one device."""
        return -(-self.transactions // self.per_batch)

    @property
    def lanes(self) -> int:
        """See `SignedLoad.lanes`: a device each."""
        return self.devices

    def batches(self, lane: int) -> Iterator[Batch]:
        """Yield the signed batches of one truck."""
        return Truck(self, lane).batches()

    def wires(self, lane: int) -> Iterator[tuple[str, bytes]]:
        """See `SignedLoad.wires`."""
        return serialised(self.batches(lane))


def key(name: str) -> Signer:
    """Return the benchmark's private key for `name`."""
    return Signer.from_hex(hashlib.sha256(f"wayseal bench {name}".encode()).hexdigest())


def network() -> list[Batch]:
    """Return the registrations of parties and sites, each alone in its batch."""
    return [_alone(signed) for signed in _NETWORK.registrations(lambda name: key(name).public_key)]


def departures(load: Load) -> list[Batch]:
    """Return the batches before the readings: device, delivery signed by both sides, trip."""
    batches: list[Batch] = []
    for number in range(load.devices):
        truck = Truck(load, number)
        batches += [
            _alone(_NETWORK.device(truck.device_id, truck.signer.public_key)),
            *map(_alone, _NETWORK.delivery(truck.terms, START_MS)),
            build_batch(truck.signer, [truck.start]),
        ]
    return batches


class Truck:
    """One device of a fleet.

    Args:
        load: Of the fleet.
        number: Of this truck, from 0.
    """

    def __init__(self, load: Load, number: int) -> None:
        self.device_id = f"truck-{load.name}-{number}"
        self.signer = key(self.device_id)
        self.terms = _NETWORK.terms(f"delivery-{load.name}-{number}", limits=_LIMITS)
        self._load = load
        self._number = number
        nonce = hashlib.sha256(self.device_id.encode()).digest()[:16]
        self._trip_id = trip_id_of(self.device_id, nonce)
        self._boot_id = nonce[::-1]
        self._deliveries = [address.delivery(self.terms.delivery_id)]
        self.start = build(
            self.signer,
            StartTrip(
                trip_id=self._trip_id,
                nonce=nonce,
                device_id=self.device_id,
                delivery_ids=[self.terms.delivery_id],
                origin_site_id="site-a",
                destination_site_id="site-b",
                started_at_ms=START_MS,
                derived_from=[_SIMULATED],
            ),
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the trip's readings in signed batches, each linked to the one before it."""
        before = self.start.header_signature
        group: list[Transaction] = []
        for action in self.actions():
            # Only the first of a batch names its predecessor, as in device/chain/writer.py.
            dependencies = () if group else (before,)
            group.append(
                build(self.signer, action, dependencies=dependencies, deliveries=self._deliveries)
            )
            before = group[-1].header_signature
            if len(group) == self._load.per_batch:
                yield build_batch(self.signer, group)
                group = []
        if group:
            yield build_batch(self.signer, group)

    def actions(self) -> Iterator[Action]:
        """Yield the action of each transaction: a reading, or a run of them."""
        records = self._records()
        while some := list(islice(records, self._load.per_transaction)):
            yield some[0] if self._load.per_transaction == 1 else run_of(some)

    def _records(self) -> Iterator[RecordReading]:
        link = DeviceChain(self._trip_id, self.device_id).first
        for number in range(self._load.readings):
            record = record_of(self._reading(number), link)
            link = link.after(record)
            yield record

    def _reading(self, number: int) -> Reading:
        """Return reading `number` of the trip, with noise so that compression gains little.

        It keeps within the limits, except while a door is open half a minute each hour.
        """
        drift = math.sin(number / 90 + self._number)
        late, cold, damp, gust, north, east = self._noise(number)
        door_open = number % 720 < 6  # noqa: PLR2004 - an excursion, no breach
        at_ms = number * STEP_MS + late % 40
        return Reading(
            Clock(START_MS + at_ms, at_ms, self._boot_id, ClockOrigin.GNSS),
            8_400 if door_open else 5_000 + round(1_500 * drift) + cold % 200,
            55_000 + round(6_000 * drift) + damp % 800,
            101_325 + round(300 * drift) - gust % 25,
            Position(
                526_291_510 + number * 137 % 9_000_000 + north % 300,
                -86_617_460 + number * 211 % 9_000_000 + east % 300,
                200 + north % 200,
            ),
            derived=True,
        )

    def _noise(self, number: int) -> tuple[int, ...]:
        """Return six numbers below 65,536 that look random and are the same each time."""
        return _NOISE.unpack(
            hashlib.blake2b(b"%d" % number, digest_size=12, key=self._boot_id).digest()
        )


def _alone(signed: Signed) -> Batch:
    signer, action = signed
    return build_batch(key(signer), [build(key(signer), action)])
