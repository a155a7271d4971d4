"""The ledger client, for any ledger with Sawtooth's REST API.

Source: Sawtooth 1.2 REST API reference.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import httpx
from google.protobuf.message import DecodeError

from contracts import address
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.answers import TOO_MANY, Answer, TooLongError, join
from contracts.ledger.fromjson import (
    BatchStatus,
    batch_from_json,
    blocks_from_json,
    bytes_from_json,
    node_from_json,
    receipt_from_json,
    status_from_json,
)
from contracts.ledger.pages import MEDIA_TYPE, Committed, decode_page
from contracts.ledger.place import LedgerPlace
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.proto.sawtooth_pb2 import (
    Batch,
    Block,
    Setting,
    TransactionReceipt,
)
from contracts.sawtooth.batches import listed
from contracts.sawtooth.nodes import StateTreeNode

BLOCKS_PER_PAGE: Final = 20
STATUSES_PER_REQUEST: Final = 500
RECEIPTS_PER_REQUEST: Final = 500
ENTRIES_PER_PAGE: Final = 1000
BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits, seconds, between tries while the ledger answers HTTP 429."""

_ACCEPT_PROTOBUF: Final = {"Accept": f"{MEDIA_TYPE}, application/json"}
"""A ledger that knows only JSON answers with it."""
_Found = TypeVar("_Found")


class BusyError(UnavailableError):
    """The ledger turned batches away at every try: its queue is full."""


class UnreachableError(UnavailableError):
    """The ledger cannot be reached, whatever it is asked."""


