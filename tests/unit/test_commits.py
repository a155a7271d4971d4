"""What validators signed: a commit of CometBFT, checked from its bytes alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.commits import check_commit, validators_of
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.cometbft_pb2 import CommitSig, SealedHeader
from support.ledgers.sealing import FOR_NONE, Member, members, seal

RECORDED = Path(__file__).parents[1] / "golden/cometbft/sealed-header.bin"
BLOCK = "ab" * 64
FOUR = members(4)


def test_a_header_that_cometbft_sealed_holds() -> None:
    """Recorded from a network of four with CometBFT 0.38.26, one of them killed."""
    sealed = SealedHeader.FromString(RECORDED.read_bytes())
    assert len(check_commit(sealed)) == 3
    assert len(validators_of(sealed)) == 4
    assert sealed.header.chain_id == "recorded"


def test_three_of_four_suffice_and_two_do_not() -> None:
    keys = [each.signer.public_key for each in FOUR]
    assert check_commit(seal(BLOCK, FOUR)) == set(keys)
    assert check_commit(seal(BLOCK, FOUR, absent=[1])) == {keys[0], *keys[2:]}
    with pytest.raises(RejectedError, match="signed by 2 of a voting power of 4"):
        check_commit(seal(BLOCK, FOUR, absent=[1, 2]))


def test_power_counts_not_heads() -> None:
    strong = Member(FOUR[0].signer, 10)
    assert check_commit(seal(BLOCK, [strong, *FOUR[1:]], absent=[1, 2, 3]))
    with pytest.raises(RejectedError, match="signed by 3 of a voting power of 13"):
        check_commit(seal(BLOCK, [strong, *FOUR[1:]], absent=[0]))


def test_exactly_two_thirds_are_too_few() -> None:
    with pytest.raises(RejectedError, match="more than two thirds"):
        check_commit(seal(BLOCK, members(3), absent=[0]))


def _hash(sealed: SealedHeader) -> None:
    sealed.header.app_hash = b"\0" * 64


def _time(sealed: SealedHeader) -> None:
    sealed.header.time.seconds += 1


def _chain(sealed: SealedHeader) -> None:
    sealed.header.chain_id = "other"


def _height(sealed: SealedHeader) -> None:
    sealed.header.height += 1


def _next(sealed: SealedHeader) -> None:
    sealed.header.next_validators_hash = b"\0" * 32


def _round(sealed: SealedHeader) -> None:
    sealed.commit.round += 1


def _commit_height(sealed: SealedHeader) -> None:
    sealed.commit.height += 1


def _block(sealed: SealedHeader) -> None:
    sealed.commit.block_id.hash = b"\0" * 32


def _parts(sealed: SealedHeader) -> None:
    sealed.commit.block_id.part_set_header.total += 1


def _stamp(sealed: SealedHeader) -> None:
    sealed.commit.signatures[0].timestamp.nanos += 1


def _signature(sealed: SealedHeader) -> None:
    sealed.commit.signatures[0].signature = sealed.commit.signatures[1].signature


def _one_signature_less(sealed: SealedHeader) -> None:
    del sealed.commit.signatures[3]


def _power(sealed: SealedHeader) -> None:
    sealed.validators[0].voting_power = 100


def _replaced(sealed: SealedHeader) -> None:
    key = bytes.fromhex(Signer.generate().public_key)
    sealed.validators[0].pub_key.secp256k1 = key


def _twice(sealed: SealedHeader) -> None:
    sealed.validators[1].CopyFrom(sealed.validators[0])


def _other_kind(sealed: SealedHeader) -> None:
    sealed.validators[0].pub_key.ed25519 = b"\1" * 32


def _nobody(sealed: SealedHeader) -> None:
    del sealed.validators[:]
    del sealed.commit.signatures[:]


@pytest.mark.parametrize(
    "change",
    [
        _hash,
        _time,
        _chain,
        _height,
        _next,
        _round,
        _commit_height,
        _block,
        _parts,
        _stamp,
        _signature,
        _one_signature_less,
        _power,
        _replaced,
        _twice,
        _other_kind,
        _nobody,
    ],
)
def test_nothing_of_it_can_change(change: Callable[[SealedHeader], None]) -> None:
    sealed = seal(BLOCK, FOUR)
    change(sealed)
    with pytest.raises(RejectedError, match="sealed header"):
        check_commit(sealed)


def test_a_vote_for_no_block_counts_for_none() -> None:
    sealed = seal(BLOCK, FOUR, absent=[0])
    sealed.commit.signatures[1].block_id_flag = FOR_NONE
    with pytest.raises(RejectedError, match="neither for it nor absent"):
        check_commit(sealed)
    sealed.commit.signatures[0].CopyFrom(CommitSig(block_id_flag=2))
    with pytest.raises(RejectedError, match="does not hold"):
        check_commit(sealed)
