"""What an evidence file shows of the ledger: block heads from genesis on, and batches.

Every step says what it proves: a head, that a signer made this block on top of
that one; a batch, that its signers made these transactions and a block took them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.keys import is_signature
from contracts.payload import FAMILY
from contracts.proto.evidence_pb2 import BlockHead
from contracts.proto.sawtooth_pb2 import Batch, Transaction, TransactionHeader
from contracts.sawtooth.batches import check_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, check_block_signature
from contracts.sawtooth.counts import check_transactions_of
from contracts.sawtooth.transactions import ID_HEX, Family, parse_header


class BlockHeads:
    """The chain of block heads, checked as they arrive.

    Attributes:
        genesis_id: Id of the first block; empty before it arrived.
        signers: Public keys that signed blocks.
    """

    def __init__(self) -> None:
        self.genesis_id = ""
        self.signers: set[str] = set()
        self._count = 0
        self._last_id = NULL_BLOCK_ID
        self._place: dict[str, tuple[int, int]] = {}

    def add(self, payload: bytes) -> None:
        """Take the next head.

        Raises:
            RejectedError: It does not follow, or its signature does not hold.
        """
        head = parse_part(BlockHead, payload)
        header = check_block_signature(head.header, head.header_signature)
        if header.block_num != self._count:
            raise RejectedError(f"block {header.block_num} where block {self._count} is due")
        if header.previous_block_id != self._last_id:
            raise RejectedError(
                f"block {header.block_num} follows {header.previous_block_id[:16]}…, "
                f"the block before it is {self._last_id[:16]}…"
            )
        for place, batch_id in enumerate(header.batch_ids):
            if not is_signature(batch_id):
                raise RejectedError(
                    f"block {header.block_num} names a batch {batch_id[:80]!r}, "
                    f"expected {ID_HEX} lower-case hexadecimal digits"
                )
            self._place[batch_id] = (header.block_num, place)
        self.genesis_id = self.genesis_id or head.header_signature
        self.signers.add(header.signer_public_key)
        self._count += 1
        self._last_id = head.header_signature

    @property
    def count(self) -> int:
        """Return how many heads there are."""
        return self._count

    @property
    def last_id(self) -> str:
        """Return the id of the last block; that of no block before the first."""
        return self._last_id

    def place(self, batch_id: str) -> tuple[int, int]:
        """Return block number and place in that block of a batch.

        Raises:
            RejectedError: No block took it.
        """
        try:
            return self._place[batch_id]
        except KeyError as error:
            raise RejectedError(f"batch {batch_id[:16]}… is in no block") from error


class Taken(NamedTuple):
    """One transaction of family `wayseal`, whose signatures hold.

    Attributes:
        missing: The transactions that it depends on and that did not come before it.
    """

    header: TransactionHeader
    transaction: Transaction
    missing: list[str]


class Batches:
    """The batches, checked as they arrive, in the order in which the ledger took them."""

    def __init__(self, heads: BlockHeads) -> None:
        self._heads = heads
        self._last = (-1, -1)
        self._seen: set[str] = set()

    def add(self, payload: bytes) -> Iterator[Taken]:
        """Take the next batch; yield its transactions of family `wayseal`.

        Raises:
            RejectedError: A signature does not hold, no block took the batch, it holds too many
                transactions or stands out of order, or a transaction comes twice, or under rules
                of another version.
        """
        check_transactions_of(payload)
        batch = parse_part(Batch, payload)
        check_batch(batch)
        if batch.trace:
            raise RejectedError(
                f"batch {batch.header_signature[:16]}… has `trace` set, which no signature covers"
            )
        place = self._heads.place(batch.header_signature)
        if place <= self._last:
            raise RejectedError(
                f"batch {batch.header_signature[:16]}… stands out of the ledger's order"
            )
        self._last = place
        for transaction in batch.transactions:
            header = parse_header(transaction)
            self._check(transaction.header_signature, header)
            missing = [each for each in header.dependencies if each not in self._seen]
            self._seen.add(transaction.header_signature)
            if Family.of(header) == FAMILY:
                yield Taken(header, transaction, missing)

    def _check(self, transaction_id: str, header: TransactionHeader) -> None:
        name = f"transaction {transaction_id[:16]}…"
        if transaction_id in self._seen:
            raise RejectedError(f"{name} is here twice")
        if header.family_name == FAMILY.name and header.family_version != FAMILY.version:
            raise RejectedError(
                f"{name} is of {FAMILY.name} {header.family_version[:20]!r}, "
                f"this verifier knows the rules of {FAMILY.version}"
            )
