"""Whatever is posted as a BatchList, the node answers 202 or one clear error, and goes on.

WAYSEAL_FUZZ_CASES sets how many bodies of each kind are posted, 200 by default: random bytes, valid
lists with damage, and lists whose every signature holds over headers that make no sense.
"""

import hashlib
import itertools
import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    BatchList,
    Transaction,
    TransactionHeader,
)
from support.ledgers.intkey_node import FAMILIES, NAMESPACE
from support.ledgers.nodes import OCTETS, Node, intkey_batch, running

pytestmark = pytest.mark.integration

CASES: Final = int(os.environ.get("WAYSEAL_FUZZ_CASES", "200"))
SIGNER: Final = Signer.generate()
WHOLE: Final = BatchList(batches=[intkey_batch(SIGNER, 0, 2)]).SerializeToString()
NUMBERS: Final = itertools.count(1_000)
FUZZ: Final = settings(
    max_examples=CASES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

places = st.integers(0, len(WHOLE) - 1)
words = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["", "00", NAMESPACE, NAMESPACE + "00" * 32, "zz", "0" * 128, "\x00", "é"]),
)


def usually(value: str) -> st.SearchStrategy[str]:
    """Return `value`, and anything else now and then, so that most bodies get far."""
    return st.integers(0, 9).flatmap(lambda number: words if number == 9 else st.just(value))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a valid list with some bytes changed, cut out, repeated or put in."""
    wire = bytearray(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted((draw(places), draw(places)))
        match draw(st.integers(0, 3)):
            case 0:
                wire[start : start + 1] = draw(st.binary(min_size=1, max_size=1))
            case 1:
                del wire[start:end]
            case 2:
                wire[end:end] = wire[start:end]
            case _:
                wire[start:start] = draw(st.binary(max_size=20))
    return bytes(wire)


@st.composite
def transactions(draw: st.DrawFn) -> Transaction:
    """Return a transaction with a true signature over a header of anything."""
    payload = draw(st.binary(max_size=40))
    digest = hashlib.sha512(payload).hexdigest()
    family = draw(st.sampled_from(list(FAMILIES)))  # of others a batch waits for a processor
    header = TransactionHeader(
        family_name=family.name,
        family_version=family.version,
        inputs=draw(st.lists(words, max_size=4)),
        outputs=draw(st.lists(words, max_size=4)),
        dependencies=draw(st.lists(words, max_size=2)),
        nonce=draw(words),
        payload_sha512=draw(usually(digest)),
        signer_public_key=draw(usually(SIGNER.public_key)),
        batcher_public_key=draw(usually(SIGNER.public_key)),
    ).SerializeToString()
    return Transaction(header=header, header_signature=SIGNER.sign(header), payload=payload)


@st.composite
def signed_nonsense(draw: st.DrawFn) -> bytes:
    """Return a list whose signatures all hold."""
    inside = draw(st.lists(transactions(), max_size=3))
    names = [transaction.header_signature for transaction in inside]
    header = BatchHeader(
        signer_public_key=draw(usually(SIGNER.public_key)),
        transaction_ids=[draw(usually(name)) for name in names],
    ).SerializeToString()
    batch = Batch(header=header, header_signature=SIGNER.sign(header), transactions=inside)
    return BatchList(batches=[batch] * draw(st.integers(1, 2))).SerializeToString()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(tmp_path_factory.mktemp("fuzz") / "data") as node:
        yield node
        node.commit(intkey_batch(SIGNER, next(NUMBERS)))
        assert node.stop() == 0


@FUZZ
@given(st.binary(max_size=200))
def test_random_bytes(node: Node, body: bytes) -> None:
    post(node, body)


@FUZZ
@given(damaged())
def test_damaged_lists(node: Node, body: bytes) -> None:
    post(node, body)


@FUZZ
@given(signed_nonsense())
def test_signed_nonsense(node: Node, body: bytes) -> None:
    post(node, body)


def post(node: Node, body: bytes) -> None:
    answer = node.client.post("/batches", content=body, headers=OCTETS)
    assert answer.status_code in (202, 400)
    if answer.status_code == 400:
        assert answer.json()["error"]["code"] in (30, 34, 35)
        return
    names = [batch.header_signature for batch in BatchList.FromString(body).batches]
    statuses = node.client.post("/batch_statuses?wait=30", json=names).json()["data"]
    assert all(entry["status"] in ("COMMITTED", "INVALID", "UNKNOWN") for entry in statuses)


def test_a_valid_batch_commits_after_all_that(node: Node) -> None:
    node.commit(intkey_batch(SIGNER, next(NUMBERS)))
