"""What the journal keeps of a trip and of its recordings."""

from dataclasses import dataclass
from enum import StrEnum

from contracts.address import delivery
from contracts.proto.payload_pb2 import StartTrip
from contracts.records.reading import ChainLink, Clock, DeviceChain
from contracts.records.recording import RecordingDigest
from contracts.rules.version import USUAL, RulesVersion


class TripState(StrEnum):
    """How far a trip has come."""

    OPEN = "open"
    SEALED = "sealed"
    RECEIPTED = "receipted"


@dataclass(frozen=True, slots=True)
class Trip:
    """A trip after its last commit.

    Attributes:
        trip_id: Its id, 32 hexadecimal digits; `start` has it too.
        input_id: SHA-256 of the trip's input, 32 bytes; only the same input continues the trip.
        device_id: The device whose chain this is; it started the trip, or joined it.
        start: The action that started it.
        state: How far it has come.
        reported: The user was told of its end.
        readings: Number of readings in the chain, signed or waiting for their run to end.
        head_sha256: Digest of the last reading, 32 bytes; empty without readings.
        last_transaction_id: The first transaction of the next batch depends on it.
        clock: Clock of the last reading, or of the start.
        seal_transaction_id: Id of the seal; empty while open.
        run_ended: The waiting readings are one complete run, which must be signed as it is.
        joined_at_ms: When this device joined, milliseconds UTC; None when it started the trip.
    """

    trip_id: str
    input_id: bytes
    device_id: str
    start: StartTrip
    state: TripState
    reported: bool
    readings: int
    head_sha256: bytes
    last_transaction_id: str
    clock: Clock
    seal_transaction_id: str = ""
    run_ended: bool = False
    joined_at_ms: int | None = None

    @property
    def tells(self) -> bool:
        """Whether this device says what is wrong with it: it measures here and now.

        What is replayed has the trip's nonce as boot id, or names its files or the simulator.
        """
        return not self.start.derived_from and self.clock.boot_id != self.start.nonce

    @property
    def rules(self) -> RulesVersion:
        """The version of the rules under which this device signs."""
        return RulesVersion.V1_2 if self.tells else USUAL

    @property
    def began_at_ms(self) -> int:
        """When this device began to record, milliseconds UTC."""
        return self.start.started_at_ms if self.joined_at_ms is None else self.joined_at_ms

    @property
    def own_number(self) -> int:
        """Number in this device's row of trips; 0 if the trip was joined, or has no number."""
        return self.start.trip_number if self.joined_at_ms is None else 0

    @property
    def link(self) -> ChainLink:
        """The place of the next reading."""
        return ChainLink(DeviceChain(self.trip_id, self.device_id), self.readings, self.head_sha256)

    @property
    def delivery_addresses(self) -> list[str]:
        """State addresses of the deliveries on board."""
        return [delivery(delivery_id) for delivery_id in self.start.delivery_ids]


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that the device keeps until its trip is receipted.

    Attributes:
        trip_id: The trip it was made on.
        digest: What identifies it.
        name: File name below the trip's folder.
        media_type: Media type of the container.
        duration_ms: Milliseconds; 0 when unknown.
        source_sha256: SHA-256 of the file it was replayed from; empty when filmed live.
        started_at_ms: UTC of its first picture, milliseconds; 0 if it began with the trip.
        marked: There was a tamper sign in it: it is offloaded before others.
    """

    trip_id: str
    digest: RecordingDigest
    name: str
    media_type: str
    duration_ms: int
    source_sha256: bytes
    started_at_ms: int = 0
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A signed transaction that waits for its batch to fill.

    Attributes:
        wire: The serialised transaction.
        readings: Number of readings in it.
        monotonic_ms: Counter of its first reading; None without readings.
    """

    wire: bytes
    readings: int = 0
    monotonic_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SignedBatch:
    """A closed batch.

    Attributes:
        batch_id: Its id, 128 hexadecimal digits.
        wire: The serialised batch.
        digest_of: SHA-256 of the recording whose digest it holds; None for readings.
    """

    batch_id: str
    wire: bytes
    digest_of: bytes | None = None
