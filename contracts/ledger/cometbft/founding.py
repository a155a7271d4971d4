"""The engine's genesis file tells the application how the ledger of a network begins.

It begins with its first block; or with the next block of a ledger that one signer made until then.
All blocks of that one are repeated beforehand by each validator, from an export, as a network's
blocks: these have no signer, so all validators make the same ones, with the same ids. The genesis
file names the last of them. So it stays small, and a validator with another chain does not begin.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.blocks.repeating import repeat, seal_words
from contracts.ledger.cometbft.times import check_time, time_batch
from contracts.ledger.engine.blocks import StoredBlock
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import take_genesis
from contracts.ledger.execution import blocktimes
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.obeyed import Obeyed, obeyed_after
from contracts.ledger.execution.verify import parse_batches, verify_batch
from contracts.ledger.state.merkle import Update
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Block
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_network_block, network_height
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, propose
from contracts.succession import SETTING, Predecessor, predecessor_of, predecessors_in

BEFORE: Final = 0
"""The engine's height in all blocks that are there when it begins."""


@dataclass(frozen=True, slots=True)
class Founding:
    """How the ledger of a network begins.

    Attributes:
        batches: Of the block with which the engine begins.
        after: Id of the block before it; empty if it is the first one.
        predecessor: The ledger that one signer made, if it goes on from one.
    """

    batches: Sequence[Batch]
    after: str = ""
    predecessor: Predecessor | None = None

    def document(self) -> str | dict[str, Any]:
        """Return it as it stands in the engine's genesis file."""
        batches = base64.b64encode(canonical(BatchList(batches=self.batches))).decode()
        if self.predecessor is None:
            return batches
        return {
            "batches": batches,
            "after": self.after,
            "predecessor": self.predecessor.document(),
        }


def founding_of(document: object) -> Founding:
    """Return what the `app_state` of a genesis file says.

    Raises:
        RejectedError: It has another form.
    """
    if isinstance(document, str):
        return Founding(_batches(document))
    if not isinstance(document, dict) or set(document) != {"batches", "after", "predecessor"}:
        raise RejectedError(
            "genesis: expected app_state as base64 of a BatchList, or an object with batches, "
            f"after and predecessor, got {str(document)[:80]}"
        )
    predecessor = predecessor_of(document["predecessor"])
    return Founding(_batches(document["batches"]), str(document["after"]), predecessor)


def founding_in(wire: bytes) -> Founding:
    """Return what the engine hands over of its genesis file.

    Raises:
        RejectedError: It has another form.
    """
    try:
        return founding_of(json.loads(wire))
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"genesis: app_state is not JSON: {error}") from error


def repeat_for_network(path: Path, chain: Chain, families: Families) -> Predecessor:
    """Make a network's chain of an export, without the block with which the network begins.

    Raises:
        RejectedError: See `repeat`.
        UnavailableError: The disk is full or failed.
    """

    def make(chain: Chain, candidate: Candidate) -> None:
        block, update = network_block(chain, candidate, BEFORE)
        chain.commit(block, candidate.receipts, update)

    predecessor, _ = repeat(path, chain, families, make)
    return predecessor


def go_on(
    chain: Chain,
    predecessor: Predecessor,
    administrator: Signer,
    settings: Mapping[str, str],
    time_s: int,
) -> Founding:
    """Return how a network goes on from a ledger that was repeated.

    Args:
        chain: Ends with the repeated ledger's last block.
        predecessor: That ledger.
        administrator: May change settings on it; signs that the network goes on from it.
        settings: Settings that the network needs: its name, its validators.
        time_s: When it begins, seconds since 1970, UTC.
    """
    head = chain.head
    if head is None or head.num != predecessor.block_num:
        raise RejectedError(f"expected a chain that ends with block {predecessor.block_num}")
    batches = []
    if obeyed_after(chain.state_after(head.num)).injects_times:
        # Its key is thrown away: what counts is that all validators take this genesis file.
        batches.append(time_batch(Signer.generate(), head, chain.state.get, time_s))
    words = seal_words(chain, administrator, predecessor)
    words += [propose(administrator, name, value) for name, value in settings.items()]
    return Founding([*batches, build_batch(administrator, words)], head.id, predecessor)


def begun(chain: Chain, founding: Founding, families: Families, time_s: int) -> Candidate:
    """Return the block with which a network begins, executed but not committed.

    Args:
        chain: Empty, or the repeated ledger.
        founding: How it begins.
        families: The rules.
        time_s: When, seconds since 1970, UTC.

    Raises:
        RejectedError: The chain is another one, or a batch is refused.
    """
    head = chain.head
    if (found := "" if head is None else head.id) != founding.after:
        raise RejectedError(_another_chain(founding, found))
    if head is None:
        candidate = Candidate(chain, chain.state.get, families, Obeyed())
        take_genesis(candidate, founding.batches)
        return candidate
    obeyed = obeyed_after(chain.state_after(head.num))
    candidate = Candidate(chain, chain.state.get, families, obeyed)
    batches = list(founding.batches)
    if obeyed.injects_times:
        if not batches:
            raise RejectedError("genesis: expected a batch with the first block's time, got none")
        timed = verify_batch(batches.pop(0))
        check_time(timed, head, time_s)
        if refused := candidate.inject(timed, blocktimes.apply):
            raise RejectedError(f"genesis: the time of the first block is refused: {refused}")
    take_genesis(candidate, batches)
    _check_on_record(chain, candidate, founding)
    return candidate


def _check_on_record(chain: Chain, candidate: Candidate, founding: Founding) -> None:
    """Check that the ledger before is on record as such after the first block's batches."""
    recorded = predecessors_in(candidate.read)
    if recorded[-1:] == (founding.predecessor,):
        return
    if recorded == predecessors_in(chain.state.get):
        raise RejectedError(
            "genesis: the administrator's settings did not take effect: the ledger needs several "
            f"votes. Set {APPROVAL_THRESHOLD} to 1 there, and export again"
        )
    raise RejectedError(
        f"genesis: expected batches that put the ledger before on record as {SETTING}, got batches "
        "that put another one on record"
    )


def network_block(chain: Chain, candidate: Candidate, height: int) -> tuple[Block, Update]:
    """Return the next block, as all validators make it, and its changes."""
    head, update = chain.head, chain.state.update(candidate.changes)
    block = build_network_block(
        candidate.batches,
        block_num=0 if head is None else head.num + 1,
        previous_block_id=NULL_BLOCK_ID if head is None else head.id,
        height=height,
        state_root_hash=update.root_hash,
    )
    return block, update


def height_of(head: StoredBlock) -> int:
    """Return the height that made a block of the chain.

    Raises:
        RejectedError: One signer made it.
    """
    height = network_height(head.header)
    if height is None:
        raise RejectedError(
            f"block {head.num} was made by one signer: expected a chain that a network made; start "
            "without --engine cometbft, or export it and replay it into a network"
        )
    return height


def _another_chain(founding: Founding, found: str) -> str:
    if founding.predecessor is None:
        return f"genesis: expected an empty chain, got one that ends with block {found[:16]}…"
    return (
        f"this network goes on from a ledger that ended with block "
        f"{founding.predecessor.block_num}, {founding.after[:16]}…; the chain here "
        f"{f'ends with {found[:16]}…' if found else 'is empty'}: type `wayseal-node join` or "
        "`resync` with `--chain` and that ledger's export"
    )


def _batches(text: object) -> list[Batch]:
    try:
        return parse_batches(base64.b64decode(str(text), validate=True))
    except ValueError as error:
        raise RejectedError(f"genesis: app_state is not base64 of a BatchList: {error}") from error
