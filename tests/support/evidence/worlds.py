"""Random worlds: parties, devices, faults and forgers, each from a seed that plays it again.

A world is a ledger that took what its parties and devices signed, as far as the rules allow, and
honest evidence of its trips. A forger then shows other files about the same ledger. It may sign
with every key but those of the ledger's node and its administrator. A forgery passes if the
verifier says that it holds and tells another story than the honest file does, without naming
what is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from contracts.actions.payload import decode
from contracts.records.reading import Clock, ClockOrigin, Position, Reading, Tamper
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import Evidence, digest_of, evidence_of
from support.evidence.talk import SITES, STEP_MS, Talk
from support.network.world import START_MS, Trip, key

STEPS: Final = (40, 120)
"""Words of parties and devices in one world, at least and at most; many of them are refused."""


@dataclass
class Row:
    """What one device goes on to sign on one trip."""

    trip: Trip
    clock: list[int]
    """UTC in milliseconds, milliseconds since boot, and the number of the boot."""
    video: bytes
    recorded: bool = False


@dataclass
class World(Talk):
    """One world, made from its seed: what its parties say, and what its devices do."""

    _rows: dict[str, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Play it."""
        super().__post_init__()
        self._losses = self.random.choice([0.0, 0.0, 0.1])
        for signer, action in self._registrations():
            self._say(signer, action)
        for _ in range(self.random.randint(*STEPS)):
            self.random.choice(_WORDS)(self)
        for row in list(self._rows.values()):
            if self.random.random() > self._losses:  # else the device never comes home
                self._read(row)
                self._seal(row)
        self._flush()

    def _trip(self, *args: Any, **options: Any) -> Trip:  # noqa: ANN401 - of a Trip
        """Return a trip that a device goes on to sign."""
        return Trip(*args, **options)

    @property
    def transactions(self) -> int:
        """Return how many transactions were committed."""
        return sum(len(batch.transactions) for group in self.groups for batch in group)

    @cached_property
    def evidence(self) -> list[Evidence]:
        """Return the honest files: of each trip alone, and of all together."""
        ids = [trip.trip_id for trip in self._trips]
        about = [[trip_id] for trip_id in ids] + ([ids] if len(ids) > 1 else [])
        made = [evidence_of(self.groups, each) for each in about]
        for told in made:
            for row in self._rows.values():
                if row.recorded and row.trip.trip_id in told.header.trip_ids:
                    told.add_video(row.video)
        return made

    def start(self) -> None:
        if len(self._trips) >= 3:
            return
        device = self.random.choice(["truck-1", "truck-2"])
        carried = self.random.sample(list(self._deliveries), min(len(self._deliveries), 2))
        number = 1 + sum(trip.device_id == device for trip in self._trips)
        trip = self._trip(
            device,
            self.random.randbytes(16),
            carried,
            key(device),
            others=self.random.choice([[], ["cam-1"]]),
            number=self.random.choice([0, number, number, number + 1]),
        )
        start = trip.start
        start.origin_site_id, start.destination_site_id = "dock-1", self.random.choice(list(SITES))
        if not self._commit(build_batch(trip.signer, [trip.sign(start)])):
            return
        self._trips.append(trip)
        for name in [device, *trip.others]:
            of = "" if name == device else trip.trip_id
            row = self._trip(name, trip.nonce, carried, key(name), of=of)
            video = f"{trip.trip_id} {name}".encode()
            self._rows[f"{trip.trip_id} {name}"] = Row(row, [START_MS, 0, 0], video)

    def _any_row(self) -> Row | None:
        return self.random.choice(list(self._rows.values())) if self._rows else None

    def read_some(self) -> None:
        if (row := self._any_row()) is not None:
            self._read(row)

    def _read(self, row: Row) -> None:
        values = [self._value(row) for _ in range(self.random.randint(1, 8))]
        trip = row.trip
        if self.random.random() < self._losses:
            trip.run(values)  # signed, and lost on the way
            return
        if self.random.random() < 0.3:
            signed = [trip.record(value) for value in values]
        else:
            signed = [trip.run(values)]
        self._commit(build_batch(trip.signer, signed))
        if self.random.random() < 0.1:
            self._commit(build_batch(trip.signer, [trip.sign(decode(signed[-1].payload))]))

    def _value(self, row: Row) -> Reading:
        fault, clock = self.random.random(), row.clock
        passed = STEP_MS if fault > 0.08 else 60 * STEP_MS
        clock[0] += passed
        clock[1] += passed
        if 0.08 < fault < 0.12:
            clock[1], clock[2] = 5_000, clock[2] + 1
        elif 0.12 < fault < 0.15:
            clock[0] -= self.random.randint(0, 90) * STEP_MS
        boot = clock[2].to_bytes(16, "big")
        measured = self.random.random
        return Reading(
            Clock(clock[0], clock[1], boot, ClockOrigin.GNSS),
            self.random.choice([5000, 5000, 5000, 9000]) if measured() < 0.95 else None,
            50_000 if measured() < 0.9 else None,
            101_325 if measured() < 0.5 else None,
            Position(520_000_000, self.random.choice([0, 9_000_000]), 300)
            if measured() < 0.8
            else None,
            Tamper.DOOR_OPEN if measured() < 0.05 else Tamper.NONE,
            derived=measured() < 0.02,
        )

    def seal_some(self) -> None:
        if (row := self._any_row()) is not None and self.random.random() < 0.3:
            self._seal(row)

    def _seal(self, row: Row) -> None:
        digests = [digest_of(row.video)] if self.random.random() < 0.5 else []
        sealed = row.trip.seal(digests)
        self._commit(build_batch(row.trip.signer, [sealed]))
        for made in digests:
            if self.random.random() > self._losses:
                row.recorded |= self._commit(row.trip.video(made, sealed.header_signature))


_WORDS: Final[Sequence[Callable[[World], None]]] = (
    *[World.open, World.start, World.end] * 3,
    *[World.hand_over, World.transform, World.mark_lot, World.hold] * 2,
    *[World.rotate, World.replace_device, World.pack, World.certify],
    *[World.read_some] * 8,
    *[World.seal_some] * 2,
)
