"""The committed transactions of a Fabric network, read back from the blocks of a peer."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from contracts.proto.fabric_pb2 import VALID, EndorseRequest
from storage.bench.ledger.fabric.channel import codes_of, head_of
from storage.bench.ledger.fabric.gateway import Gateway
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.wire import taken_apart
from storage.bench.trucks.signed import read_signed


@dataclass(frozen=True, slots=True)
class FabricReader:
    """Implements `LedgerReader` for a peer's Gateway.

    Attributes:
        place: Of the peer.
    """

    place: FabricPlace

    def head(self) -> int:
        """See `LedgerReader.head`."""
        return asyncio.run(self._head())

    def committed(self, first: int, batch_ids: Collection[str], files: Sequence[Path]) -> int:
        """See `LedgerReader.committed`; a transaction in a block that is not valid does not."""
        wanted = {
            taken_apart(wire)[0].hex()
            for path in files
            for name, wire in read_signed(path)
            if name in batch_ids
        }
        return asyncio.run(self._count(first, wanted))

    def parts(self, wire: bytes) -> Iterator[tuple[str, int]]:
        """See `LedgerReader.parts`; the size is that of the signed proposal."""
        digest, request = taken_apart(wire)
        yield digest.hex(), EndorseRequest.FromString(request).proposed_transaction.ByteSize()

    async def _head(self) -> int:
        async with aclosing(await Gateway.open(self.place)) as gateway:
            return await head_of(gateway)

    async def _count(self, first: int, wanted: Collection[str]) -> int:
        found = 0
        async with aclosing(await Gateway.open(self.place)) as gateway:
            for number in range(first, await head_of(gateway) + 1):
                codes = await codes_of(gateway, number)
                found += sum(code == VALID and name in wanted for name, code in codes.items())
        return found
