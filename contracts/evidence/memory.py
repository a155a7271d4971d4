"""A host for the rules that keeps the state in memory, for the verifier and for tests.

As a ledger does, it confines a transaction to the addresses that its header
declares, and drops all writes of an invalid transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contracts.actions.apply import apply
from contracts.proto.sawtooth_pb2 import Event, TransactionHeader
from contracts.rules.case import invalid
from contracts.rules.ids import Rule


class Effects(NamedTuple):
    """What one transaction did.

    Attributes:
        events: Its events.
        written: The addresses that it set or deleted.
    """

    events: list[Event]
    written: frozenset[str]


class MemoryHost:
    """Applies transactions of family `wayseal` one after the other.

    Attributes:
        state: The values by address.
        touched: Every address that a transaction read or wrote.
    """

    def __init__(self) -> None:
        self.state: dict[str, bytes] = {}
        self.touched: set[str] = set()

    def apply(self, header: TransactionHeader, payload: bytes, transaction_id: str) -> Effects:
        """Apply one transaction; return what it did.

        Raises:
            InvalidTransactionError: The rules refuse it; the state does not change.
        """
        view = _View(self.state, {}, [], header.inputs, header.outputs, self.touched)
        apply(header, payload, transaction_id, view)
        for address, value in view.writes.items():
            if value is None:
                self.state.pop(address, None)
            else:
                self.state[address] = value
        return Effects(view.events, frozenset(view.writes))


@dataclass(frozen=True, slots=True)
class _View:
    """The state as one transaction sees it."""

    state: dict[str, bytes]
    writes: dict[str, bytes | None]
    events: list[Event]
    inputs: Sequence[str]
    outputs: Sequence[str]
    touched: set[str]

    def get(self, address: str) -> bytes | None:
        """See `Context.get`."""
        _confine("input", address, self.inputs)
        self.touched.add(address)
        return self.writes[address] if address in self.writes else self.state.get(address)

    def set(self, address: str, value: bytes) -> None:
        """See `Context.set`."""
        _confine("output", address, self.outputs)
        self.touched.add(address)
        self.writes[address] = value

    def delete(self, address: str) -> None:
        """See `Context.delete`."""
        _confine("output", address, self.outputs)
        self.touched.add(address)
        self.writes[address] = None

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        """See `Context.add_event`."""
        pairs = [Event.Attribute(key=key, value=value) for key, value in attributes.items()]
        self.events.append(Event(event_type=event_type, attributes=pairs, data=data))


def _confine(kind: str, address: str, declared: Sequence[str]) -> None:
    if not any(address.startswith(prefix) for prefix in declared):
        raise invalid(Rule.FORM, f"address {address} is not a declared {kind}")
