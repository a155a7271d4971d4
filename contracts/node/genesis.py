"""The first block: who may change settings, and who administers the network."""

from collections.abc import Sequence
from pathlib import Path

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.node.candidate import BLOCK_BATCH_BYTES_MAX, Candidate, Orphan, Refusal
from contracts.node.execution.executor import Verdict
from contracts.node.execution.families import Families
from contracts.node.publisher import QUEUED_BATCHES_MAX, publish
from contracts.node.store.chain import Chain
from contracts.node.verify import parse_batches, verify_batch
from contracts.payload import ADMIN_KEYS_SETTING
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.counts import count_batches
from contracts.sawtooth.settings import AUTHORIZED_KEYS, propose


def read_genesis(paths: Sequence[Path]) -> list[Batch]:
    """Return the batches of several serialised BatchLists, in order.

    Raises:
        RejectedError: A file is missing, too large or holds no BatchList.
    """
    batches: list[Batch] = []
    for path in paths:
        try:
            batches += _read(path)
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


def found(chain: Chain, signer: Signer, families: Families, batches: Sequence[Batch]) -> None:
    """Commit the genesis block.

    Raises:
        RejectedError: A batch is not valid; nothing is written.
        UnavailableError: The disk refuses.
    """
    candidate = Candidate(chain.blocks, chain.state.get, families)
    for batch in batches:
        verified = verify_batch(batch)
        if not candidate.has_room_for(verified):
            raise RejectedError(
                f"genesis block: one block takes batches of {BLOCK_BATCH_BYTES_MAX} bytes, got more"
            )
        refused = candidate.add(verified)
        if refused is not None:
            name = batch.header_signature[:16]
            raise RejectedError(f"genesis batch {name}…: {_words(refused)}")
    if not candidate.batches:
        raise RejectedError("genesis needs at least one batch, got none")
    publish(chain, signer, candidate)


def _read(path: Path) -> list[Batch]:
    """Return the batches of one file, of which no more is read than fits a block."""
    with path.open("rb") as file:
        wire = file.read(BLOCK_BATCH_BYTES_MAX + 1)
    if len(wire) > BLOCK_BATCH_BYTES_MAX:
        raise RejectedError(f"more than {BLOCK_BATCH_BYTES_MAX} bytes")
    count_batches(wire, QUEUED_BATCHES_MAX)  # before any time is spent on them
    return parse_batches(wire)


def _words(refused: Verdict | Refusal | Orphan) -> str:
    """Say why a batch cannot be in a first block."""
    match refused:
        case Verdict(_, message):
            return message
        case Refusal.COMMITTED:
            return "it is there twice"
        case Refusal.STUCK:
            return "a batch before it holds one of its transactions"
        case Orphan(dependency):
            return f"it depends on transaction {dependency[:16]}…, which no batch before it holds"
