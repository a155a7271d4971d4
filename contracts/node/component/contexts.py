"""What a transaction processor asks and does while it executes a transaction.

Statuses are the validator's: a request with a context that is not the
connection's finds nothing and changes nothing.

Source: Sawtooth 1.2 architecture guide, "Global State"; `state_context.proto`.
"""

from contracts.node.execution.executor import TransactionContext
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
from contracts.rules.context import InvalidTransactionError


def get(context: TransactionContext | None, request: TpStateGetRequest) -> TpStateGetResponse:
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


def put(context: TransactionContext | None, request: TpStateSetRequest) -> TpStateSetResponse:
    """Set values; return which."""
    if context is None:
        return TpStateSetResponse(status=TpStateSetResponse.OK)
    try:
        for entry in request.entries:
            context.set(entry.address, entry.data)
    except InvalidTransactionError:
        return TpStateSetResponse(status=TpStateSetResponse.AUTHORIZATION_ERROR)
    places = [entry.address for entry in request.entries]
    return TpStateSetResponse(addresses=places, status=TpStateSetResponse.OK)


def delete(
    context: TransactionContext | None, request: TpStateDeleteRequest
) -> TpStateDeleteResponse:
    """Remove values; return all the addresses that were named."""
    try:
        if context is not None:
            for place in request.addresses:
                context.delete(place)
    except InvalidTransactionError:
        return TpStateDeleteResponse(status=TpStateDeleteResponse.AUTHORIZATION_ERROR)
    return TpStateDeleteResponse(addresses=request.addresses, status=TpStateDeleteResponse.OK)


def add_event(context: TransactionContext | None, request: TpEventAddRequest) -> TpEventAddResponse:
    """Add an event to the receipt."""
    if context is None:
        return TpEventAddResponse(status=TpEventAddResponse.ERROR)
    try:
        context.keep_event(request.event)
    except InvalidTransactionError:
        return TpEventAddResponse(status=TpEventAddResponse.ERROR)
    return TpEventAddResponse(status=TpEventAddResponse.OK)


def add_data(
    context: TransactionContext | None, request: TpReceiptAddDataRequest
) -> TpReceiptAddDataResponse:
    """Add bytes of the family's own to the receipt."""
    if context is None:
        return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.ERROR)
    try:
        context.add_receipt_data(request.data)
    except InvalidTransactionError:
        return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.ERROR)
    return TpReceiptAddDataResponse(status=TpReceiptAddDataResponse.OK)
