"""What a block changed in state, as Sawtooth tells its subscribers.

Source: Sawtooth 1.2 architecture guide, "Events and Transaction Receipts", sawtooth/state-delta.
"""

from contracts.node.blockstore import StoredBlock
from contracts.proto.sawtooth_pb2 import StateChange


def net_changes(stored: StoredBlock) -> list[StateChange]:
    """Return the last change of every address that a block touched, the latest change first."""
    last: dict[str, StateChange] = {}
    for receipt in reversed(list(stored.receipts())):
        for change in reversed(receipt.state_changes):
            last.setdefault(change.address, change)
    return list(last.values())
