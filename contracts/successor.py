"""An administrator's signed word that one ledger goes on as another.

`wayseal-node replay` puts it on the new ledger, in the block that seals the old one's head: a
proposal of the setting `wayseal.succession`, so each settings transaction processor takes it. A
truck that trusts the administrator's key follows it without asking anybody. The ids of blocks
alone prove nothing to a truck: for each signature and each text, a key can be found that fits.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import Signer, is_signature
from contracts.proto.sawtooth_pb2 import SettingProposal, SettingsPayload, Transaction
from contracts.sawtooth.batches import Family, check_transaction
from contracts.sawtooth.settings import FAMILY, propose

SETTING: Final = "wayseal.succession"
SUCCESSION_BYTES_MAX: Final = 16 << 10


@dataclass(frozen=True, slots=True)
class Succession:
    """One ledger goes on as another, each named by the id of its first block."""

    predecessor: str
    genesis_block_id: str

    def __post_init__(self) -> None:
        """Check both ids."""
        ids: tuple[object, ...] = (self.predecessor, self.genesis_block_id)
        if not all(isinstance(each, str) and is_signature(each) for each in ids):
            raise RejectedError(
                f"succession: expected two block ids of 128 digits, got {ids!r:.90}"
            )

    def sign(self, administrator: Signer) -> Transaction:
        """Return the proposal of the setting, signed."""
        return propose(administrator, SETTING, json.dumps(asdict(self), separators=(",", ":")))


def is_succession(transaction: Transaction) -> bool:
    """Say whether a transaction, whose signatures were checked, proposes the setting."""
    header = check_transaction(transaction)
    return Family.of(header) == FAMILY and _proposed(transaction) is not None


def succession_of(wire: bytes, trusted_keys: Collection[str]) -> Succession:
    """Return what an administrator has signed.

    Args:
        wire: The transaction.
        trusted_keys: Public keys of administrators.

    Raises:
        RejectedError: Nobody who is trusted signed it, or it says something else.
    """
    if len(wire) > SUCCESSION_BYTES_MAX:
        raise RejectedError(
            f"succession: expected at most {SUCCESSION_BYTES_MAX} bytes, got {len(wire)}"
        )
    transaction = parse(Transaction, wire)
    header = check_transaction(transaction)
    if header.signer_public_key not in trusted_keys:
        raise RejectedError(
            f"succession: signed by {header.signer_public_key[:66]!r}, which is not the key of a "
            "trusted administrator"
        )
    value = _proposed(transaction) if Family.of(header) == FAMILY else None
    if value is None:
        raise RejectedError(f"succession: expected a proposal of {SETTING}, got something else")
    try:
        return Succession(**json.loads(value))
    except (ValueError, TypeError, RecursionError) as error:
        raise RejectedError(f"succession: expected two block ids, got {value[:80]!r}") from error


def followed(genesis_block_id: str, found: Iterable[Succession]) -> str:
    """Return where a ledger has gone on to; its own id if it has not.

    Args:
        genesis_block_id: The ledger.
        found: Successions, in any order.
    """
    steps = {each.predecessor: each.genesis_block_id for each in found}
    while genesis_block_id in steps:  # a step that is taken out cannot be taken again
        genesis_block_id = steps.pop(genesis_block_id)
    return genesis_block_id


def _proposed(transaction: Transaction) -> str | None:
    """Return the value that a settings transaction proposes for our setting; None for others."""
    payload = parse(SettingsPayload, transaction.payload)
    if payload.action != SettingsPayload.PROPOSE:
        return None
    proposal = parse(SettingProposal, payload.data)
    return proposal.value if proposal.setting == SETTING else None
