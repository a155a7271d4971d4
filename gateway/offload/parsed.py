"""Batches on their way to the ledger, each parsed once."""

from collections.abc import Iterable
from dataclasses import dataclass

from contracts.actions.payload import decode
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Batch
from gateway.intake.held import HeldBatch


@dataclass(frozen=True, slots=True)
class Parsed:
    """A held batch and its message, parsed once on its way to the ledger."""

    held: HeldBatch
    batch: Batch

    def starts_trip(self) -> bool:
        """Say whether its first action starts the trip."""
        return isinstance(decode(self.batch.transactions[0].payload), StartTrip)


def size_of(batches: Iterable[Parsed]) -> int:
    """Return the bytes of all."""
    return sum(len(each.held.wire) for each in batches)
