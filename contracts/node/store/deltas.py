"""What a block changed in state, as Sawtooth tells those who subscribed, at either port.

Source: Sawtooth 1.2 architecture guide, "Events and Transaction Receipts", sawtooth/state-delta.
"""

from collections.abc import Sequence

from contracts.proto.sawtooth_pb2 import StateChange, TransactionReceipt


def net_changes(receipts: Sequence[TransactionReceipt]) -> list[StateChange]:
    """Return the last change of every address in a block's receipts, the latest change first."""
    last: dict[str, StateChange] = {}
    for receipt in reversed(receipts):
        for change in reversed(receipt.state_changes):
            last.setdefault(change.address, change)
    return list(last.values())
