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

from contracts import address
from contracts.errors import RejectedError, UnavailableError
from contracts.payload import canonical
from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    BatchList,
    Block,
    BlockHeader,
    Event,
    Setting,
    StateChange,
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

    def head_id(self) -> str:
        """Return the id of the newest block.

        Asked of `/state`, whose answer is short, while `/blocks` sends all of the block.
        """
        return str(self._json("GET", "/state", params={"limit": "1"})["head"])

    def blocks(self, first: int) -> Iterator[Block]:
        """Yield the blocks from number `first` on, oldest first, until the head.

        Raises:
            UnavailableError: No answer; Sawtooth gives none beyond its head.
        """
        start: str | None = f"0x{first:016x}"
        while start:
            page = self._page(start, BLOCKS_PER_PAGE)
            yield from map(block_from_json, page["data"])
            start = page["paging"].get("next_position")

    def genesis(self) -> Block:
        """Return the first block."""
        return block_from_json(self._page(f"0x{0:016x}", 1)["data"][0])

    def batch(self, batch_id: str) -> Batch | None:
        """Return a committed batch, or None."""
        answer = self._send("GET", f"/batches/{batch_id}")
        return None if answer.status_code == _NOT_FOUND else batch_from_json(_check(answer)["data"])

    def has_transaction(self, transaction_id: str) -> bool:
        """Say whether a transaction is committed."""
        answer = self._send("GET", f"/transactions/{transaction_id}")
        if answer.status_code == _NOT_FOUND:
            return False
        _check(answer)
        return True

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

    def state(self, place: str) -> bytes | None:
        """Return the value at a state address, or None."""
        answer = self._send("GET", f"/state/{place}")
        return None if answer.status_code == _NOT_FOUND else _bytes(_check(answer)["data"])

    def setting(self, name: str) -> str:
        """Return the value of an on-chain setting; empty when it is not set."""
        entry = self.state(address.setting(name))
        entries = Setting.FromString(entry).entries if entry is not None else ()
        return next((pair.value for pair in entries if pair.key == name), "")

    def _page(self, start: str, limit: int) -> dict[str, Any]:
        # Sawtooth lists the newest first; `reverse`, without a value, the oldest.
        params = {"start": start, "limit": str(limit), "reverse": ""}
        return self._json("GET", "/blocks", params=params)

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
    changes = [
        StateChange(
            address=change["address"],
            value=_bytes(change["value"]),
            type=change["type"],
        )
        for change in document["state_changes"]
    ]
    return TransactionReceipt(transaction_id=document["id"], events=events, state_changes=changes)


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
