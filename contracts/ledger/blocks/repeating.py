"""Repeats an exported chain: the same batches in the same blocks, the same state roots.

Whatever engine goes on with the chain makes the blocks in its own way.
"""

from collections.abc import Callable, Sequence
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
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.proto.sawtooth_pb2 import Block, BlockHeader, Transaction
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family
from contracts.sawtooth.blocks import network_height
from contracts.sawtooth.settings import propose
from contracts.succession import SETTING, Predecessor, encode, predecessors_in
from contracts.successor import Succession

Make = Callable[[Chain, Candidate], None]
"""Builds the next block of a candidate, and commits it."""
Add = Callable[[Candidate, VerifiedBatch], object]
"""Executes and takes a batch; returns None, or why not."""


def repeat(
    path: Path, chain: Chain, families: Families, make: Make, *, own_key: str = ""
) -> tuple[Predecessor, str]:
    """Put the blocks of an export on a chain, which may have the first ones already.

    Args:
        path: The export.
        chain: Empty, or left by a run on the same export that was cut short.
        families: The rules.
        make: Makes each block.
        own_key: Public key that signs the new blocks; empty if nobody signs them.

    Returns:
        The old chain, and the state root after its last block.

    Raises:
        RejectedError: The export is damaged or of a network's chain, the chain has other blocks, or
            a block leads to another state root here than there.
        UnavailableError: The disk is full or failed.
    """
    ended = _Ended(path)
    for block, header in read_export(path):
        ended.note(block, header)
        if header.signer_public_key == own_key:
            raise RejectedError(
                f"the key of the new node, {own_key}, signed block {header.block_num} of "
                "the old chain: with the same key it would be the same chain, which `restore` puts "
                "back; take another key"
            )
        if not _has(chain, block, header):
            _repeat(chain, families, make, block, header)
    return ended.ledger()


def read_ended(path: Path) -> Predecessor:
    """Return the ledger of an export, which is read once and not executed.

    Raises:
        RejectedError: It is damaged, or of a network's chain.
        UnavailableError: It cannot be read.
    """
    ended = _Ended(path)
    for block, header in read_export(path):
        ended.note(block, header)
    ledger, _ = ended.ledger()
    return ledger


class _Ended:
    """Notes, block by block, the facts that an export states about its ledger."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._genesis = ""
        self._signers: set[str] = set()
        self._last: tuple[Block, BlockHeader] | None = None

    def note(self, block: Block, header: BlockHeader) -> None:
        """Take the next block.

        Raises:
            RejectedError: A network made it.
        """
        if network_height(header) is not None:
            raise RejectedError(
                f"{self._path}: block {header.block_num} was made by a network of validators: "
                "expected a ledger that one signer makes. A network changes its validators by a "
                "setting"
            )
        self._genesis = self._genesis or block.header_signature
        self._signers.add(header.signer_public_key)
        self._last = block, header

    def ledger(self) -> tuple[Predecessor, str]:
        """Return the ledger, and the state root after its last block.

        Raises:
            RejectedError: There was no block.
        """
        if self._last is None:
            raise RejectedError(f"{self._path} has no block")
        block, header = self._last
        predecessor = Predecessor(
            self._genesis, header.block_num, block.header_signature, tuple(sorted(self._signers))
        )
        return predecessor, header.state_root_hash


def seal_words(chain: Chain, administrator: Signer, predecessor: Predecessor) -> list[Transaction]:
    """Return what the administrator signs: where the old chain ended, and which one follows."""
    value = encode([*predecessors_in(chain.state.get), predecessor])
    words = [propose(administrator, SETTING, value)]
    first = chain.by_num(0)
    if first is not None:
        words.append(Succession(predecessor.genesis_block_id, first.id).sign(administrator))
    return words


def _has(chain: Chain, block: Block, header: BlockHeader) -> bool:
    """Say whether the chain has a block already, from a run that was cut short."""
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
    chain: Chain, families: Families, make: Make, block: Block, header: BlockHeader
) -> None:
    """Commit the batches of a block, and compare the state root."""
    batches = list(map(verify_batch, block.batches))
    try:
        candidate = executed_again(chain, families, batches, header.block_num)
    except RejectedError as error:
        raise RejectedError(
            f"{error}; families of transaction processors cannot be replayed"
        ) from error
    make(chain, candidate)
    reached = "" if chain.head is None else chain.head.header.state_root_hash
    if reached != header.state_root_hash:
        raise RejectedError(
            f"block {header.block_num}: expected state root {header.state_root_hash}, got "
            f"{reached}: these rules are not those of the node that made it; use its version, and "
            "a new data directory"
        )


def executed_again(
    chain: Chain,
    families: Families,
    batches: Sequence[VerifiedBatch],
    block_num: int,
    add: Add = Candidate.add,
) -> Candidate:
    """Execute the batches of a block that somebody made, as the next block of a chain.

    Args:
        chain: Ends with the block before.
        families: The rules.
        batches: Of the block.
        block_num: Its number.
        add: Executes and takes a batch of a client.

    Raises:
        RejectedError: A batch is refused here.
    """
    head = chain.head
    obeyed = Obeyed() if head is None else obeyed_after(chain.state_after(head.num))
    candidate = Candidate(chain, chain.state.get, families, obeyed)
    if head is None:
        take_genesis(candidate, [batch.batch for batch in batches])
        return candidate
    for batch in batches:
        if obeyed.injects_times and Family.of(batch.headers[0]) == block_info.FAMILY:
            refused: object = candidate.inject(batch, blocktimes.apply)
        else:
            refused = add(candidate, batch)
        if refused is not None:
            raise RejectedError(
                f"block {block_num}: batch {batch.id[:16]}… is refused here, and was committed "
                f"there: {refused}"
            )
    return candidate
