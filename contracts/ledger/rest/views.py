"""Blocks, batches, transactions and receipts as the JSON objects that Sawtooth shows."""

import base64
from typing import TypeAlias

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
from contracts.sawtooth.nodes import StateTreeNode

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | bool | None"


def block_view(block: Block) -> Json:
    """Return a block with its headers expanded."""
    header = BlockHeader.FromString(block.header)
    return {
        "batches": [batch_view(batch) for batch in block.batches],
        "header": {
            "batch_ids": list(header.batch_ids),
            "block_num": str(header.block_num),
            "consensus": _base64(header.consensus),
            "previous_block_id": header.previous_block_id,
            "signer_public_key": header.signer_public_key,
            "state_root_hash": header.state_root_hash,
        },
        "header_signature": block.header_signature,
    }


def batch_view(batch: Batch) -> Json:
    """Return a batch with its headers expanded."""
    header = BatchHeader.FromString(batch.header)
    return {
        "header": {
            "signer_public_key": header.signer_public_key,
            "transaction_ids": list(header.transaction_ids),
        },
        "header_signature": batch.header_signature,
        "trace": batch.trace,
        "transactions": [transaction_view(transaction) for transaction in batch.transactions],
    }


def transaction_view(transaction: Transaction) -> Json:
    """Return a transaction with its header expanded."""
    header = TransactionHeader.FromString(transaction.header)
    return {
        "header": {
            "batcher_public_key": header.batcher_public_key,
            "dependencies": list(header.dependencies),
            "family_name": header.family_name,
            "family_version": header.family_version,
            "inputs": list(header.inputs),
            "nonce": header.nonce,
            "outputs": list(header.outputs),
            "payload_sha512": header.payload_sha512,
            "signer_public_key": header.signer_public_key,
        },
        "header_signature": transaction.header_signature,
        "payload": _base64(transaction.payload),
    }


def entry_view(address: str, value: bytes) -> Json:
    """Return an address and its value in state."""
    return {"address": address, "data": _base64(value)}


def node_view(node: StateTreeNode) -> Json:
    """Return a node of the state's tree."""
    view: dict[str, Json] = {"path": node.path.hex()}
    if node.end:
        view["hash"] = node.end.decode()
    else:
        view["children"] = {
            f"{token:02x}": digest.decode() for token, digest in node.children.items()
        }
    return view


def value_view(value: bytes) -> Json:
    """Return a value in state."""
    return _base64(value)


def receipt_view(receipt: TransactionReceipt) -> Json:
    """Return a receipt; Sawtooth leaves out empty strings."""
    return {
        "data": [_base64(data) for data in receipt.data],
        "events": [_event_view(event) for event in receipt.events],
        "id": receipt.transaction_id,
        "state_changes": [_change_view(change) for change in receipt.state_changes],
    }


def delta_view(change: StateChange) -> Json:
    """Return a state change for subscribers; an empty value comes last, as in Sawtooth."""
    view: dict[str, Json] = {"address": change.address}
    if change.value:
        view["value"] = _base64(change.value)
    view["type"] = StateChange.Type.Name(change.type)
    view.setdefault("value", "")
    return view


def _event_view(event: Event) -> Json:
    return {
        "attributes": [
            _drop_empty({"key": pair.key, "value": pair.value}) for pair in event.attributes
        ],
        **_drop_empty({"data": _base64(event.data), "event_type": event.event_type}),
    }


def _change_view(change: StateChange) -> Json:
    kind = StateChange.Type.Name(change.type)
    return {
        **_drop_empty({"address": change.address, "value": _base64(change.value)}),
        "type": kind,
    }


def _drop_empty(pairs: dict[str, str]) -> "dict[str, Json]":
    return {key: value for key, value in pairs.items() if value}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
