"""Ledgers before this one: the on-chain setting that seals the head of each into the next.

When a chain is replayed into a successor, an administrator of the settings signs a proposal of
`wayseal.predecessors`: a JSON array, the oldest ledger first. So two things are on record with a
signature: where the old ledger ends, and that this one goes on from there.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from contracts import address
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import is_public_key, is_signature
from contracts.proto.sawtooth_pb2 import Setting

SETTING: Final = "wayseal.predecessors"
PREDECESSORS_MAX: Final = 100
_BLOCK_NUM_END: Final = 1 << 53
"""Beyond it, not all readers of JSON tell one number from the next (RFC 8259, 6)."""


@dataclass(frozen=True, slots=True)
class Predecessor:
    """A ledger that ended, and whose batches its successor has in the same order.

    Attributes:
        genesis_block_id: Id of its first block.
        block_num: Number of its last block.
        block_id: Id of its last block.
        block_signers: Public keys that signed its blocks, sorted.
    """

    genesis_block_id: str
    block_num: int
    block_id: str
    block_signers: tuple[str, ...]

    def __post_init__(self) -> None:
        ids: tuple[object, ...] = (self.genesis_block_id, self.block_id)
        if not all(isinstance(each, str) and is_signature(each) for each in ids):
            raise RejectedError(f"predecessor: expected block ids of 128 digits, got {ids}")
        if type(self.block_num) is not int or not 0 <= self.block_num < _BLOCK_NUM_END:
            raise RejectedError(f"predecessor: expected a block number, got {self.block_num!r}")
        keys: tuple[object, ...] = self.block_signers
        if not keys or not all(isinstance(each, str) and is_public_key(each) for each in keys):
            raise RejectedError(f"predecessor: expected public keys, got {keys!r}")

    def document(self) -> dict[str, Any]:
        """Return it as it stands in JSON."""
        return asdict(self) | {"block_signers": list(self.block_signers)}


_MEMBERS: Final = frozenset(each.name for each in fields(Predecessor))


def predecessor_of(document: object) -> Predecessor:
    """Return the predecessor that a JSON object says.

    Raises:
        RejectedError: It has other keys or values.
    """
    if not isinstance(document, dict) or set(document) != _MEMBERS:
        raise RejectedError(
            f"predecessor: expected an object with {', '.join(sorted(_MEMBERS))}, got "
            f"{str(document)[:80]}"
        )
    signers = document["block_signers"]
    if not isinstance(signers, list):
        raise RejectedError(f"predecessor: expected a list of block_signers, got {signers!r:.80}")
    return Predecessor(**document | {"block_signers": tuple(signers)})


def encode(predecessors: Sequence[Predecessor]) -> str:
    """Return the setting's value."""
    return json.dumps([each.document() for each in predecessors], separators=(",", ":"))


def predecessors_in(get: Callable[[str], bytes | None]) -> tuple[Predecessor, ...]:
    """Return the ledgers before the one with this state, the oldest first; mostly none.

    Args:
        get: Returns the value at an address.

    Raises:
        RejectedError: The setting is malformed.
    """
    wire = get(address.setting(SETTING))
    entries = () if wire is None else parse(Setting, wire).entries
    value = next((each.value for each in entries if each.key == SETTING), "[]")
    try:
        found = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"setting {SETTING} on the ledger is malformed: {error}") from error
    if not isinstance(found, list) or len(found) > PREDECESSORS_MAX:
        raise RejectedError(f"setting {SETTING} on the ledger is malformed: {value[:80]!r}")
    return tuple(map(predecessor_of, found))
