"""Small chains of intkey transactions, without a node."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.engine.candidate import Candidate
from contracts.ledger.engine.genesis import own_genesis
from contracts.ledger.execution.verify import verify_batch
from contracts.ledger.solo.publisher import found, publish
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch

SIGNER = Signer.from_hex("11" * 32)


@contextmanager
def opened(path: Path) -> Iterator[Chain]:
    chain = Chain.open(path)
    try:
        yield chain
    finally:
        chain.close()


def extend(chain: Chain, number: int) -> None:
    candidate = Candidate(chain, chain.state.get, FAMILIES)
    assert candidate.add(verify_batch(intkey_batch(SIGNER, number))) is None
    publish(chain, SIGNER, candidate)


def small_chain(path: Path, blocks: int) -> None:
    with opened(path) as chain:
        found(chain, SIGNER, FAMILIES, [own_genesis(SIGNER, [SIGNER.public_key])])
        for number in range(1, blocks):
            extend(chain, number)


def everything(chain: Chain) -> Mapping[str, bytes]:
    return dict(chain.state_after(head_of(chain)[0]).leaves())


def head_of(chain: Chain) -> tuple[int, str]:
    assert chain.head is not None
    return chain.head.num, chain.head.header.state_root_hash
