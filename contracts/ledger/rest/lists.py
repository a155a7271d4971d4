"""Committed blocks, batches, transactions and state over HTTP.

These functions read from disk and make large answers, so they run in worker threads.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Generic, Protocol, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from contracts.encoding import canonical
from contracts.ledger.engine.blocks import ChainPosition, StoredBlock
from contracts.ledger.engine.ports import BlockReader, Sealer
from contracts.ledger.execution.executor import ADDRESS, NAMESPACE
from contracts.ledger.pages import MEDIA_TYPE, encode_page
from contracts.ledger.rest import errors
from contracts.ledger.rest.envelope import (
    Page,
    Paging,
    check_id,
    cut,
    filter_ids,
    head_id,
    is_reverse,
    one_response,
    page_response,
    queries,
    whole,
)
from contracts.ledger.rest.views import (
    Json,
    batch_view,
    block_view,
    entry_view,
    node_view,
    transaction_view,
    value_view,
)
from contracts.ledger.state.reader import StateReader
from contracts.proto.sawtooth_pb2 import Batch, Transaction

_BLOCK_KEY: Final = "block_num"
_DEFAULT_KEY: Final = "default"
_BLOCK_NUM_MAX: Final = (1 << 64) - 1


class Resource(Protocol):
    """The common part of batches and transactions."""

    header_signature: str

    def ByteSize(self) -> int:  # noqa: N802 - protobuf's name
        """Return the serialised size, bytes."""
        ...


Item = TypeVar("Item", bound=Resource)
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """How to list one kind of resource.

    Attributes:
        in_block: Returns the resources in a block, in order.
        find: Returns where the resource with an id is committed.
        position: Returns the index of a resource among those in its block.
        view: Returns a resource as JSON.
        missing: The error for an unknown id.
    """

    in_block: Callable[[StoredBlock], Sequence[Item]]
    find: Callable[[str], ChainPosition | None]
    position: Callable[[StoredBlock, ChainPosition], int]
    view: Callable[[Item], Json]
    missing: errors.Kind


class Lists:
    """Answers from the chain.

    Args:
        blocks: The chain.
        sealer: Tells what a network's validators signed; None where one signer makes the blocks.
    """

    def __init__(self, blocks: BlockReader, sealer: Sealer | None = None) -> None:
        self._blocks = blocks
        self._sealer = sealer
        self._batches = _listed_batches(blocks)
        self._transactions = _listed_transactions(blocks)

    def blocks(self, request: Request) -> Response:
        """`GET /blocks`. Clients that accept protobuf get blocks with their receipts."""
        paging, name, names = Paging.of(request), head_id(request), filter_ids(request)
        head = self._head(name)
        if MEDIA_TYPE in request.headers.get("accept", ""):
            stored = self._block_page(request, paging, head, names, _as_stored)
            return Response(encode_page(stored.items, stored.next), media_type=MEDIA_TYPE)
        page = self._block_page(request, paging, head, names, _as_shown)
        return page_response(request, head.id, paging, page)

    def block(self, request: Request) -> Response:
        """`GET /blocks/{id}`."""
        stored = self._blocks.by_id(check_id(request.path_params["id"]))
        if stored is None:
            raise errors.BLOCK_NOT_FOUND.error()
        return one_response(request, block_view(stored.block))

    def seals(self, request: Request) -> Response:
        """`GET /blocks/{id}/seals`: validators' signatures; an empty list if not signed yet."""
        stored = self._blocks.by_id(check_id(request.path_params["id"]))
        if stored is None:
            raise errors.BLOCK_NOT_FOUND.error()
        if self._sealer is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "one signer makes the blocks of this ledger")
        seals = self._sealer.seals(stored.num)
        return one_response(request, [b64encode(canonical(seal)).decode() for seal in seals])

    def batches(self, request: Request) -> Response:
        """`GET /batches`."""
        return self._list(request, self._batches)

    def batch(self, request: Request) -> Response:
        """`GET /batches/{id}`. Clients that accept protobuf get the batch as it was signed."""
        if MEDIA_TYPE in request.headers.get("accept", ""):
            found = self._found(request, self._batches)
            return Response(found.SerializeToString(), media_type=MEDIA_TYPE)
        return self._one(request, self._batches)

    def transactions(self, request: Request) -> Response:
        """`GET /transactions`."""
        return self._list(request, self._transactions)

    def transaction(self, request: Request) -> Response:
        """`GET /transactions/{id}`."""
        return self._one(request, self._transactions)

    def state(self, request: Request) -> Response:
        """`GET /state`."""
        paging = Paging.of(request)
        head = self._state_head(request)
        prefix = queries(request).get("address", "")
        if NAMESPACE.fullmatch(prefix) is None:
            raise errors.BAD_ADDRESS.error()
        reverse = is_reverse(request, _DEFAULT_KEY)
        page = _state_page(self._blocks.state_after(head.num), prefix, paging, reverse=reverse)
        return page_response(request, head.id, paging, page)

    def value(self, request: Request) -> Response:
        """`GET /state/{address}`."""
        address = request.path_params["address"]
        head = self._state_head(request)
        if NAMESPACE.fullmatch(address) is None:
            raise errors.BAD_ADDRESS.error()
        if ADDRESS.fullmatch(address) is None:
            raise errors.STATE_NOT_FOUND.error()
        value = self._blocks.state_after(head.num).get(address)
        if value is None:
            raise errors.STATE_NOT_FOUND.error()
        return one_response(request, value_view(value), head.id)

    def nodes(self, request: Request) -> Response:
        """`GET /state/{address}/nodes`: of an address or a beginning of addresses."""
        target = request.path_params["address"]
        head = self._state_head(request)
        if NAMESPACE.fullmatch(target) is None:
            raise errors.BAD_ADDRESS.error()
        way = self._blocks.state_after(head.num).way(target)
        return one_response(request, [node_view(node) for node in way], head.id)

    def _head(self, name: str | None) -> StoredBlock:
        head = self._blocks.head if name is None else self._blocks.by_id(name)
        if head is None:
            raise errors.HEAD_NOT_FOUND.error()
        return head

    def _state_head(self, request: Request) -> StoredBlock:
        """Return the block whose state is requested; Sawtooth has other errors here."""
        name = queries(request).get("head")
        head = self._blocks.by_id(check_id(name)) if name else self._blocks.head
        if head is None:
            raise errors.BLOCK_NOT_FOUND.error()
        return head

    def _block_page(
        self,
        request: Request,
        paging: Paging,
        head: StoredBlock,
        names: Sequence[str] | None,
        show: Callable[[StoredBlock], tuple[int, Shown]],
    ) -> Page[Shown]:
        if names:  # in the requested order, whatever `reverse` says
            found = (self._blocks.by_id(name) for name in names)
            chosen = (block for block in found if block is not None and block.num <= head.num)
            return Page(whole(map(show, chosen)), "", 0, None)
        reverse = is_reverse(request, _BLOCK_KEY)
        first = 0 if reverse else head.num
        if paging.start:
            first = _block_num(paging.start)
        newest = self._head(None).num
        if first > (head.num if reverse else newest):
            raise errors.TIMED_OUT.error()
        numbers = range(first, head.num + 1) if reverse else range(first, -1, -1)
        walked = ((f"{block.num:#018x}", *show(block)) for block in self._stored(numbers))
        return cut(walked, paging.count)

    def _list(self, request: Request, listed: Listed[Item]) -> Response:
        paging, name, names = Paging.of(request), head_id(request), filter_ids(request)
        head = self._head(name)
        reverse = is_reverse(request, _DEFAULT_KEY)
        if names:
            chosen = self._by_ids(listed, names, head.num, paging.start, reverse=reverse)
        else:
            chosen = self._walk(listed, head.num, paging.start, reverse=reverse)
        # Converted one by one, so that only the shown parts of a block are kept, not all of it.
        shown = ((item.header_signature, item.ByteSize(), listed.view(item)) for item in chosen)
        return page_response(request, head.id, paging, cut(shown, paging.count))

    def _one(self, request: Request, listed: Listed[Item]) -> Response:
        return one_response(request, listed.view(self._found(request, listed)))

    def _found(self, request: Request, listed: Listed[Item]) -> Item:
        place = listed.find(check_id(request.path_params["id"]))
        if place is None:
            raise listed.missing.error()
        return self._at(listed, place)

    def _by_ids(
        self,
        listed: Listed[Item],
        names: Sequence[str],
        newest: int,
        start: str | None,
        *,
        reverse: bool,
    ) -> Iterator[Item]:
        """Yield the resources with these ids in blocks up to `newest`, from `start` on."""
        found = [(name, place) for name in names if (place := listed.find(name)) is not None]
        places = [(name, place) for name, place in found if place.block_num <= newest]
        if reverse:
            places.reverse()
        first = 0
        if start and places:
            numbers = [number for number, (name, _) in enumerate(places) if name == start]
            if not numbers:
                raise errors.BAD_PAGING.error()
            first = numbers[0]
        for _, place in places[first:]:
            yield self._at(listed, place)

    def _at(self, listed: Listed[Item], place: ChainPosition) -> Item:
        (stored,) = self._stored(range(place.block_num, place.block_num + 1))
        return listed.in_block(stored)[listed.position(stored, place)]

    def _walk(
        self, listed: Listed[Item], newest: int, start: str | None, *, reverse: bool
    ) -> Iterator[Item]:
        """Yield all resources in blocks up to `newest`: newest block first, ordered within it.

        `reverse` turns the whole list round, within blocks too.
        """
        place = listed.find(start) if start else None
        if start and (place is None or place.block_num > newest):
            raise errors.BAD_PAGING.error()
        first = place.block_num if place else (0 if reverse else newest)
        numbers = range(first, newest + 1) if reverse else range(first, -1, -1)
        for stored in self._stored(numbers):
            items = listed.in_block(stored)
            position = listed.position(stored, place) if place else 0
            if reverse:
                items = items[: position + 1][::-1] if place else items[::-1]
                position = 0
            yield from items[position:]
            place = None

    def _stored(self, numbers: range) -> Iterator[StoredBlock]:
        for number in numbers:
            stored = self._blocks.by_num(number)
            if stored is None:
                return
            yield stored


