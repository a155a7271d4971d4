"""The ledger's part of an evidence file: block heads from genesis on, and batches.

A head proves that a signer made this block on top of the previous one. A batch
proves that its signers made these transactions, and a head that a block holds
the batch.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from contracts.actions.payload import FAMILIES, FAMILY
from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.keys import is_signature
from contracts.proto.evidence_pb2 import BlockHead
from contracts.proto.sawtooth_pb2 import Batch, BlockHeader, Transaction, TransactionHeader
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import ID_HEX, Family, check_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, check_block_id, network_height
from contracts.sawtooth.counts import check_transactions_of

REPLAYED: Final = frozenset({*FAMILIES, block_info.FAMILY})
"""Families whose transactions a replay applies."""


class BlockHeads:
    """The chain of block heads, checked as they arrive.

    Attributes:
        count: How many heads there are.
        genesis_id: Id of the first block; empty until its head arrives.
        last_id: Id of the last block; `NULL_BLOCK_ID` before the first.
        state_root: State root that the last block commits to, 64 hexadecimal digits.
        signers: Public keys that signed blocks; none if a network of validators made them.
    """

    def __init__(self) -> None:
        self.count = 0
        self.genesis_id = ""
        self.last_id = NULL_BLOCK_ID
        self.state_root = ""
        self.signers: set[str] = set()
        self._place: dict[str, tuple[int, int]] = {}

    def add(self, payload: bytes) -> None:
        """Check the next head.

        Raises:
            RejectedError: It does not follow the head before, its signature is wrong, or it names
                a batch that was named before.
        """
        head = parse_part(BlockHead, payload)
        header = check_block_id(head.header, head.header_signature)
        if header.block_num != self.count:
            raise RejectedError(f"block {header.block_num} where block {self.count} is expected")
        if header.previous_block_id != self.last_id:
            raise RejectedError(
                f"block {header.block_num} follows {header.previous_block_id[:16]}…, "
                f"the block before it is {self.last_id[:16]}…"
            )
        for place, batch_id in enumerate(header.batch_ids):
            if not is_signature(batch_id):
                raise RejectedError(
                    f"block {header.block_num} names a batch {batch_id[:80]!r}, "
                    f"expected {ID_HEX} lower-case hexadecimal digits"
                )
            if batch_id in self._place:
                raise RejectedError(
                    f"block {header.block_num} names batch {batch_id[:16]}…, which was named before"
                )
            self._place[batch_id] = (header.block_num, place)
        self.genesis_id = self.genesis_id or head.header_signature
        self._note_maker(header)
        self.count += 1
        self.last_id = head.header_signature
        self.state_root = header.state_root_hash

    @property
    def by_network(self) -> bool:
        """Say whether a network of validators made the blocks, whose ids then are digests."""
        return bool(self.count) and not self.signers

    def _note_maker(self, header: BlockHeader) -> None:
        by_network = network_height(header) is not None
        if self.count and by_network != self.by_network:
            raise RejectedError(
                f"block {header.block_num}: one signer and a network of validators do not make "
                "blocks of one ledger"
            )
        if not by_network:
            self.signers.add(header.signer_public_key)

    def place(self, batch_id: str) -> tuple[int, int]:
        """Return the number of a batch's block, and the batch's place in it.

        Raises:
            RejectedError: No block holds the batch.
        """
        try:
            return self._place[batch_id]
        except KeyError as error:
            raise RejectedError(f"batch {batch_id[:16]}… is in no block") from error


class Taken(NamedTuple):
    """One transaction of family `wayseal` or `block_info` whose signatures hold.

    Attributes:
        missing: Id of a dependency that did not come before it, if any.
        place: The number of its block, and its batch's place in it.
    """

    header: TransactionHeader
    transaction: Transaction
    missing: str | None
    place: tuple[int, int]


class Batches:
    """The batches in the ledger's order, checked as they arrive."""

    def __init__(self, heads: BlockHeads) -> None:
        self._heads = heads
        self._last = (-1, -1)
        self._seen: set[str] = set()

    def add(self, payload: bytes) -> Iterator[Taken]:
        """Check the next batch; yield its transactions that are replayed.

        Raises:
            RejectedError: A signature is wrong, no block holds the batch, it holds too many
                transactions, it is out of order, a transaction comes twice, or it follows rules
                of another version.
        """
        check_transactions_of(payload)
        batch = parse_part(Batch, payload)
        headers = check_batch(batch).headers
        if batch.trace:
            raise RejectedError(
                f"batch {batch.header_signature[:16]}… has `trace` set, which no signature covers"
            )
        place = self._heads.place(batch.header_signature)
        if place <= self._last:
            raise RejectedError(
                f"batch {batch.header_signature[:16]}… is not in the ledger's order"
            )
        self._last = place
        for transaction, header in zip(batch.transactions, headers, strict=True):
            self._check(transaction.header_signature, header)
            # One is enough, and a header of 16 MiB may name millions.
            absent = (each for each in header.dependencies if each not in self._seen)
            missing = next(absent, None)
            self._seen.add(transaction.header_signature)
            if Family.of(header) in REPLAYED:
                yield Taken(header, transaction, missing, place)

    def _check(self, transaction_id: str, header: TransactionHeader) -> None:
        name = f"transaction {transaction_id[:16]}…"
        if transaction_id in self._seen:
            raise RejectedError(f"{name} comes twice")
        family = Family.of(header)
        if family.name == FAMILY.name and family not in FAMILIES:
            known = " and ".join(each.version for each in FAMILIES)
            raise RejectedError(
                f"{name} is of {family.name} {family.version[:20]!r}, "
                f"this verifier knows the rules of {known}"
            )
