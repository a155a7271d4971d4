"""The batches that a proposer puts into a height, and those that validators accept in one.

Batches are sorted so that each comes after those it depends on: two validators that got them in
different orders would refuse batches that are only early.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.execution.verify import BATCH_ADDRESSES_MAX, VerifiedBatch

TX_OVERHEAD_BYTES: Final = 16
"""Bytes that CometBFT adds to a transaction in its block: the field's number and the length."""
PROPOSAL_BYTES: Final = 2 << 20
"""A proposer adds no batch to a height that would have more: a second or two of readings.

All validators execute a height before they begin the next. A batch may be larger alone, and
validators accept proposals of another version. The proposer looks at the first batches of its
mempool that have twice as many bytes. The mempool has a batch after those that it depends on. If a
batch comes too early all the same, the validator that took it offers it again.
"""


@dataclass(frozen=True, slots=True)
class Carried:
    """A transaction of the engine, and the batch in it."""

    tx: bytes
    batch: VerifiedBatch


def in_order(carried: Sequence[Carried]) -> list[Carried]:
    """Return the batches, each after those of them that it depends on; else as they came.

    Where two depend on each other, which no ledger can commit, they stay as they came.
    """
    holder = {
        transaction.header_signature: number
        for number, each in enumerate(carried)
        for transaction in each.batch.batch.transactions
    }
    needs = [sorted(_needs(each, number, holder)) for number, each in enumerate(carried)]
    if all(number > max(before, default=-1) for number, before in enumerate(needs)):
        return list(carried)
    return [carried[number] for number in _sorted(needs)]


def filled(
    carried: Sequence[Carried],
    *,
    bytes_max: int,
    batches_max: int,
    size_max: int = BLOCK_BATCH_BYTES_MAX,
) -> Iterator[Carried]:
    """Yield the first batches that fit a height, none after one that does not.

    Args:
        carried: In order.
        bytes_max: How many bytes of transactions the engine takes.
        batches_max: How many batches the network permits.
        size_max: How many bytes the batches may have together; the first one may have more.
    """
    size = addresses = on_wire = 0
    for number, each in enumerate(carried):
        size += each.batch.size
        addresses += each.batch.addresses
        on_wire += len(each.tx) + TX_OVERHEAD_BYTES
        full = size > size_max or addresses > BATCH_ADDRESSES_MAX
        if number >= batches_max or on_wire > bytes_max or (full and number):
            return
        yield each


def _needs(each: Carried, number: int, holder: dict[str, int]) -> set[int]:
    found = {holder.get(name, number) for h in each.batch.headers for name in h.dependencies}
    return found - {number}


def _sorted(needs: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers so that each comes after what it needs; depth first, without recursion."""
    order: list[int] = []
    begun: set[int] = set()
    for first in range(len(needs)):
        waiting = [(first, iter(needs[first]))] if first not in begun else []
        begun.add(first)
        while waiting:
            number, rest = waiting[-1]
            before = next((each for each in rest if each not in begun), None)
            if before is None:
                order.append(number)
                waiting.pop()
            else:
                begun.add(before)
                waiting.append((before, iter(needs[before])))
    return order
