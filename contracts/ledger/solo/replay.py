"""Makes a new chain of an exported one, signed by this node, and seals the old head into it."""

import time
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.repeating import repeat, seal_words
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.obeyed import obeyed_after
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import publish
from contracts.ledger.solo.times import Times
from contracts.sawtooth.batches import build_batch
from contracts.succession import SETTING, Predecessor, predecessors_in


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying an exported chain.

    Attributes:
        predecessor: The old chain, as the new one has it on record.
        state_root: After its last block; the same on both chains.
        seal_block_id: The new chain's block that has it on record.
    """

    predecessor: Predecessor
    state_root: str
    seal_block_id: str


def replay(
    path: Path, chain: Chain, signer: Signer, administrator: Signer, families: Families
) -> Replayed:
    """Put the blocks of an export on a chain, which may have the first ones already, and seal it.

    Args:
        path: The export.
        chain: Empty, or left by a replay of the same export that was cut short.
        signer: Signs the new blocks.
        administrator: Signs the seal; may change settings on the old chain.
        families: The rules.

    Raises:
        RejectedError: The export is damaged, the chain has other blocks, or a block leads to
            another state root here than there.
        UnavailableError: The disk is full or failed.
    """

    def make(chain: Chain, candidate: Candidate) -> None:
        publish(chain, signer, candidate)

    predecessor, state_root = repeat(path, chain, families, make, own_key=signer.public_key)
    if predecessors_in(chain.state.get)[-1:] != (predecessor,):
        _seal(chain, signer, administrator, families, predecessor)
    head = chain.head
    return Replayed(predecessor, state_root, "" if head is None else head.id)


def _seal(
    chain: Chain,
    signer: Signer,
    administrator: Signer,
    families: Families,
    predecessor: Predecessor,
) -> None:
    """Commit a block with the setting that has the old chain's head on record."""
    head = chain.head
    if head is None or head.num != predecessor.block_num:
        raise RejectedError(
            f"expected a chain that ends with block {predecessor.block_num} of the export, and "
            "blocks follow it: replay into an empty data directory"
        )
    batch = build_batch(administrator, seal_words(chain, administrator, predecessor))
    candidate = Candidate(
        chain, chain.state.get, families, obeyed_after(chain.state_after(head.num))
    )
    if candidate.obeyed.injects_times:
        Times(signer, time.time).begin(candidate, head)
    refused = candidate.add(verify_batch(batch))
    if refused is not None:
        raise RejectedError(f"the seal is refused: {refused}; expected an administrator's key")
    publish(chain, signer, candidate)
    if predecessors_in(chain.state.get)[-1:] != (predecessor,):
        raise RejectedError(
            f"the seal waits for votes on {SETTING}: approve it, and run the replay again"
        )