class LedgerClient:
    """Talks to one ledger; may be used by several threads."""

    def __init__(
        self,
        at: str | LedgerPlace,
        *,
        timeout_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare the client for the ledger at a URL or place; no request is sent yet.

        Raises:
            RejectedError: The URL is not one of HTTP, or a file of its TLS is invalid.
        """
        place = at if isinstance(at, LedgerPlace) else LedgerPlace(at)
        try:
            self._http = httpx.Client(
                base_url=place.url, timeout=timeout_s, trust_env=False, verify=place.trust()
            )
        except httpx.InvalidURL as error:
            raise RejectedError(f"ledger URL expected, got {place.url[:200]!r}: {error}") from error
        self._timeout_s = timeout_s
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submit(self, batches: Sequence[Batch]) -> None:
        """Submit batches; see `submit_wires`."""
        self.submit_wires([canonical(batch) for batch in batches])

    def submit_wires(self, batches: Iterable[bytes]) -> None:
        """Submit serialised batches, all in one list; safe to repeat.

        Raises:
            RejectedError: The ledger refuses them for good.
            BusyError: Its queue was full at every try.
            UnavailableError: The ledger did not answer.
        """
        wire = listed(batches)
        for wait_s in (*BACK_OFF_S, None):
            answer = self._send(
                "POST",
                "/batches",
                content=wire,
                headers={"Content-Type": "application/octet-stream"},
            )
            if answer.status != TOO_MANY:
                _expect(answer, "link")
                return
            if wait_s is not None:
                self._sleep(wait_s)
        raise BusyError("ledger is too busy: HTTP 429 after several tries")

    def statuses(self, batch_ids: Sequence[str], *, wait_s: int = 0) -> dict[str, BatchStatus]:
        """Return the status of each batch; wait up to `wait_s` seconds until none is pending."""
        found: dict[str, BatchStatus] = {}
        query = {"wait": str(wait_s)} if wait_s else {}
        for at in range(0, len(batch_ids), STATUSES_PER_REQUEST):
            ids = list(batch_ids[at : at + STATUSES_PER_REQUEST])
            patience_s = self._timeout_s + wait_s
            answer = self._send(
                "POST", "/batch_statuses", json=ids, params=query, timeout=patience_s
            )
            with answer.read() as document:
                statuses = {entry["id"]: status_from_json(entry) for entry in document["data"]}
                found |= {batch_id: statuses[batch_id] for batch_id in ids}
        return found

    def head_id(self) -> str:
        """Return the id of the newest block.

        It is read from `/state`, whose answer is short; `/blocks` would send the whole block.
        """
        with self._send("GET", "/state", params={"limit": "1"}).read() as document:
            head = document["head"]
            if not isinstance(head, str):
                raise TypeError(head)
            return head

    def blocks(self, first: int) -> Iterator[Block]:
        """Yield the blocks from number `first` on, oldest first, until the head.

        Raises:
            UnavailableError: The ledger did not answer. Sawtooth also fails beyond its head.
        """
        return _follow(first, self._page)

    def committed(self, first: int) -> Iterator[Committed]:
        """Yield the blocks from number `first` on with their receipts, as `blocks` does."""
        return _follow(first, self._committed_page)

    def head_num(self) -> int:
        """Return the number of the newest block."""
        with self._send("GET", "/blocks", params={"limit": "1"}).read() as document:
            return int(document["data"][0]["header"]["block_num"])

    def genesis(self) -> Block:
        """Return the first block."""
        blocks, _ = self._page(f"0x{0:016x}", 1)
        if not blocks:
            raise UnavailableError("ledger answered without a genesis block")
        return blocks[0]

    def batch(self, batch_id: str) -> Batch | None:
        """Return a committed batch, or None."""
        path = f"/batches/{batch_id}"
        answer = self._send("GET", path, headers=_ACCEPT_PROTOBUF)
        if answer.kind == MEDIA_TYPE:
            return answer.decode(partial(parse, Batch))
        return _one(answer, batch_from_json)

    def has_transaction(self, transaction_id: str) -> bool:
        """Say whether a transaction is committed."""
        path = f"/transactions/{transaction_id}"
        return bool(self._one(path, lambda found: found["header_signature"] == transaction_id))

    def receipts(self, transaction_ids: Sequence[str]) -> dict[str, TransactionReceipt]:
        """Return the receipts of committed transactions.

        Raises:
            RejectedError: One of them is not committed.
        """
        found: dict[str, TransactionReceipt] = {}
        for at in range(0, len(transaction_ids), RECEIPTS_PER_REQUEST):
            ids = list(transaction_ids[at : at + RECEIPTS_PER_REQUEST])
            found |= self._receipts(ids)
        return found

    def state(self, place: str) -> bytes | None:
        """Return the value at a state address, or None."""
        return self._one(f"/state/{place}", bytes_from_json)

    def entries(self, head_id: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Yield the addresses under a prefix and their values after a block, in order.

        Raises:
            RejectedError: The state after that block is no longer kept.
        """
        query = {"head": head_id, "address": prefix, "limit": str(ENTRIES_PER_PAGE)}
        following: str | None = ""
        while following is not None:
            start = {"start": following} if following else {}
            with self._send("GET", "/state", params=query | start).read() as document:
                found = [
                    (entry["address"], bytes_from_json(entry["data"])) for entry in document["data"]
                ]
                following = document["paging"].get("next_position")
                if not (following is None or (found and isinstance(following, str))):
                    raise ValueError(following)
            yield from found

    def state_nodes(self, head_id: str, target: str) -> list[StateTreeNode] | None:
        """Return the nodes of the tree after a block that prove what is at an address.

        Returns None if the ledger does not give nodes: Sawtooth's own REST API does not.

        Args:
            head_id: Id of the block.
            target: An address, or the beginning of addresses.

        Raises:
            RejectedError: The state after that block is no longer kept.
        """
        answer = self._send("GET", f"/state/{target}/nodes", params={"head": head_id})
        if answer.absent:
            return None
        with answer.read() as document:
            return [node_from_json(entry) for entry in document["data"]]

    def seals(self, block_id: str) -> list[SealedHeader] | None:
        """Return what validators signed about a block, as `Sealer.seals` gives it.

        Returns None if the ledger tells nothing of that: one signer makes its blocks, or it is
        Sawtooth.
        """
        answer = self._send("GET", f"/blocks/{block_id}/seals")
        if answer.absent:
            return None
        with answer.read() as document:
            return [SealedHeader.FromString(bytes_from_json(text)) for text in document["data"]]

    def value_after(self, head_id: str, place: str) -> bytes | None:
        """Return the value at a state address after a block, or None."""
        return self._one(f"/state/{place}?head={head_id}", bytes_from_json)

    def setting(self, name: str) -> str:
        """Return the value of an on-chain setting; empty when it is not set."""
        entry = self.state(address.setting(name))
        try:
            entries = Setting.FromString(entry or b"").entries
        except DecodeError as error:
            raise UnavailableError(
                f"setting {name} on the ledger is malformed: {entry!r:.200}"
            ) from error
        return next((pair.value for pair in entries if pair.key == name), "")

    def _one(self, path: str, read: Callable[[Any], _Found]) -> _Found | None:
        """Return one resource as `read` makes it of the data; None if there is no such resource."""
        return _one(self._send("GET", path), read)

    def _page(self, start: str, limit: int) -> tuple[list[Block], str | None]:
        """Return some blocks, and where the next page starts."""
        with self._send("GET", "/blocks", params=_paging(start, limit)).read() as document:
            return blocks_from_json(document)

    def _committed_page(self, start: str, limit: int) -> tuple[list[Committed], str | None]:
        """Return some blocks with receipts; ask a ledger with only JSON for these separately."""
        query = _paging(start, limit)
        answer = self._send("GET", "/blocks", params=query, headers=_ACCEPT_PROTOBUF)
        if answer.kind == MEDIA_TYPE:
            return answer.decode(decode_page)
        with answer.read() as document:
            blocks, following = blocks_from_json(document)
        return [Committed(block, self._receipts_of(block)) for block in blocks], following

    def _receipts(self, ids: list[str]) -> dict[str, TransactionReceipt]:
        """Return the receipts of some transactions; ask for each half if they are too long."""
        try:
            with self._send("POST", "/receipts", json=ids).read() as document:
                receipts = {entry["id"]: receipt_from_json(entry) for entry in document["data"]}
                return {transaction_id: receipts[transaction_id] for transaction_id in ids}
        except TooLongError as error:
            if len(ids) == 1:
                raise TooLongError(f"receipt of transaction {ids[0]}: {error}") from error
        half = len(ids) // 2
        return self._receipts(ids[:half]) | self._receipts(ids[half:])

    def _receipts_of(self, block: Block) -> list[TransactionReceipt]:
        names = [item.header_signature for batch in block.batches for item in batch.transactions]
        found = self.receipts(names)
        return [found[name] for name in names]

    def _send(self, method: str, path: str, **request: Any) -> Answer:  # noqa: ANN401
        try:
            with self._http.stream(method, path, **request) as answer:
                status = answer.status_code
                told = f"ledger answered {method} {answer.request.url.path} with HTTP {status}"
                kind = answer.headers.get("Content-Type", "")
                return Answer(told, status, join(told, answer.iter_bytes()), kind)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(
                f"ledger {self._http.base_url} did not answer {method} {path}: {error!r}"
            ) from error


def _one(answer: Answer, read: Callable[[Any], _Found]) -> _Found | None:
    """Return one resource as `read` makes it of the data; None if there is no such resource."""
    if answer.missing:
        return None
    with answer.read() as document:
        return read(document["data"])


def _follow(
    first: int, page: Callable[[str, int], tuple[list[_Found], str | None]]
) -> Iterator[_Found]:
    """Yield what the pages from block `first` on hold."""
    following: str | None = f"0x{first:016x}"
    while following:
        start = following
        try:
            found, following = page(start, BLOCKS_PER_PAGE)
        except TooLongError:  # Sawtooth puts as many blocks on a page as asked for, however large
            found, following = _alone(start, page)
        yield from found


def _alone(
    start: str, page: Callable[[str, int], tuple[list[_Found], str | None]]
) -> tuple[list[_Found], str | None]:
    """Return one block, and where the next page starts."""
    try:
        return page(start, 1)
    except TooLongError as error:
        raise TooLongError(f"block {start}, although requested alone: {error}") from error


def _paging(start: str, limit: int) -> dict[str, str]:
    # Sawtooth lists the newest first; `reverse`, without a value, the oldest.
    return {"start": start, "limit": str(limit), "reverse": ""}


def _expect(answer: Answer, member: str) -> None:
    with answer.read() as document:
        if member not in document:
            raise KeyError(member)