def _state_page(state: StateReader, prefix: str, paging: Paging, *, reverse: bool) -> Page[Json]:
    start = paging.start or ""
    if start and next(state.leaves(prefix), None) is not None:
        known = ADDRESS.fullmatch(start) is not None and start.startswith(prefix)
        if not known or state.get(start) is None:
            raise errors.BAD_PAGING.error()
    else:
        start = ""
    leaves = state.leaves(prefix, start, reverse=reverse)
    shown = ((address, len(value), entry_view(address, value)) for address, value in leaves)
    return cut(shown, paging.count)


def _as_shown(stored: StoredBlock) -> tuple[int, Json]:
    return stored.block.ByteSize(), block_view(stored.block)


def _as_stored(stored: StoredBlock) -> tuple[int, tuple[bytes, Sequence[bytes]]]:
    wire = stored.block.SerializeToString()
    return len(wire) + sum(map(len, stored.receipt_bytes)), (wire, stored.receipt_bytes)


def _listed_batches(blocks: BlockReader) -> Listed[Batch]:
    return Listed(
        in_block=lambda stored: stored.block.batches,
        find=blocks.find_batch,
        position=lambda _, place: place.batch,
        view=batch_view,
        missing=errors.BATCH_NOT_FOUND,
    )


def _listed_transactions(blocks: BlockReader) -> Listed[Transaction]:
    return Listed(
        in_block=lambda stored: stored.transactions,
        find=blocks.find_transaction,
        position=lambda stored, place: stored.number_of(place),
        view=transaction_view,
        missing=errors.TRANSACTION_NOT_FOUND,
    )


def _block_num(text: str) -> int:
    """Parse the `start` of a list of blocks: a hexadecimal number with 0x."""
    try:
        number = int(text, 16) if text.startswith("0x") else -1
    except ValueError as error:
        raise errors.BAD_PAGING.error() from error
    if not 0 <= number <= _BLOCK_NUM_MAX:
        raise errors.BAD_PAGING.error()
    return number
