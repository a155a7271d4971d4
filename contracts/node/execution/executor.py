"""Runs the transactions of a batch, confined to the addresses that they declare.

Source: Sawtooth 1.2 architecture guide, "Transaction Scheduling" and "Events
and Transaction Receipts"; messages are those of the sawtooth-sdk.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NoReturn

from contracts.node.execution.families import Families, handler_of
from contracts.node.verify import VerifiedBatch
from contracts.proto.sawtooth_pb2 import (
    Event,
    StateChange,
    Transaction,
    TransactionHeader,
    TransactionReceipt,
)
from contracts.rules.context import InvalidTransactionError

_LOG = logging.getLogger(__name__)

ADDRESS: Final = re.compile(r"[0-9a-f]{70}")
NAMESPACE: Final = re.compile(r"(?:[0-9a-f]{2}){0,35}")
STATE_VALUE_BYTES_MAX: Final = 16 << 20
EFFECT_BYTES_MAX: Final = 32 << 20
"""What one batch may write, announce and add to its receipts, together: rules that make much of
little must neither take memory without end nor make a block that nobody can read."""
_CHANGE_BYTES: Final = 80
"""What a change of state takes in a receipt beside its value: an address, and what frames it."""
_FRAME_BYTES: Final = 6
"""What frames an event or other data there."""
MESSAGE_CHARS_MAX: Final = 1024

Changes = dict[str, bytes | None]
"""New values by address; None means deleted."""
Read = Callable[[str], bytes | None]
"""Returns the value at an address."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a batch is invalid.

    Attributes:
        transaction_id: The transaction that was refused.
        message: What its family's rules say, at most `MESSAGE_CHARS_MAX` characters.
        extended_data: What a transaction processor adds for whoever submitted it.
    """

    transaction_id: str
    message: str
    extended_data: bytes = b""


class TransactionContext:
    """State as one transaction sees it; implements `contracts.rules.context.Context`.

    Args:
        header: Declares inputs and outputs.
        read: Returns the value at an address before this transaction.
        room: What its effects may take, bytes.

    Attributes:
        changes: What it wrote.
        size: What its effects take in the block's record, bytes, if not less: what is written
            twice counts twice, so that time is bounded too.
        refusal: Why the transaction is invalid whatever its processor says, if it is.
    """

    def __init__(self, header: TransactionHeader, read: Read, room: int = EFFECT_BYTES_MAX) -> None:
        self._inputs = _namespaces("inputs", tuple(header.inputs))
        self._outputs = _namespaces("outputs", tuple(header.outputs))
        self.changes: Changes = {}
        self.size = 0
        self._room = room
        self.refusal: str | None = None
        self._read = reader(read, self.changes)
        self._events: list[Event] = []
        self._data: list[bytes] = []

    def get(self, address: str) -> bytes | None:
        """See `Context.get`."""
        _check("get", address, self._inputs)
        return self._read(address)

    def set(self, address: str, value: bytes) -> None:
        """See `Context.set`."""
        _check("set", address, self._outputs)
        if len(value) > STATE_VALUE_BYTES_MAX:
            raise InvalidTransactionError(
                f"value of {len(value)} bytes, at most {STATE_VALUE_BYTES_MAX} allowed"
            )
        self._spend(_CHANGE_BYTES + len(value))
        self.changes[address] = value

    def delete(self, address: str) -> None:
        """See `Context.delete`."""
        _check("delete", address, self._outputs)
        self._spend(_CHANGE_BYTES)
        self.changes[address] = None

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        """See `Context.add_event`."""
        pairs = [Event.Attribute(key=key, value=value) for key, value in attributes.items()]
        self.keep_event(Event(event_type=event_type, attributes=pairs, data=data))

    def keep_event(self, event: Event) -> None:
        """Add an event as it is.

        Raises:
            InvalidTransactionError: There is no room for it.
        """
        self._spend(_FRAME_BYTES + event.ByteSize())
        self._events.append(event)

    def add_receipt_data(self, data: bytes) -> None:
        """Add bytes of the family's own to the receipt.

        Raises:
            InvalidTransactionError: There is no room for them.
        """
        self._spend(_FRAME_BYTES + len(data))
        self._data.append(data)

    def refuse(self, why: str) -> NoReturn:
        """Make the transaction invalid, whatever its processor says.

        Raises:
            InvalidTransactionError: Always.
        """
        self.refusal = why
        raise InvalidTransactionError(why)

    def receipt(self, transaction_id: str) -> TransactionReceipt:
        """Return what the transaction did; first what it set, then what it deleted.

        Addresses that are inputs come in their order, others as they were written.
        """
        receipt = TransactionReceipt(
            transaction_id=transaction_id, events=self._events, data=self._data
        )
        inputs = [address for address in self._inputs if address in self.changes]
        addresses = dict.fromkeys((*inputs, *self.changes))
        for address in addresses:
            value = self.changes[address]
            if value is not None:
                receipt.state_changes.add(address=address, value=value, type=StateChange.SET)
        for address in addresses:
            if self.changes[address] is None:
                receipt.state_changes.add(address=address, type=StateChange.DELETE)
        return receipt

    def _spend(self, size: int) -> None:
        self.size += size
        if self.size > self._room:
            self.refuse(f"effects of a batch beyond {EFFECT_BYTES_MAX} bytes")


@dataclass(frozen=True, slots=True)
class Execution:
    """A batch that is valid on top of what came before.

    Attributes:
        changes: What it makes of the state.
        receipts: One per transaction, in order.
        size: What they take, bytes, or less.
    """

    changes: Changes
    receipts: list[TransactionReceipt]
    size: int


def reader(below: Read, *layers: Changes) -> Read:
    """Return what reads through `layers`, the newest first, down to what is `below` them."""

    def read(address: str) -> bytes | None:
        for layer in layers:
            if address in layer:
                return layer[address]
        return below(address)

    return read


def execute(batch: VerifiedBatch, families: Families, read: Read) -> Execution | Verdict:
    """Apply all transactions of `batch` in order, or none.

    Args:
        batch: Its dependencies are committed.
        families: Who judges which transaction.
        read: Returns the value at an address before this batch.
    """
    changes: Changes = {}
    receipts: list[TransactionReceipt] = []
    size = 0
    read_below = reader(read, changes)
    for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
        result = execute_transaction(
            transaction, header, families, read_below, EFFECT_BYTES_MAX - size
        )
        if isinstance(result, Verdict):
            return result
        changes.update(result.changes)
        receipts.append(result.receipt(transaction.header_signature))
        size += result.size
    return Execution(changes, receipts, size)


def execute_transaction(
    transaction: Transaction, header: TransactionHeader, families: Families, read: Read, room: int
) -> TransactionContext | Verdict:
    """Apply one transaction; return the context that holds what it did, or why it is invalid."""
    name = transaction.header_signature
    try:
        context = TransactionContext(header, read, room)
        handler_of(families, header)(header, transaction.payload, name, context)
    except InvalidTransactionError as error:
        return Verdict(name, str(error)[:MESSAGE_CHARS_MAX])
    except Exception:  # noqa: BLE001 - a rule that fails must not stop the ledger for all
        _LOG.exception("family %s failed on %s", header.family_name, name)
        return Verdict(name, f"internal error of family {header.family_name[:80]!r}")
    return context


@lru_cache(maxsize=128)  # all readings of a trip declare the same
def _namespaces(where: str, declared: tuple[str, ...]) -> tuple[str, ...]:
    for namespace in declared:
        if NAMESPACE.fullmatch(namespace) is None:
            raise InvalidTransactionError(
                f"Address or namespace {namespace[:80]} listed in {where} is not valid"
            )
    return declared


def _check(verb: str, address: str, allowed: tuple[str, ...]) -> None:
    if not address.startswith(allowed) or ADDRESS.fullmatch(address) is None:
        raise InvalidTransactionError(f"Tried to {verb} unauthorized address: ['{address}']")
