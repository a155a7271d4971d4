"""The JSON of Sawtooth's REST API, as the messages that it stands for.

Any malformed document raises LookupError, TypeError or ValueError; the client says which answer it
was. Source: Sawtooth 1.2 REST API reference.
"""

import base64
from dataclasses import dataclass
from typing import Any

from contracts.encoding import canonical
from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    Block,
    BlockHeader,
    Event,
    StateChange,
    Transaction,
    TransactionHeader,
    TransactionReceipt,
)
from contracts.sawtooth.batches import Status
from contracts.sawtooth.nodes import StateTreeNode


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The status of a batch. `reason` says why it is invalid, and is empty otherwise."""

    status: Status
    reason: str


def blocks_from_json(document: dict[str, Any]) -> tuple[list[Block], str | None]:
    """Return the blocks of a page, and where the next one starts, or None.

    Raises:
        ValueError: The next page is named, but not as it should be.
    """
    blocks = [block_from_json(block) for block in document["data"]]
    following = document["paging"].get("next_position")
    if following is not None and not (blocks and isinstance(following, str)):
        raise ValueError(following)
    return blocks, following


def block_from_json(document: dict[str, Any]) -> Block:
    """Return a block as signed, from its JSON form."""
    header = dict(document["header"])
    header["block_num"] = int(header["block_num"])
    header["consensus"] = bytes_from_json(header["consensus"])
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
        payload=bytes_from_json(document["payload"]),
    )


def receipt_from_json(document: dict[str, Any]) -> TransactionReceipt:
    """Return a receipt from its JSON form; Sawtooth leaves out empty values."""
    return TransactionReceipt(
        transaction_id=document["id"],
        events=map(_event, document["events"]),
        state_changes=map(_change, document["state_changes"]),
    )


def _event(document: dict[str, Any]) -> Event:
    return Event(
        event_type=document["event_type"],
        attributes=[Event.Attribute(**pair) for pair in document["attributes"]],
        data=bytes_from_json(document.get("data", "")),
    )


def _change(document: dict[str, Any]) -> StateChange:
    value = bytes_from_json(document.get("value", ""))
    return StateChange(address=document["address"], value=value, type=document["type"])


def node_from_json(document: dict[str, Any]) -> StateTreeNode:
    """Return a node of the state's tree from its JSON form."""
    children = {
        int(token, 16): digest.encode() for token, digest in document.get("children", {}).items()
    }
    end = document.get("hash", "").encode()
    return StateTreeNode(bytes.fromhex(document["path"]), children, end=end)


def status_from_json(entry: dict[str, Any]) -> BatchStatus:
    """Return the status of a batch from its JSON form."""
    reasons = [
        f"transaction {invalid['id'][:16]}…: {invalid.get('message', 'no message')}"
        for invalid in entry["invalid_transactions"]
    ]
    return BatchStatus(Status(entry["status"]), "; ".join(reasons))


def bytes_from_json(text: str) -> bytes:
    """Return bytes from their base64 form."""
    return base64.b64decode(text)
