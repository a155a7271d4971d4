"""Answers to a transaction processor about the state of the transaction that it executes.

Statuses are the validator's. A request that names the context of another
connection, or no context, finds nothing and changes nothing.

Source: Sawtooth 1.2 architecture guide, "Global State"; `state_context.proto`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from contracts.ledger.execution.executor import TransactionContext
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
"""Values in one answer, with their addresses; the largest value fits."""


def get(context: TransactionContext | None, request: TpStateGetRequest) -> TpStateGetResponse:
    """Return the values at addresses, each once; an entry without data means no value.

    A request for more than fits one answer is refused, and makes the transaction invalid.
    """
    entries: list[TpStateEntry] = []
    if context is not None and not _takes(
        lambda: entries.extend(_entries(context, dict.fromkeys(request.addresses)))
    ):
        return TpStateGetResponse(status=TpStateGetResponse.AUTHORIZATION_ERROR)
    return TpStateGetResponse(entries=entries, status=TpStateGetResponse.OK)


def put(context: TransactionContext | None, request: TpStateSetRequest) -> TpStateSetResponse:
    """Set values; return their addresses."""
    if context is None:
        return TpStateSetResponse(status=TpStateSetResponse.OK)
    places = [entry.address for entry in request.entries]
    if not all(_takes(partial(context.set, each.address, each.data)) for each in request.entries):
        return TpStateSetResponse(status=TpStateSetResponse.AUTHORIZATION_ERROR)
    return TpStateSetResponse(addresses=places, status=TpStateSetResponse.OK)


def delete(
    context: TransactionContext | None, request: TpStateDeleteRequest
) -> TpStateDeleteResponse:
    """Delete values; return all requested addresses."""
    if context is not None and not all(
        _takes(partial(context.delete, place)) for place in request.addresses
    ):
        return TpStateDeleteResponse(status=TpStateDeleteResponse.AUTHORIZATION_ERROR)
    return TpStateDeleteResponse(addresses=request.addresses, status=TpStateDeleteResponse.OK)


def add_event(context: TransactionContext | None, request: TpEventAddRequest) -> TpEventAddResponse:
    """Add an event to the receipt."""
    added = context is not None and _takes(partial(context.keep_event, request.event))
    return TpEventAddResponse(status=TpEventAddResponse.OK if added else TpEventAddResponse.ERROR)


def add_data(
    context: TransactionContext | None, request: TpReceiptAddDataRequest
) -> TpReceiptAddDataResponse:
    """Add bytes of the family's own to the receipt."""
    added = context is not None and _takes(partial(context.add_receipt_data, request.data))
    status = TpReceiptAddDataResponse.OK if added else TpReceiptAddDataResponse.ERROR
    return TpReceiptAddDataResponse(status=status)


def _takes(act: Callable[[], None]) -> bool:
    """Call `act`; return False if the context refuses."""
    try:
        act()
    except InvalidTransactionError:
        return False
    return True


def _entries(context: TransactionContext, places: Iterable[str]) -> Iterator[TpStateEntry]:
    size = 0
    for place in places:
        value = context.get(place) or b""
        size += len(place) + len(value)
        if size > STATE_ANSWER_BYTES_MAX:
            context.refuse(f"asked for more than {STATE_ANSWER_BYTES_MAX} bytes of state at once")
        yield TpStateEntry(address=place, data=value)
