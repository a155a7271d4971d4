"""On-chain settings: names, how to propose a value, and how to vote on one.

Source: Sawtooth 1.2, Settings transaction family specification.
"""

import json
import os
from collections.abc import Mapping
from typing import Final

from contracts import address
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import (
    SettingProposal,
    SettingsPayload,
    SettingVote,
    Transaction,
)
from contracts.sawtooth.batches import Family, build_transaction
from contracts.text import WHITESPACE

FAMILY: Final = Family("sawtooth_settings", "1.0")
AUTHORIZED_KEYS: Final = "sawtooth.settings.vote.authorized_keys"
APPROVAL_THRESHOLD: Final = "sawtooth.settings.vote.approval_threshold"
PROPOSALS: Final = "sawtooth.settings.vote.proposals"
PBFT_MEMBERS: Final = "sawtooth.consensus.pbft.members"
MAX_BATCHES_PER_BLOCK: Final = "sawtooth.publisher.max_batches_per_block"
BATCH_INJECTORS: Final = "sawtooth.validator.batch_injectors"
BLOCK_VALIDATION_RULES: Final = "sawtooth.validator.block_validation_rules"
TRANSACTION_FAMILIES: Final = "sawtooth.validator.transaction_families"
CHAIN_ID: Final = "wayseal.chain_id"
"""The name of a network of CometBFT's validators; each signature of theirs covers it."""
CARRIED: Final = "wayseal.carried"
"""The form in which a network of CometBFT's validators carries new batches: `zstd`, which all its
nodes have to know; with another value, or none, as they are."""
ZSTD: Final = "zstd"


def propose(signer: Signer, name: str, value: str) -> Transaction:
    """Return a transaction that proposes a setting, as `sawset proposal create` makes it."""
    proposal = SettingProposal(setting=name, value=value, nonce=os.urandom(8).hex())
    payload = SettingsPayload(action=SettingsPayload.PROPOSE, data=canonical(proposal))
    return _ballot(signer, payload, name)


def vote(signer: Signer, proposal_id: str, name: str, *, accept: bool = True) -> Transaction:
    """Return a transaction that votes on a proposal, as `sawset proposal vote` makes it.

    Args:
        signer: The voter.
        proposal_id: SHA-256 of the proposal, hexadecimal.
        name: Of the proposed setting.
        accept: Whether the vote is for it.
    """
    choice = SettingVote.ACCEPT if accept else SettingVote.REJECT
    data = canonical(SettingVote(proposal_id=proposal_id, vote=choice))
    return _ballot(signer, SettingsPayload(action=SettingsPayload.VOTE, data=data), name)


def split_keys(value: str | None) -> list[str]:
    """Return the comma separated keys in a setting's value, without empty ones."""
    return list(filter(None, (key.strip(WHITESPACE) for key in (value or "").split(","))))


def _ballot(signer: Signer, payload: SettingsPayload, name: str) -> Transaction:
    ballot = [address.setting(PROPOSALS), address.setting(AUTHORIZED_KEYS)]
    return build_transaction(
        signer,
        FAMILY,
        canonical(payload),
        batcher_public_key=signer.public_key,
        inputs=[*ballot, address.setting(APPROVAL_THRESHOLD), address.setting(name)],
        outputs=[address.setting(PROPOSALS), address.setting(name)],
    )


def permitted_families(value: str) -> dict[Family, tuple[str, ...]]:
    """Return the families that a value of `TRANSACTION_FAMILIES` lists; an empty list permits all.

    Each has the beginnings of the addresses that it may declare to write.

    Raises:
        RejectedError: The value is not a JSON list of families.
    """
    try:
        return dict(map(_permitted_family, json.loads(value or "[]")))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RejectedError(f"{TRANSACTION_FAMILIES}: expected a JSON list of families") from error


def _permitted_family(entry: Mapping[str, object]) -> tuple[Family, tuple[str, ...]]:
    name, version = entry["family"], entry["version"]
    namespaces = entry.get("namespaces", [""])
    if not (isinstance(name, str) and isinstance(version, str) and isinstance(namespaces, list)):
        raise TypeError(f"expected family, version and a list of namespaces, got {entry!r}")
    return Family(name, version), tuple(map(str, namespaces))
