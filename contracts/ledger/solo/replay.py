"""Makes a new chain of an exported one: the same batches in the same blocks, the same state roots.

The blocks are signed by this node. One more block seals the old chain's head into the new one.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.export import read_export
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import take_genesis
from contracts.ledger.execution import blocktimes
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.obeyed import Obeyed, obeyed_after
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import publish
from contracts.ledger.solo.times import Times
from contracts.proto.sawtooth_pb2 import Batch, Block, BlockHeader, Transaction
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family, build_batch
from contracts.sawtooth.settings import propose
from contracts.succession import SETTING, Predecessor, encode, predecessors_in
from contracts.successor import Succession


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of an exported chain.

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
    genesis, signers = "", set()
    last: tuple[Block, BlockHeader] | None = None
    for block, header in read_export(path):
        if header.signer_public_key == signer.public_key:
            raise RejectedError(
                f"the key of the new node, {signer.public_key}, signed block {header.block_num} of "
                "the old chain: with the same key it would be the same chain, which `restore` puts "
                "back; take another key"
            )
        genesis = genesis or block.header_signature
        signers.add(header.signer_public_key)
        if not _has(chain, block, header):
            _repeat(chain, signer, families, block, header)
        last = block, header
    if last is None:
        raise RejectedError(f"{path} has no block")
    block, header = last
    predecessor = Predecessor(
        genesis, header.block_num, block.header_signature, tuple(sorted(signers))
    )
    if predecessors_in(chain.state.get)[-1:] != (predecessor,):
        _seal(chain, signer, administrator, families, predecessor)
    head = chain.head
    return Replayed(predecessor, header.state_root_hash, "" if head is None else head.id)


def _has(chain: Chain, block: Block, header: BlockHeader) -> bool:
    """Say whether the chain has a block already, from a replay that was cut short."""
    stored = chain.by_num(header.block_num)
    if stored is None:
        return False
    same = list(stored.header.batch_ids) == [each.header_signature for each in block.batches]
    if not same or stored.header.state_root_hash != header.state_root_hash:
        raise RejectedError(
            f"block {header.block_num} of this chain is not that of the export: expected an empty "
            "data directory, or one of a replay of this export that was cut short"
        )
    return True


def _repeat(
    chain: Chain, signer: Signer, families: Families, block: Block, header: BlockHeader
) -> None:
    """Commit the batches of a block, and compare the state root."""
    head = chain.head
    obeyed = Obeyed() if head is None else obeyed_after(chain.state_after(head.num))
    candidate = Candidate(chain, chain.state.get, families, obeyed)
    if head is None:
        take_genesis(candidate, block.batches)
    else:
        for batch in block.batches:
            _take(candidate, batch, header.block_num)
    publish(chain, signer, candidate)
    reached = "" if chain.head is None else chain.head.header.state_root_hash
    if reached != header.state_root_hash:
        raise RejectedError(
            f"block {header.block_num}: expected state root {header.state_root_hash}, got "
            f"{reached}: these rules are not those of the node that made it; use its version, and "
            "a new data directory"
        )


def _take(candidate: Candidate, batch: Batch, block_num: int) -> None:
    verified = verify_batch(batch)
    if candidate.obeyed.injects_times and Family.of(verified.headers[0]) == block_info.FAMILY:
        refused: object = candidate.inject(verified, blocktimes.apply)
    else:
        refused = candidate.add(verified)
    if refused is not None:
        raise RejectedError(
            f"block {block_num}: batch {verified.id[:16]}… is refused here, and was committed "
            f"there: {refused}; families of transaction processors cannot be replayed"
        )


def _words(chain: Chain, administrator: Signer, predecessor: Predecessor) -> list[Transaction]:
    """Return what the administrator signs: where the old chain ended, and which one follows."""
    value = encode([*predecessors_in(chain.state.get), predecessor])
    words = [propose(administrator, SETTING, value)]
    first = chain.by_num(0)
    if first is not None:
        words.append(Succession(predecessor.genesis_block_id, first.id).sign(administrator))
    return words


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
    batch = build_batch(administrator, _words(chain, administrator, predecessor))
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
            f"the seal waits for votes on {SETTING}: approve it, and type the replay again"
        )
