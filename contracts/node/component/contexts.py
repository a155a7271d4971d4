"""What a transaction processor asks and does while it executes a transaction.

Statuses are the validator's: a request with a context that is not the
connection's finds nothing and changes nothing.

Source: Sawtooth 1.2 architecture guide, "Global State"; `state_context.proto`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

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

STATE_ANSWER_BYTES_MAX: Final = 17 << 20
"""Values in one answer, with their addresses; the largest value fits, and small ones do."""


def get(context: TransactionContext | None, request: TpStateGetRequest) -> TpStateGetResponse:
    """Return the values at addresses, each once; an entry without data where nothing is.

    Whoever asks for more than one answer holds is refused, and so is the transaction.
    """
    if context is None:
        return TpStateGetResponse(status=TpStateGetResponse.OK)
    try:
        entries = list(_entries(context, dict.fromkeys(request.addresses)))
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


def _entries(context: TransactionContext, places: Iterable[str]) -> Iterator[TpStateEntry]:
    size = 0
    for place in places:
        value = context.get(place) or b""
        size += len(place) + len(value)
        if size > STATE_ANSWER_BYTES_MAX:
            context.refuse(f"asked for more than {STATE_ANSWER_BYTES_MAX} bytes of state at once")
        yield TpStateEntry(address=place, data=value)
