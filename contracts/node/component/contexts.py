"""What a transaction processor asks and does while it executes a transaction.

Statuses are the validator's: a request with a context that is not the
connection's finds nothing and changes nothing.

Source: Sawtooth 1.2 architecture guide, "Global State"; `state_context.proto`.
"""

from typing import Final

from contracts.node.execution.executor import Read, TransactionContext
from contracts.proto.component_pb2 import (
    TpEventAddRequest,
    TpEventAddResponse,
    TpReceiptAddDataRequest,
    TpReceiptAddDataResponse,
    TpStateDeleteRequest,
    TpStateDeleteResponse,
    TpStateEntry,
    TpStateGetRequest,
    TpStateGetResponse,
    TpStateSetRequest,
    TpStateSetResponse,
)
from contracts.proto.sawtooth_pb2 import Event, TransactionHeader
from contracts.rules.context import InvalidTransactionError

EFFECT_BYTES_MAX: Final = 32 << 20
"""What one transaction may write, announce and add to its receipt, together."""


class RemoteContext(TransactionContext):
    """State as a transaction in another process sees it."""

    def __init__(self, header: TransactionHeader, read: Read) -> None:
        super().__init__(header, read)
        self._room = EFFECT_BYTES_MAX

    def spend(self, size: int) -> None:
        """Take room for so many bytes.

        Raises:
            InvalidTransactionError: There is none.
        """
        if size > self._room:
            raise InvalidTransactionError(f"effects of more than {EFFECT_BYTES_MAX} bytes")
        self._room -= size

    def keep_event(self, event: Event) -> None:
        """Add an event as it came."""
        self._events.append(event)


def get(context: RemoteContext | None, request: TpStateGetRequest) -> TpStateGetResponse:
    """Return the values at addresses; an entry without data where nothing is."""
    if context is None:
        return TpStateGetResponse(status=TpStateGetResponse.OK)
    try:
        entries = [
            TpStateEntry(address=place, data=context.get(place) or b"")
            for place in request.addresses
        ]
    except InvalidTransactionError:
        return TpStateGetResponse(status=TpStateGetResponse.AUTHORIZATION_ERROR)
    return TpStateGetResponse(entries=entries, status=TpStateGetResponse.OK)


def put(context: RemoteContext | None, request: TpStateSetRequest) -> TpStateSetResponse:
    """Set values; return which."""
    if context is None:
        return TpStateSetResponse(status=TpStateSetResponse.OK)
    try:
        for entry in request.entries:
            context.spend(len(entry.data))
            context.set(entry.address, entry.data)
    except InvalidTransactionError:
        return TpStateSetResponse(status=TpStateSetResponse.AUTHORIZATION_ERROR)
    places = [entry.address for entry in request.entries]
    return TpStateSetResponse(addresses=places, status=TpStateSetResponse.OK)


def delete(context: RemoteContext | None, request: TpStateDeleteRequest) -> TpStateDeleteResponse:
    """Remove values; return all the addresses that were named."""
    try:
        if context is not None:
            for place in request.addresses:
                context.delete(place)
    except InvalidTransactionError:
        return TpStateDeleteResponse(status=TpStateDeleteResponse.AUTHORIZATION_ERROR)
    return TpStateDeleteResponse(addresses=request.addresses, status=TpStateDeleteResponse.OK)


def add_event(context: RemoteContext | None, request: TpEventAddRequest) -> TpEventAddResponse:
    """Add an event to the receipt."""
    if context is None:
        return TpEventAddResponse(status=TpEventAddResponse.ERROR)
    try:
        context.spend(request.event.ByteSize())
    except InvalidTransactionError:
        return TpEventAddResponse(status=TpEventAddResponse.ERROR)
    context.keep_event(request.event)
    return TpEventAddResponse(status=TpEventAddResponse.OK)


def add_data(
    context: RemoteContext | None, request: TpReceiptAddDataRequest
) -> TpReceiptAddDataResponse:
    """Add bytes of the family's own to the receipt."""
    if context is None:
        return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.ERROR)
    try:
        context.spend(len(request.data))
    except InvalidTransactionError:
        return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.ERROR)
    context.add_receipt_data(request.data)
    return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.OK)
