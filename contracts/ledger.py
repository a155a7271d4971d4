"""The ledger client: Sawtooth's REST API, whichever ledger answers it.

Source: Sawtooth 1.2 REST API reference.
"""

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import httpx

from contracts.errors import RejectedError, UnavailableError
from contracts.payload import canonical
from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    BatchList,
    Block,
    BlockHeader,
    Event,
    Transaction,
    TransactionHeader,
    TransactionReceipt,
)

BLOCKS_PER_PAGE: Final = 20
STATUSES_PER_REQUEST: Final = 500
RECEIPTS_PER_REQUEST: Final = 500
BACK_OFF_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits between tries while the ledger says that it has too much to do (HTTP 429)."""
_NOT_FOUND: Final = 404
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500


class Status(StrEnum):
    """What a ledger says of a batch."""

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch's status; `reason` says why it is invalid, else it is empty."""

    status: Status
    reason: str


class LedgerClient:
    """Talks to one ledger; may be used by several threads."""

    def __init__(
        self, url: str, *, timeout_s: float = 30.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._http = httpx.Client(base_url=url, timeout=timeout_s, trust_env=False)
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submit(self, batches: Sequence[Batch]) -> None:
        """Hand over batches, all in one list; safe to repeat.

        Raises:
            RejectedError: The ledger refuses them for good.
            UnavailableError: No answer, or still too busy after some patience.
        """
        wire = canonical(BatchList(batches=batches))
        for wait_s in (*BACK_OFF_S, None):
            answer = self._send(
                "POST",
                "/batches",
                content=wire,
                headers={"Content-Type": "application/octet-stream"},
            )
            if answer.status_code != _TOO_MANY:
                _check(answer)
                return
            if wait_s is not None:
                self._sleep(wait_s)
        raise UnavailableError("ledger is too busy: HTTP 429 after several tries")

    def statuses(self, batch_ids: Sequence[str], *, wait_s: int = 0) -> dict[str, BatchStatus]:
        """Return the status of each batch; wait up to `wait_s` seconds until none is pending."""
        found: dict[str, BatchStatus] = {}
        query = {"wait": str(wait_s)} if wait_s else {}
        for at in range(0, len(batch_ids), STATUSES_PER_REQUEST):
            ids = list(batch_ids[at : at + STATUSES_PER_REQUEST])
            data = self._json("POST", "/batch_statuses", json=ids, params=query)["data"]
            found.update((entry["id"], _status(entry)) for entry in data)
        return found

    def blocks(self, first: int) -> Iterator[Block]:
        """Yield the blocks from number `first` on, oldest first, until the head."""
        while True:
            answer = self._send(
                "GET",
                "/blocks",
                params={
                    "start": f"0x{first:016x}",
                    "limit": str(BLOCKS_PER_PAGE),
                    "reverse": "true",
                },
            )
            if answer.status_code == _NOT_FOUND:
                return
            data = _check(answer)["data"]
            yield from map(block_from_json, data)
            first += len(data)
            if len(data) < BLOCKS_PER_PAGE:
                return

    def head(self) -> Block:
        """Return the newest block."""
        return block_from_json(self._json("GET", "/blocks", params={"limit": "1"})["data"][0])

    def block(self, block_num: int) -> Block | None:
        """Return block number `block_num`, or None beyond the head."""
        if block_num > int(self._head_header().block_num):
            return None
        params = {"start": f"0x{block_num:016x}", "limit": "1"}
        return block_from_json(self._json("GET", "/blocks", params=params)["data"][0])

    def batch(self, batch_id: str) -> Batch | None:
        """Return a committed batch, or None."""
        answer = self._send("GET", f"/batches/{batch_id}")
        return None if answer.status_code == _NOT_FOUND else batch_from_json(_check(answer)["data"])

    def receipts(self, transaction_ids: Sequence[str]) -> dict[str, TransactionReceipt]:
        """Return the receipts of committed transactions.

        Raises:
            RejectedError: One of them is not committed.
        """
        found: dict[str, TransactionReceipt] = {}
        for at in range(0, len(transaction_ids), RECEIPTS_PER_REQUEST):
            ids = list(transaction_ids[at : at + RECEIPTS_PER_REQUEST])
            data = self._json("POST", "/receipts", json=ids)["data"]
            found.update((entry["id"], _receipt(entry)) for entry in data)
        return found

    def state(self, address: str) -> bytes | None:
        """Return the value at a state address, or None."""
        answer = self._send("GET", f"/state/{address}")
        return None if answer.status_code == _NOT_FOUND else _bytes(_check(answer)["data"])

    def _head_header(self) -> BlockHeader:
        return BlockHeader.FromString(self.head().header)

    def _json(self, method: str, path: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        return _check(self._send(method, path, **request))

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401
        try:
            return self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise UnavailableError(
                f"ledger {self._http.base_url} did not answer {method} {path}: {error!r}"
            ) from error


def block_from_json(document: dict[str, Any]) -> Block:
    """Return a block as signed, from its JSON form."""
    header = dict(document["header"])
    header["block_num"] = int(header["block_num"])
    header["consensus"] = _bytes(header["consensus"])
    return Block(
        header=canonical(BlockHeader(**header)),
        header_signature=document["header_signature"],
        batches=map(batch_from_json, document["batches"]),
    )


def batch_from_json(document: dict[str, Any]) -> Batch:
    """Return a batch as signed, from its JSON form."""
    return Batch(
        header=canonical(BatchHeader(**document["header"])),
        header_signature=document["header_signature"],
        transactions=map(_transaction, document["transactions"]),
        trace=document["trace"],
    )


def _transaction(document: dict[str, Any]) -> Transaction:
    return Transaction(
        header=canonical(TransactionHeader(**document["header"])),
        header_signature=document["header_signature"],
        payload=_bytes(document["payload"]),
    )


def _receipt(document: dict[str, Any]) -> TransactionReceipt:
    events = [
        Event(
            event_type=event["event_type"],
            attributes=[Event.Attribute(**pair) for pair in event["attributes"]],
            data=_bytes(event["data"]),
        )
        for event in document["events"]
    ]
    return TransactionReceipt(transaction_id=document["id"], events=events)


def _status(entry: dict[str, Any]) -> BatchStatus:
    reasons = [
        f"transaction {invalid['id'][:16]}…: {invalid.get('message', 'no message')}"
        for invalid in entry["invalid_transactions"]
    ]
    return BatchStatus(Status(entry["status"]), "; ".join(reasons))


def _check(answer: httpx.Response) -> dict[str, Any]:
    try:
        document = answer.json()
    except json.JSONDecodeError as error:
        raise UnavailableError(
            f"ledger answered {answer.request.method} {answer.request.url.path} with HTTP "
            f"{answer.status_code} and no JSON"
        ) from error
    if answer.is_success and isinstance(document, dict):
        return document
    problem = document.get("error", {}) if isinstance(document, dict) else {}
    text = (
        f"ledger answered {answer.request.method} {answer.request.url.path} with HTTP "
        f"{answer.status_code}: {problem.get('title')}: {problem.get('message')}"
    )
    busy = answer.status_code >= _SERVER_ERROR or answer.status_code == _TOO_MANY
    raise (UnavailableError if busy else RejectedError)(text)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
