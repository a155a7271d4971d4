"""Sealed headers as CometBFT's validators would make them, for tests of what checks them."""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.timestamp_pb2 import Timestamp

from contracts.commits import ABSENT, FOR_THE_BLOCK, header_hash, validators_hash, vote_bytes
from contracts.keys import Signer
from contracts.proto.cometbft_pb2 import (
    BlockID,
    Commit,
    CommitSig,
    Consensus,
    Header,
    PartSetHeader,
    PublicKey,
    SealedHeader,
    SimpleValidator,
)

FOR_NONE = 3


@dataclass(frozen=True)
class Member:
    """A validator and its power."""

    signer: Signer
    power: int = 1

    def message(self) -> SimpleValidator:
        key = bytes.fromhex(self.signer.public_key)
        return SimpleValidator(pub_key=PublicKey(secp256k1=key), voting_power=self.power)


def members(count: int) -> list[Member]:
    """Return validators with keys that are always the same."""
    return [Member(Signer.from_hex(f"{number + 0x40:02x}" * 32)) for number in range(count)]


def seal(
    block_id: str,
    validators: Sequence[Member],
    *,
    height: int = 2,
    next_validators: Sequence[Member] | None = None,
    absent: Sequence[int] = (),
    chain_id: str = "test",
    seconds: int = 1_800_000_000,
) -> SealedHeader:
    """Return a header that names a block, signed by all validators but the absent ones."""
    named = SealedHeader(validators=[each.message() for each in validators])
    following = validators if next_validators is None else next_validators
    after = SealedHeader(validators=[each.message() for each in following])
    header = Header(
        version=Consensus(block=11),
        chain_id=chain_id,
        height=height,
        time=Timestamp(seconds=seconds, nanos=5_000_000),
        last_block_id=BlockID(hash=b"\1" * 32, part_set_header=PartSetHeader(total=1)),
        last_commit_hash=b"\2" * 32,
        validators_hash=validators_hash(named),
        next_validators_hash=validators_hash(after),
        app_hash=bytes.fromhex(block_id),
        proposer_address=b"\3" * 20,
    )
    commit = Commit(height=height, round=0, block_id=BlockID(hash=header_hash(header)))
    for number, each in enumerate(validators):
        if number in absent:
            commit.signatures.add(block_id_flag=ABSENT)
            continue
        vote = CommitSig(
            block_id_flag=FOR_THE_BLOCK, timestamp=Timestamp(seconds=1_800_000_001, nanos=number)
        )
        vote.signature = bytes.fromhex(each.signer.sign(vote_bytes(chain_id, commit, vote)))
        commit.signatures.append(vote)
    return SealedHeader(header=header, commit=commit, validators=named.validators)
