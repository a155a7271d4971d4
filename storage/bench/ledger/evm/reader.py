"""What an EVM has committed, read back from its blocks."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import UnavailableError
from storage.bench.ledger.evm.driver import BLOCKS_MAX
from storage.bench.ledger.evm.jsonrpc import JsonRpc, number_of
from storage.bench.ledger.evm.receipts import receipts_of
from storage.bench.ledger.evm.urls import shown
from storage.bench.ledger.evm.wire import parts
from storage.bench.trucks.signed import read_signed


@dataclass(frozen=True, slots=True)
class EvmReader:
    """Implements `LedgerReader` for an EVM's JSON-RPC.

    Attributes:
        url: Of the node.
    """

    url: str

    def head(self) -> int:
        """See `LedgerReader.head`."""
        return asyncio.run(self._head())

    def committed(self, first: int, batch_ids: Collection[str], files: Sequence[Path]) -> int:
        """See `LedgerReader.committed`; a reverted transaction does not count."""
        wanted = {
            each.digest
            for path in files
            for name, wire in read_signed(path)
            if name in batch_ids
            for each in parts(wire)
        }
        return asyncio.run(self._count(first, wanted))

    def parts(self, wire: bytes) -> Iterator[tuple[str, int]]:
        """See `LedgerReader.parts`."""
        for each in parts(wire):
            yield each.digest.hex(), len(each.raw)

    async def _head(self) -> int:
        with closing(await JsonRpc.open(self.url)) as rpc:
            return number_of(await rpc.call("eth_blockNumber"))

    async def _count(self, first: int, wanted: Collection[bytes]) -> int:
        found = 0
        with closing(await JsonRpc.open(self.url)) as rpc:
            head = number_of(await rpc.call("eth_blockNumber"))
            for at in range(first, head + 1, BLOCKS_MAX):
                numbers = range(at, min(at + BLOCKS_MAX, head + 1))
                blocks = await receipts_of(rpc, numbers, wanted)
                if len(blocks) < len(numbers):
                    raise UnavailableError(
                        f"{shown(self.url)}: expected the receipts of block "
                        f"{numbers[len(blocks)]}, got none"
                    )
                found += sum(
                    each.succeeded and each.digest in wanted for some in blocks for each in some
                )
        return found
