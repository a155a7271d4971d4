"""A Fabric network as a target: somebody else's, by the Gateway of one of its peers."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from contracts.proto.fabric_pb2 import MVCC_READ_CONFLICT, TxValidationCode
from storage.bench.ledger.consensus import Consensus
from storage.bench.ledger.fabric.channel import (
    BFT,
    RAFT,
    Ordering,
    check_chaincode,
    ordering_of,
)
from storage.bench.ledger.fabric.driver import commit
from storage.bench.ledger.fabric.gateway import Gateway
from storage.bench.ledger.fabric.reader import FabricReader
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.signing import FabricLoad
from storage.bench.ledger.guarantees import NOT_SEEN, Guarantee, faults_of
from storage.bench.ledger.ledgers import Ledger, Pacing
from storage.bench.ledger.workloads import BatchLoad
from storage.bench.trucks.signed import SignedLoad

ENGINE: Final = "fabric"
"""Name of the driver, and kind of the targets."""
CODES: Final = (TxValidationCode.Name(MVCC_READ_CONFLICT),)
"""See `Ledger.codes`."""
_DURABLE: Final = (
    "Before it counts: the ordering nodes have it in their logs, and the peer that was asked has "
    "synced its block."
)
_ENDORSED: Final = (
    "The result of its execution is the word of the organisations that the chaincode's endorsement "
    "policy names."
)


@dataclass(frozen=True, slots=True)
class FabricNetwork:
    """An existing Fabric network; its processes are not watched.

    Attributes:
        name: Of the target.
        settings: Path of the settings file.
        place: As the file says.
        ordering: Its ordering service.
    """

    name: str
    settings: Path
    place: FabricPlace = field(repr=False)
    ordering: Ordering

    @classmethod
    def found(cls, name: str, settings: Path) -> Self:
        """Return the network of a settings file; ask the peer whether it takes our transactions.

        Raises:
            RejectedError: A setting is wrong, or the peer refuses.
            UnavailableError: The peer does not answer.
        """
        place = FabricPlace.read(settings)
        return cls(name, settings.resolve(), place, asyncio.run(_asked(place)))

    @property
    def lasting(self) -> bool:
        """See `LedgerTarget.lasting`."""
        return True

    @property
    def described(self) -> Mapping[str, Any]:
        """See `LedgerTarget.described`."""
        place, ordering = self.place, self.ordering
        return {
            "name": self.name,
            "kind": ENGINE,
            "interface": "unknown",
            "url": place.target,
            "channel": place.channel,
            "chaincode": place.chaincode,
            "msp_id": place.identity.msp_id,
            "consensus": ordering.kind,
            "ordering_nodes": ordering.nodes,
            "transactions_per_block": ordering.per_block,
            "block_timeout": ordering.timeout,
        }

    @property
    def guarantee(self) -> Guarantee:
        """See `LedgerTarget.guarantee`."""
        nodes = self.ordering.nodes
        if self.ordering.kind == RAFT and nodes:
            finality = "With its block: a majority of the ordering nodes has it (Raft)."
            return Guarantee(finality, f"{_stopping(nodes)} {_ENDORSED}", _DURABLE)
        if self.ordering.kind == BFT and nodes:
            finality = "With its block: more than two thirds of the ordering nodes signed it (BFT)."
            faults = faults_of(nodes, "ordering nodes")
            return Guarantee(finality, f"{faults} {_ENDORSED}", _DURABLE)
        return Guarantee(NOT_SEEN, f"{NOT_SEEN} {_ENDORSED}", _DURABLE)

    def translated(self, load: BatchLoad) -> SignedLoad:
        """See `LedgerTarget.translated`; called once for each load, shortly before it begins."""
        return FabricLoad(load, str(self.settings), int(time.time()))

    @contextmanager
    def opened(self, load: BatchLoad, pacing: Pacing | None) -> Iterator[Ledger]:
        """See `LedgerTarget.opened`; an existing network is not paced."""
        del pacing
        mine = FabricLoad(load, str(self.settings), int(time.time()))
        asyncio.run(commit(self.place, mine.filling()))
        # A block is cut when it is full or when its time is over: the settings are no ceiling.
        consensus = Consensus(self.ordering.kind, 0, 0.0)
        reader = FabricReader(self.place)
        yield Ledger(str(self.settings), {}, consensus, None, reader, ENGINE, CODES)


async def _asked(place: FabricPlace) -> Ordering:
    async with aclosing(await Gateway.open(place)) as gateway:
        await check_chaincode(gateway)
        return await ordering_of(gateway)


def _stopping(nodes: int) -> str:
    most = (nodes - 1) // 2
    if not most:
        return "None: no ordering node may stop or lie."
    return f"{most} of {nodes} ordering nodes may stop; none may lie (crash faults alone)."
