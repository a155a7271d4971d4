"""Executes the transactions of a batch, confined to the addresses that they declare.

Source: Sawtooth 1.2 architecture guide, "Transaction Scheduling" and "Events
and Transaction Receipts"; messages as in the sawtooth-sdk.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NoReturn

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.execution.families import Families, handler_of
from contracts.ledger.execution.obeyed import CHECKED_WHEN_SET, check_new_settings
from contracts.ledger.execution.reserved import check_event
from contracts.ledger.execution.verify import VerifiedBatch
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
_KNOWN_MAX: Final = 64
NAMESPACE: Final = re.compile(r"(?:[0-9a-f]{2}){0,35}")
STATE_VALUE_BYTES_MAX: Final = 16 << 20
EFFECT_BYTES_MAX: Final = 32 << 20
"""Writes, events and receipt data of one batch, together. A rule may turn a small payload into
large effects; this bounds memory and keeps every block readable."""
_CHANGE_BYTES: Final = 80
"""Bytes of a state change in a receipt besides its value: the address and the encoding."""
_FRAME_BYTES: Final = 6
"""Bytes of the encoding around an event or other data in a receipt."""
MESSAGE_CHARS_MAX: Final = 1024
READS_REMEMBERED: Final = 4_096
READ_BYTES_REMEMBERED: Final = 4 << 10
"""Values that one block remembers: 16 MiB at most."""

Changes = dict[str, bytes | None]
"""New values by address; None means deleted."""
Read = Callable[[str], bytes | None]
"""Returns the value at an address."""


@dataclass(frozen=True, slots=True)
class InvalidTransaction:
    """Why a batch is invalid.

    Attributes:
        transaction_id: The refused transaction.
        message: The reason, at most `MESSAGE_CHARS_MAX` characters.
        extended_data: Data that a transaction processor adds for the submitter.
    """

    transaction_id: str
    message: str
    extended_data: bytes = b""


@dataclass(frozen=True, slots=True)
class _Declared:
    """The inputs or outputs of transactions: addresses, and prefixes of addresses.

    Attributes:
        namespaces: As declared.
        known: Addresses within them, at most `_KNOWN_MAX`: all readings of a trip read and write
            the same.
    """

    namespaces: tuple[str, ...]
    known: set[str] = field(default_factory=set)

    def check(self, verb: str, address: str) -> None:
        """Check that an address is declared.

        Raises:
            InvalidTransactionError: It is not, or it is not an address.
        """
        if address in self.known:
            return
        if not address.startswith(self.namespaces) or ADDRESS.fullmatch(address) is None:
            raise InvalidTransactionError(f"Tried to {verb} unauthorized address: ['{address}']")
        if len(self.known) < _KNOWN_MAX:
            self.known.add(address)


class TransactionContext:
    """State as one transaction sees it; implements `contracts.rules.context.Context`.

    Args:
        header: Declares inputs and outputs.
        read: Returns the value at an address before this transaction.
        room: How large its effects may be, bytes.

    Attributes:
        changes: Its writes.
        size: Upper bound of its effects in the block's record, bytes. A value written twice
            counts twice, which bounds time too.
        refusal: Why the transaction is invalid, whatever its processor answers; None if not.
    """

    def __init__(self, header: TransactionHeader, read: Read, room: int = EFFECT_BYTES_MAX) -> None:
        self._family_name = header.family_name
        self._inputs = _declared("inputs", tuple(header.inputs))
        self._outputs = _declared("outputs", tuple(header.outputs))
        self.changes: Changes = {}
        self.size = 0
        self._room = room
        self.refusal: str | None = None
        self._below = read
        self._events: list[Event] = []
        self._data: list[bytes] = []

    def get(self, address: str) -> bytes | None:
        """See `Context.get`."""
        if address not in self._inputs.known:
            self._inputs.check("get", address)
        changes = self.changes
        return changes[address] if address in changes else self._below(address)

    def set(self, address: str, value: bytes) -> None:
        """See `Context.set`."""
        self._outputs.check("set", address)
        if len(value) > STATE_VALUE_BYTES_MAX:
            raise InvalidTransactionError(
                f"value of {len(value)} bytes, at most {STATE_VALUE_BYTES_MAX} allowed"
            )
        self._spend(_CHANGE_BYTES + len(value))
        self.changes[address] = value

    def delete(self, address: str) -> None:
        """See `Context.delete`."""
        self._outputs.check("delete", address)
        self._spend(_CHANGE_BYTES)
        self.changes[address] = None

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        """See `Context.add_event`."""
        pairs = [Event.Attribute(key=key, value=value) for key, value in attributes.items()]
        self.keep_event(Event(event_type=event_type, attributes=pairs, data=data))

    def keep_event(self, event: Event) -> None:
        """Add an event.

        Raises:
            InvalidTransactionError: There is no room for it, or its type is another family's.
        """
        try:
            check_event(self._family_name, event.event_type)
        except InvalidTransactionError as error:
            self.refuse(str(error))
        self._spend(_FRAME_BYTES + event.ByteSize())
        self._events.append(event)

    def add_receipt_data(self, data: bytes) -> None:
        """Add data of the family's own to the receipt.

        Raises:
            InvalidTransactionError: There is no room for them.
        """
        self._spend(_FRAME_BYTES + len(data))
        self._data.append(data)

    def refuse(self, why: str) -> NoReturn:
        """Make the transaction invalid, whatever its processor answers.

        Raises:
            InvalidTransactionError: Always.
        """
        self.refusal = why
        raise InvalidTransactionError(why)

    def receipt(self, transaction_id: str) -> TransactionReceipt:
        """Return the transaction's receipt: values set come before values deleted.

        Addresses that are declared as inputs come in that order, others in order of writing.
        """
        receipt = TransactionReceipt(
            transaction_id=transaction_id, events=self._events, data=self._data
        )
        inputs = [address for address in self._inputs.namespaces if address in self.changes]
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


@dataclass(slots=True)
class Execution:
    """The effects of a batch: of the transactions executed so far, in the end of all.

    Attributes:
        changes: Their effect on the state.
        receipts: One for each of them, in order.
        size: Upper bound of the receipts, bytes.
    """

    changes: Changes = field(default_factory=dict)
    receipts: list[TransactionReceipt] = field(default_factory=list)
    size: int = 0

    @property
    def room(self) -> int:
        """Return how large the effects of the next transaction may be, bytes."""
        return EFFECT_BYTES_MAX - self.size

    def add(self, transaction_id: str, context: TransactionContext) -> None:
        """Add the effects of the next transaction."""
        self.changes.update(context.changes)
        self.receipts.append(context.receipt(transaction_id))
        self.size += context.size


def reader(below: Read, *layers: Changes) -> Read:
    """Return a function that reads `layers`, the newest first, then `below`."""
    for layer in reversed(layers):
        below = _over(below, layer)
    return below


def remembering(below: Read) -> Read:
    """Return a function that reads each address once, for as long as nothing is written below.

    Successive readings of a truck need the same few entries. At most `READS_REMEMBERED` values are
    kept, none of more than `READ_BYTES_REMEMBERED`.
    """
    known: Changes = {}

    def read(address: str) -> bytes | None:
        if address in known:
            return known[address]
        value = below(address)
        if len(known) < READS_REMEMBERED and len(value or b"") <= READ_BYTES_REMEMBERED:
            known[address] = value
        return value

    return read


def _over(below: Read, layer: Changes) -> Read:
    """Return a function that reads `layer`, then `below`."""

    def read(address: str) -> bytes | None:
        return layer[address] if address in layer else below(address)

    return read


def execute(batch: VerifiedBatch, families: Families, read: Read) -> Execution | InvalidTransaction:
    """Apply all transactions of `batch` in order, or none.

    Args:
        batch: Its dependencies are committed.
        families: The rules of each family.
        read: Returns the value at an address before this batch.
    """
    execution = Execution()
    read_below = reader(read, execution.changes)
    for transaction, header in zip(batch.batch.transactions, batch.headers, strict=True):
        result = execute_transaction(transaction, header, families, read_below, execution.room)
        if isinstance(result, InvalidTransaction):
            return result
        execution.add(transaction.header_signature, result)
    return refused_settings(execution, read) or execution


def refused_settings(execution: Execution, read: Read) -> InvalidTransaction | None:
    """Return why the node cannot honour settings that a batch changed; None if it can.

    Args:
        execution: The effects of all its transactions.
        read: Returns the value at an address before the batch.
    """
    if execution.changes.keys().isdisjoint(CHECKED_WHEN_SET):
        return None
    try:
        check_new_settings(read, reader(read, execution.changes))
    except RejectedError as error:
        changed = [
            receipt.transaction_id
            for receipt in execution.receipts
            if any(change.address in CHECKED_WHEN_SET for change in receipt.state_changes)
        ]
        return InvalidTransaction(changed[-1], str(error)[:MESSAGE_CHARS_MAX])
    return None


def execute_transaction(
    transaction: Transaction, header: TransactionHeader, families: Families, read: Read, room: int
) -> TransactionContext | InvalidTransaction:
    """Apply one transaction; return the context with its effects, or why it is invalid."""
    name = transaction.header_signature
    try:
        context = TransactionContext(header, read, room)
        handler_of(families, header)(header, transaction.payload, name, context)
    except InvalidTransactionError as error:
        return InvalidTransaction(name, str(error)[:MESSAGE_CHARS_MAX])
    except UnavailableError:  # the state cannot be read, which says nothing about the transaction
        raise
    except Exception:  # noqa: BLE001 - a rule that fails must not stop the ledger
        _LOG.exception("family %s failed on %s", header.family_name, name)
        return InvalidTransaction(name, f"internal error of family {header.family_name[:80]!r}")
    return context


@lru_cache(maxsize=128)  # all readings of a trip declare the same
def _declared(where: str, namespaces: tuple[str, ...]) -> _Declared:
    for namespace in namespaces:
        if NAMESPACE.fullmatch(namespace) is None:
            raise InvalidTransactionError(
                f"Address or namespace {namespace[:80]} listed in {where} is not valid"
            )
    return _Declared(namespaces)
