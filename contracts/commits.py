"""What validators of CometBFT signed: a header of the engine's chain, checked without the engine.

A header names the application's hash, which here is the id of a block of ours (SHA-512 of its
header). More than two thirds of the voting power sign each header, so nobody with less can show a
second history. Keys are secp256k1: the signatures are those of `contracts.keys`.

Source: CometBFT 0.38 specification, "Core data structures" and "Signing"; RFC 6962, 2.1.
"""

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import Message

from contracts.chunktree import leaf_hash, root_hash
from contracts.encoding import canonical, varint
from contracts.errors import RejectedError
from contracts.keys import is_public_key, verify
from contracts.proto.cometbft_pb2 import (
    BytesValue,
    CanonicalVote,
    Commit,
    CommitSig,
    Header,
    Int64Value,
    SealedHeader,
    SimpleValidator,
    StringValue,
)
from contracts.validators import POWER_MAX, VALIDATORS_MAX, Powers

ABSENT: Final = 1
FOR_THE_BLOCK: Final = 2
"""`block_id_flag` of a validator that signed this header. All others stand as absent."""
_PRECOMMIT: Final = 2


def check_commit(sealed: SealedHeader) -> frozenset[str]:
    """Check that more than two thirds of a header's validators signed it; return who did.

    Whether those are the validators that one trusts is another question.

    Raises:
        RejectedError: Names the height, and what does not hold.
    """
    header, commit = sealed.header, sealed.commit
    powers = validators_of(sealed)
    name = f"sealed header {header.height}"
    if validators_hash(sealed) != header.validators_hash:
        raise RejectedError(f"{name}: its validators are not those that it names")
    if commit.height != header.height or commit.block_id.hash != header_hash(header):
        raise RejectedError(f"{name}: the commit is for another header")
    if len(commit.signatures) != len(sealed.validators):
        raise RejectedError(
            f"{name}: {len(commit.signatures)} signatures of {len(sealed.validators)} validators"
        )
    signers = frozenset(_signers(name, sealed))
    signed, power = sum(powers[key] for key in signers), sum(powers.values())
    if 3 * signed <= 2 * power:
        raise RejectedError(
            f"{name}: signed by {signed} of a voting power of {power}, expected more than two "
            "thirds"
        )
    return signers


def validators_of(sealed: SealedHeader) -> Powers:
    """Return the validators of a header.

    Raises:
        RejectedError: One comes twice, or has another kind of key or no power.
    """
    powers = {each.pub_key.secp256k1.hex(): each.voting_power for each in sealed.validators}
    valid = all(0 < power <= POWER_MAX for power in powers.values()) and all(
        map(is_public_key, powers)
    )
    once = len(powers) == len(sealed.validators)
    if not (valid and once and 1 <= len(powers) <= VALIDATORS_MAX):
        raise RejectedError(
            f"sealed header {sealed.header.height}: expected 1 to {VALIDATORS_MAX} validators, "
            f"each once, with a key of secp256k1 and a power"
        )
    return powers


def header_hash(header: Header) -> bytes:
    """Return the hash by which votes name a header: a tree over its fields."""
    fields: Iterable[Message | str | int | bytes] = (
        header.version,
        header.chain_id,
        header.height,
        header.time,
        header.last_block_id,
        header.last_commit_hash,
        header.data_hash,
        header.validators_hash,
        header.next_validators_hash,
        header.consensus_hash,
        header.app_hash,
        header.last_results_hash,
        header.evidence_hash,
        header.proposer_address,
    )
    return root_hash([leaf_hash(_encoded(value)) for value in fields])


def validators_hash(sealed: SealedHeader) -> bytes:
    """Return the hash by which headers name their validators: a tree over them, in their order."""
    return root_hash([leaf_hash(canonical(each)) for each in sealed.validators])


def vote_bytes(chain_id: str, commit: Commit, signature: CommitSig) -> bytes:
    """Return what a validator signed."""
    vote = CanonicalVote(
        type=_PRECOMMIT,
        height=commit.height,
        round=commit.round,
        block_id=commit.block_id,
        timestamp=signature.timestamp,
        chain_id=chain_id,
    )
    wire = canonical(vote)
    return varint(len(wire)) + wire


def _signers(name: str, sealed: SealedHeader) -> Iterable[str]:
    pairs: Iterable[tuple[SimpleValidator, CommitSig]] = zip(
        sealed.validators, sealed.commit.signatures, strict=True
    )
    for validator, signature in pairs:
        if signature == CommitSig(block_id_flag=ABSENT):
            continue
        if signature.block_id_flag != FOR_THE_BLOCK:
            raise RejectedError(f"{name}: a vote that is neither for it nor absent")
        key = validator.pub_key.secp256k1.hex()
        message = vote_bytes(sealed.header.chain_id, sealed.commit, signature)
        if not verify(key, signature.signature.hex(), message):
            raise RejectedError(f"{name}: the signature of validator {key} does not hold")
        yield key


def _encoded(value: Message | str | float | bytes) -> bytes:
    """Return a header's field as it is hashed; nothing for one that is empty."""
    if isinstance(value, Message):
        return canonical(value)
    if not value:
        return b""
    if isinstance(value, str):
        return canonical(StringValue(value=value))
    if isinstance(value, bytes):
        return canonical(BytesValue(value=value))
    return canonical(Int64Value(value=int(value)))
