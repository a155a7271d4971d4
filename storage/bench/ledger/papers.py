"""The papers' workloads, signed: key-value, payments, nothing, and transactions of 765 bytes."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Final

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.sawtooth.batches import build_batch, build_transaction
from storage.bench.ledger.family import (
    CREATE,
    FAMILY,
    FILL,
    GET,
    NOTHING,
    PUT,
    VALUE_BYTES,
    Call,
    address_of,
    balance,
)
from storage.bench.trucks.fleet import key
from storage.bench.trucks.signed import serialised

BEP23_BYTES: Final = 765
"""Of one transaction, all of it. Source: BEP-23."""
BALANCE: Final = 1_000_000_000
"""First balance of each account: more than all payments together."""
FILL_PER_BATCH: Final = 20
"""Records of one batch before the clock runs."""
FILL_AT_ONCE: Final = 4_000
"""Records of one transaction of FILL: a block has 32 MB of effects at most."""


class Pattern(StrEnum):
    """Which records the calls of a load touch."""

    CHANCE = "chance"
    """Any, each as likely. Source: papers 000 and 003."""
    ONE = "one"
    """Payments from the first account: each depends on the one before. Source: papers 003, 5.1."""
    APART = "apart"
    """Payments between pairs that come again only after all others: none depends on another."""
    NONE = "none"
    """Calls that do nothing. Source: papers 000, section 3, Blockbench's Donothing."""


@dataclass(frozen=True, slots=True)
class PaperLoad:
    """Transactions of family `wayseal_bench`; implements `SignedLoad`.

    Attributes:
        name: Tells loads on the same ledger apart.
        lanes: Each is submitted in order.
        transactions: Of one lane.
        per_batch: Transactions in one batch.
        records: Keys or accounts that exist before; 0 lets each transaction create one.
        writes: Share of the transactions that write, 0 to 1; the others read.
        pays: Whether a write is a payment.
        seed: Of keys and values.
        pattern: Which records are touched.
    """

    name: str
    lanes: int
    transactions: int
    per_batch: int
    records: int
    writes: float
    pays: bool
    seed: int
    pattern: Pattern = Pattern.CHANCE

    def batches(self, lane: int) -> Iterator[Batch]:
        """Yield the signed batches of one lane."""
        signer, nonces = key(f"{self.name} {lane}"), self._nonces(lane)
        signed = (_transaction(signer, call, nonces) for call in self.calls(lane))
        while group := list(islice(signed, self.per_batch)):
            yield build_batch(signer, group)

    def wires(self, lane: int) -> Iterator[tuple[str, bytes]]:
        """See `SignedLoad.wires`."""
        return serialised(self.batches(lane))

    def calls(self, lane: int) -> Iterator[Call]:
        """Yield the calls of one lane."""
        chance = self._chance(lane)
        return (self._call(lane, number, chance) for number in range(self.transactions))

    def filling(self) -> Iterator[Batch]:
        """Yield the batches that create the records, to be committed before the load."""
        signer, nonces = key(f"{self.name} fills"), self._nonces(_FILLS)
        signed = (_transaction(signer, call, nonces) for call in self.filling_calls())
        while group := list(islice(signed, FILL_PER_BATCH)):
            yield build_batch(signer, group)

    def filling_calls(self) -> Iterator[Call]:
        """Yield the calls that create the records."""
        chance = self._chance(_FILLS)
        values = (
            balance(BALANCE) if self.pays else chance.randbytes(VALUE_BYTES)
            for _ in range(self.records)
        )
        return (Call(PUT, (self._place(n),), value) for n, value in enumerate(values))

    def filling_at_once(self) -> Iterator[Batch]:
        """Yield batches that create the records of a large state, thousands in each.

        They come in the order of their addresses: each block changes few branches of the tree.
        """
        signer, nonces = key(f"{self.name} fills"), self._nonces(_FILLS)
        places = sorted(map(self._place, range(self.records)))
        for at in range(0, len(places), FILL_AT_ONCE):
            call = Call(FILL, tuple(places[at : at + FILL_AT_ONCE]))
            yield build_batch(signer, [_transaction(signer, call, nonces)])

    @property
    def creates(self) -> bool:
        """Say whether each transaction creates a record."""
        return not self.records and self.pattern is not Pattern.NONE

    def _call(self, lane: int, number: int, chance: random.Random) -> Call:
        if self.pattern is Pattern.NONE:
            return Call(NOTHING, ())
        if self.pattern in _PAYING:
            return self._payment(number * self.lanes + lane)
        if self.creates:
            return self._create(lane, number, chance)
        place = self._place(chance.randrange(self.records))
        if chance.random() >= self.writes:
            return Call(GET, (place,))
        if not self.pays:
            return Call(PUT, (place,), chance.randbytes(VALUE_BYTES))
        others = (self._place(chance.randrange(self.records)) for _ in iter(int, 1))
        return Call.pay(place, next(other for other in others if other != place), 1)

    def _payment(self, turn: int) -> Call:
        """Return the payment of one turn of all lanes together; see `Pattern`."""
        if self.pattern is Pattern.ONE:
            return Call.pay(self._place(0), self._place(1 + turn % (self.records - 1)), 1)
        pair = turn % (self.records // 2)
        return Call.pay(self._place(2 * pair), self._place(2 * pair + 1), 1)

    def _create(self, lane: int, number: int, chance: random.Random) -> Call:
        """Return a call whose transaction has the size of BEP-23."""
        place = address_of(f"{self.name} {lane} {number}")
        return Call(CREATE, (place,), chance.randbytes(_room(BEP23_BYTES)))

    def _place(self, number: int) -> str:
        return address_of(f"{self.name} record {number}")

    def _chance(self, lane: int) -> random.Random:
        return random.Random(f"{self.seed} {self.name} {lane}")  # noqa: S311 - to be repeated

    def _nonces(self, lane: int) -> random.Random:
        # Apart from the calls: other ledgers have no such nonces, and get the same calls.
        return random.Random(f"{self.seed} {self.name} {lane} nonces")  # noqa: S311 - to be repeated


_FILLS: Final = -1
"""In place of a lane: the batches that create the records."""
_PAYING: Final = (Pattern.ONE, Pattern.APART)


@lru_cache
def _room(size: int) -> int:
    """Return the size of the value in a creation of so many bytes in all."""
    value = bytes(128)  # lengths below 128 take an octet less
    call = Call(CREATE, (address_of(""),), value)
    return size - _transaction(key(""), call, random.Random(0)).ByteSize() + len(value)  # noqa: S311


def _transaction(signer: Signer, call: Call, nonces: random.Random) -> Transaction:
    return build_transaction(
        signer,
        FAMILY,
        call.payload,
        batcher_public_key=signer.public_key,
        inputs=call.inputs,
        outputs=call.outputs,
        nonce=nonces.randbytes(8).hex(),
    )
