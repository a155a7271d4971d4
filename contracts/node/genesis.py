"""The first block: who may change settings, and who administers the network."""

import os
from collections.abc import Sequence
from pathlib import Path

from contracts import address
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.node.candidate import Candidate
from contracts.node.execution.executor import Verdict
from contracts.node.execution.families import Families
from contracts.node.execution.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, FAMILY, PROPOSALS
from contracts.node.publisher import publish
from contracts.node.store.chain import Chain
from contracts.node.verify import parse_batches, verify_batch
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.sawtooth_pb2 import Batch, SettingProposal, SettingsPayload, Transaction
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.transactions import build_transaction


def read_genesis(paths: Sequence[Path]) -> list[Batch]:
    """Return the batches of several serialised BatchLists, in order.

    Raises:
        RejectedError: A file is missing or holds no BatchList.
    """
    batches: list[Batch] = []
    for path in paths:
        try:
            batches += parse_batches(path.read_bytes())
        except OSError as error:
            raise RejectedError(f"genesis file {path}: {error.strerror}") from error
        except RejectedError as error:
            raise RejectedError(f"genesis file {path}: {error}") from error
    return batches


def own_genesis(signer: Signer, admins: Sequence[str]) -> Batch:
    """Return a batch that makes a network of its own.

    The node's key sets everything, then hands its right to do so to `admins`.

    Args:
        signer: The node's key.
        admins: Public keys that administer the network.
    """
    keys = ",".join(admins)
    return build_batch(
        signer,
        [
            propose(signer, AUTHORIZED_KEYS, signer.public_key),
            propose(signer, "sawtooth.consensus.algorithm.name", "Devmode"),
            propose(signer, "sawtooth.consensus.algorithm.version", "0.1"),
            propose(signer, ADMIN_KEYS_SETTING, keys),
            propose(signer, AUTHORIZED_KEYS, keys),
        ],
    )


def propose(signer: Signer, name: str, value: str) -> Transaction:
    """Return a transaction that proposes a setting, as `sawset proposal create` makes it."""
    proposal = SettingProposal(setting=name, value=value, nonce=os.urandom(8).hex())
    payload = SettingsPayload(
        action=SettingsPayload.PROPOSE, data=proposal.SerializeToString(deterministic=True)
    )
    ballot = [address.setting(PROPOSALS), address.setting(AUTHORIZED_KEYS)]
    return build_transaction(
        signer,
        FAMILY,
        payload.SerializeToString(deterministic=True),
        batcher_public_key=signer.public_key,
        inputs=[*ballot, address.setting(APPROVAL_THRESHOLD), address.setting(name)],
        outputs=[address.setting(PROPOSALS), address.setting(name)],
    )


def found(chain: Chain, signer: Signer, families: Families, batches: Sequence[Batch]) -> None:
    """Commit the genesis block.

    Raises:
        RejectedError: A batch is not valid; nothing is written.
        UnavailableError: The disk refuses.
    """
    candidate = Candidate(chain.blocks, chain.state.get, families)
    for batch in batches:
        refused = candidate.add(verify_batch(batch))
        name = batch.header_signature[:16]
        if isinstance(refused, Verdict):
            raise RejectedError(f"genesis batch {name}…: {refused.message}")
        if refused is not None:
            raise RejectedError(f"genesis batch {name}…: not possible in a first block: {refused}")
    if not candidate.batches:
        raise RejectedError("genesis needs at least one batch, got none")
    publish(chain, signer, candidate)
