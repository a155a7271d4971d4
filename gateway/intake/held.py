"""What the inbox holds: batches, offers of recordings, receipts, and where each batch stands."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """Where a batch stands."""

    HELD = "held"
    SUBMITTED = "submitted"
    COMMITTED = "committed"
    QUARANTINED = "quarantined"
    LOST = "lost"
    """Was committed, but the ledger went back after its bytes were dropped: it must come again."""
    DROPPED = "dropped"
    """Waited too long, or an operator dropped it: its truck still has it, and may send it again."""


@dataclass(frozen=True, slots=True)
class HeldBatch:
    """A batch in the inbox.

    Attributes:
        batch_id: Its header signature.
        device_id: The device that signed it, or sent it if no rule would accept it.
        trip_id: The trip that it belongs to; empty if no rule would accept it.
        wire: The serialised batch.
        readings: How many readings it records.
        dependency: Id of the transaction outside the batch that must be committed first, or "".
        last_transaction_id: Id of the transaction that the device's next batch will depend on.
        recording: SHA-256 of the recording whose digest it carries; None for readings.
        state: Where it stands.
        reason: Why it is quarantined, lost or dropped; empty otherwise.
    """

    batch_id: str
    device_id: str
    trip_id: str
    wire: bytes
    readings: int
    dependency: str
    last_transaction_id: str
    recording: bytes | None = None
    state: State = State.HELD
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KnownBatch:
    """A batch in the inbox, without its bytes; see `HeldBatch`."""

    trip_id: str
    state: State
    reason: str


class End(NamedTuple):
    """A batch as the end of its chain so far.

    Attributes:
        trip_id: Its trip.
        device_id: Its device.
        size: Bytes of the batch.
    """

    trip_id: str
    device_id: str
    size: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A recording that a device announced, and the batch with its signed digest."""

    trip_id: str
    device_id: str
    recording: bytes
    size: int
    tree_root: bytes
    batch_id: str


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """The newest receipt of a visit.

    Attributes:
        wire: The receipt as it is sent.
        final: Whether it ends the visit; a provisional receipt is followed by another one.
    """

    wire: bytes
    final: bool
