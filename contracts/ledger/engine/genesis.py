"""The genesis block: its batches, and executing them.

Its settings say which keys may change settings and administer the network.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from contracts.address import ADMIN_KEYS_SETTING
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.engine.blocks import BLOCK_BATCH_BYTES_MAX
from contracts.ledger.engine.candidate import Candidate, Orphan, OwnDependency, Refusal
from contracts.ledger.engine.submissions import QUEUED_BATCHES_MAX
from contracts.ledger.execution.executor import InvalidTransaction
from contracts.ledger.execution.verify import parse_batches, verify_batch
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.counts import count_batches
from contracts.sawtooth.settings import (
    AUTHORIZED_KEYS,
    BATCH_INJECTORS,
    BLOCK_VALIDATION_RULES,
    propose,
)

TIMES_FIRST: Final = "NofX:1,block_info;XatY:block_info,0;local:0"
"""Each block begins with its signer's word on the time, and holds no other."""
ALGORITHM: Final = "sawtooth.consensus.algorithm.name"
ALGORITHM_VERSION: Final = "sawtooth.consensus.algorithm.version"
_DEVMODE: Final[Mapping[str, str]] = {ALGORITHM: "Devmode", ALGORITHM_VERSION: "0.1"}


def read_genesis(paths: Sequence[Path]) -> list[Batch]:
    """Return the batches of several serialised BatchLists, in order.

    Raises:
        RejectedError: A file is missing, too large or not a BatchList.
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


def own_genesis(signer: Signer, admins: Sequence[str], more: Mapping[str, str] = _DEVMODE) -> Batch:
    """Return a batch that founds a new network, whose blocks have a time.

    The node's key makes all settings, then passes the right to do so to `admins`.

    Args:
        signer: The node's key.
        admins: Public keys that administer the network.
        more: Further settings, such as those that name the engine.
    """
    keys = ",".join(admins)
    return build_batch(
        signer,
        [
            propose(signer, AUTHORIZED_KEYS, signer.public_key),
            *(propose(signer, name, value) for name, value in more.items()),
            propose(signer, BATCH_INJECTORS, block_info.FAMILY.name),
            propose(signer, BLOCK_VALIDATION_RULES, TIMES_FIRST),
            propose(signer, ADMIN_KEYS_SETTING, keys),
            propose(signer, AUTHORIZED_KEYS, keys),
        ],
    )


def take_genesis(candidate: Candidate, batches: Sequence[Batch]) -> None:
    """Have `candidate`, the first block, execute and take all of `batches`.

    Raises:
        RejectedError: A batch is invalid, the list is empty, or the batches do not fit one block.
    """
    for batch in batches:
        verified = verify_batch(batch)
        if not candidate.has_room_for(verified):
            raise RejectedError(
                f"genesis block: one block takes batches of {BLOCK_BATCH_BYTES_MAX} bytes, got more"
            )
        refused = candidate.add(verified)
        if isinstance(refused, OwnDependency):  # Sawtooth does not look at them here
            refused = candidate.execute(verified)
        if refused is not None:
            name = batch.header_signature[:16]
            raise RejectedError(f"genesis batch {name}…: {_words(refused)}")
    if not candidate.batches:
        raise RejectedError("genesis needs at least one batch, got none")


def _read(path: Path) -> list[Batch]:
    """Return the batches of one file; no more of it is read than fits a block."""
    with path.open("rb") as file:
        wire = file.read(BLOCK_BATCH_BYTES_MAX + 1)
    if len(wire) > BLOCK_BATCH_BYTES_MAX:
        raise RejectedError(f"more than {BLOCK_BATCH_BYTES_MAX} bytes")
    count_batches(wire, QUEUED_BATCHES_MAX)  # before they cost time and memory
    return parse_batches(wire)


def _words(refused: InvalidTransaction | Refusal | Orphan) -> str:
    """Say why a batch cannot be in a first block."""
    match refused:
        case InvalidTransaction(_, message):
            return message
        case Refusal.COMMITTED:
            return "it is there twice"
        case Refusal.STUCK:
            return "a batch before it holds one of its transactions"
        case Orphan(dependency):
            return f"it depends on transaction {dependency[:16]}…, which no batch before it holds"
