"""The benchmark's loads as signed proposals of a Fabric network."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from contracts.actions.payload import encode
from storage.bench.ledger.fabric.messages import NONCE_BYTES, propose
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.wire import wired
from storage.bench.ledger.family import CREATE, GET, NOTHING, PAY, PUT, Call
from storage.bench.ledger.papers import FILL_PER_BATCH
from storage.bench.ledger.workloads import Translated
from storage.bench.trucks.fleet import Load, Truck

FUNCTIONS: Final = {CREATE: b"create", PUT: b"put", GET: b"get", PAY: b"pay", NOTHING: b"nothing"}
"""Of the chaincode, by the verb of family `wayseal_bench`."""
_FILLS: Final = "fills"


@dataclass(frozen=True, slots=True)
class FabricLoad(Translated):
    """A load as calls of the chaincode, each a transaction; implements `SignedLoad`.

    Attributes:
        settings: Path of the settings file, whose identity signs.
        made_s: When the load was made, seconds since 1970: a peer refuses a proposal that is 15
            minutes older than its own clock. Source: core.yaml, `peer.authentication.timewindow`.
    """

    settings: str
    made_s: int

    def wires(self, lane: int) -> Iterator[tuple[str, bytes]]:
        """See `SignedLoad.wires`."""
        return self._signed(str(lane), self._calls(lane))

    def filling(self) -> Iterator[bytes]:
        """Yield the transactions that create the records, to be committed before the load."""
        if isinstance(self.inner, Load):
            return
        calls = self.inner.filling_calls()
        puts = (_joined(some) for some in iter(lambda: list(islice(calls, FILL_PER_BATCH)), []))
        yield from (wire for _, wire in self._signed(_FILLS, puts))

    def _calls(self, lane: int) -> Iterator[list[bytes]]:
        if isinstance(self.inner, Load):
            return _records(Truck(self.inner, lane))
        return map(invocation, self.inner.calls(lane))

    def _signed(self, part: str, calls: Iterator[list[bytes]]) -> Iterator[tuple[str, bytes]]:
        place = FabricPlace.read(Path(self.settings))
        for number, arguments in enumerate(calls):
            seed = f"wayseal bench fabric {self.name} {part} {number}".encode()
            yield wired(
                propose(
                    place.identity,
                    place.channel,
                    place.chaincode,
                    arguments,
                    nonce=hashlib.sha256(seed).digest()[:NONCE_BYTES],
                    made_s=self.made_s,
                )
            )


def invocation(call: Call) -> list[bytes]:
    """Return a call of family `wayseal_bench` as one of the chaincode."""
    ending = [] if call.verb in {GET, NOTHING} else [call.argument]
    return [FUNCTIONS[call.verb], *(place.encode() for place in call.addresses), *ending]


def _joined(calls: list[Call]) -> list[bytes]:
    """Return calls that write as one."""
    return [FUNCTIONS[PUT], *(part for call in calls for part in invocation(call)[1:])]


def _records(truck: Truck) -> Iterator[list[bytes]]:
    """Yield paper 002's fields for each transaction of a truck, whose content stays off the chain.

    Quantity is that of the goods, not of the readings.
    """
    terms = truck.terms
    fields = (terms.order_id, terms.lots[0].lot, terms.product, str(terms.quantity))
    for action in truck.actions():
        digest = hashlib.sha256(encode(action)).digest()
        yield [b"record", *(each.encode() for each in fields), digest]
