"""A second maker of blocks, in memory: one block for each submission, made at once.

It implements `Submitter` and `BlockReader` with the candidate block, the genesis form and the
rules for state roots that the embedded node uses, and with nothing of `solo/` or its log.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from contracts.keys import Signer
from contracts.ledger.engine.blocks import ChainPosition, StoredBlock, stored_block
from contracts.ledger.engine.candidate import Candidate, OwnDependency
from contracts.ledger.engine.genesis import take_genesis
from contracts.ledger.engine.ports import QueueFullError
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.obeyed import may_change_obeyed
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.state.merkle import Edge, Tree, root_edge
from contracts.sawtooth.batches import Status
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from contracts.sawtooth.nodes import EMPTY_ROOT, StateTreeNode
from contracts.sawtooth.pruned import Pruning, Wanted
from support.ledgers.founding import untimed_genesis

BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole state after one block; implements `StateReader`."""

    values: Mapping[str, bytes]

    def get(self, address: str) -> bytes | None:
        return self.values.get(address)

    def leaves(
        self, prefix: str = "", start: str = "", *, reverse: bool = False
    ) -> Iterator[tuple[str, bytes]]:
        for address in sorted(self.values, reverse=reverse):
            before = address > start if reverse else address < start
            if address.startswith(prefix) and not (start and before):
                yield address, self.values[address]

    def way(self, target: str) -> Iterator[StateTreeNode]:
        pruning = Pruning(Wanted([bytes.fromhex(target)]))
        for address, value in self.leaves():
            pruning.add(bytes.fromhex(address), value)
        return (node for node in pruning.finish() if node.value is None)


class MemoryEngine:
    """Makes blocks in the thread that submits."""

    def __init__(self, signer: Signer, families: Families) -> None:
        self._signer = signer
        self._families = families
        self._blocks: list[StoredBlock] = []
        self._states: list[Snapshot] = []
        self._refusals: dict[str, InvalidTransaction] = {}
        self._undecided: dict[str, InvalidTransaction] = {}
        self._followers: list[Callable[[], None]] = []
        self._held_bytes = 0
        self.governed_since = 0
        genesis = self._candidate()
        take_genesis(genesis, [untimed_genesis(signer, [signer.public_key])])
        self._append(genesis)

    @property
    def head(self) -> StoredBlock | None:
        return self._blocks[-1] if self._blocks else None

    def by_num(self, number: int) -> StoredBlock | None:
        return self._blocks[number] if 0 <= number < len(self._blocks) else None

    def by_id(self, block_id: str) -> StoredBlock | None:
        return next((stored for stored in self._blocks if stored.id == block_id), None)

    def find_batch(self, batch_id: str) -> ChainPosition | None:
        for stored in self._blocks:
            for place, batch in enumerate(stored.block.batches):
                if batch.header_signature == batch_id:
                    return ChainPosition(stored.num, place)
        return None

    def find_transaction(self, transaction_id: str) -> ChainPosition | None:
        for stored in self._blocks:
            for place, batch in enumerate(stored.block.batches):
                for inner, transaction in enumerate(batch.transactions):
                    if transaction.header_signature == transaction_id:
                        return ChainPosition(stored.num, place, inner)
        return None

    def state_after(self, block_num: int) -> Snapshot:
        return self._states[block_num]

    def follow(self, notice: Callable[[], None]) -> None:
        self._followers.append(notice)

    def check(self, size: int) -> None:
        if self._held_bytes + size > BYTES_MAX:
            raise QueueFullError(f"{self._held_bytes + size} bytes, at most {BYTES_MAX} allowed")

    def hold(self, *, batches: int = 0, size: int = 0) -> None:  # noqa: ARG002 - only bytes count
        self.check(size)
        self._held_bytes += size

    def release(self, *, batches: int = 0, size: int = 0) -> None:  # noqa: ARG002
        self._held_bytes -= size

    def submit(self, batches: Sequence[VerifiedBatch], size: int) -> None:
        candidate = self._candidate()
        for batch in batches:
            refused = candidate.add(batch)
            if isinstance(refused, InvalidTransaction):
                self._refusals[batch.id] = refused
            if isinstance(refused, OwnDependency):
                why = InvalidTransaction(refused.transaction, str(refused))
                self._undecided[batch.id] = why
        if candidate.batches:
            self._append(candidate)
        self.release(size=size)

    def status(self, batch_id: str) -> Status:
        if self.find_batch(batch_id) is not None:
            return Status.COMMITTED
        return Status.INVALID if batch_id in self._refusals else Status.UNKNOWN

    def refusal(self, batch_id: str) -> InvalidTransaction | None:
        return self._refusals.get(batch_id) or self._undecided.get(batch_id)

    async def wait(self, batch_ids: Sequence[str], timeout_s: float) -> None:
        """Return at once: nothing is ever pending."""

    def _candidate(self) -> Candidate:
        before = self._states[-1].values if self._states else {}
        return Candidate(self, before.get, self._families)

    def _append(self, candidate: Candidate) -> None:
        before = self._states[-1].values if self._states else {}
        values = {**before, **candidate.changes}
        after = {address: value for address, value in values.items() if value is not None}
        head = self.head
        block = build_block(
            self._signer,
            candidate.batches,
            block_num=len(self._blocks),
            previous_block_id=NULL_BLOCK_ID if head is None else head.id,
            consensus=b"memory",
            state_root_hash=_root(after),
        )
        self._states.append(Snapshot(after))
        self._blocks.append(stored_block(block, candidate.receipts))
        if may_change_obeyed(candidate.changes):
            self.governed_since = len(self._blocks) - 1
        for notice in self._followers:
            notice()


def _root(values: Mapping[str, bytes]) -> str:
    """Return the state root of `values`, computed as if all of them were new."""
    return Tree(_nothing, _nothing, 1).update(root_edge(0, EMPTY_ROOT), values).root_hash


def _nothing(edge: Edge) -> NoReturn:
    raise AssertionError(f"node {edge.node} of an empty tree")
