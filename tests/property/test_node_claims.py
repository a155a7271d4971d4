"""Who waits for whom: the same as by looking at all pairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.keys import Signer
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.ledger.solo import claims as claims_module
from contracts.ledger.solo.claims import Claims
from contracts.sawtooth.batches import Family, build_batch, build_transaction

SIGNER = Signer.from_hex("22" * 32)
PLACES = st.text("0a", max_size=4).filter(lambda text: len(text) % 2 == 0)
DECLARED = st.lists(PLACES, max_size=3)
STEPS = st.lists(st.tuples(DECLARED, DECLARED, st.booleans()), max_size=12)


def batch_of(number: int, inputs: list[str], outputs: list[str]) -> VerifiedBatch:
    transaction = build_transaction(
        SIGNER,
        Family("x", "1"),
        str(number).encode(),
        batcher_public_key=SIGNER.public_key,
        inputs=inputs,
        outputs=outputs,
    )
    return verify_batch(build_batch(SIGNER, [transaction]))


def touches(one: list[str], other: list[str]) -> bool:
    return any(a.startswith(b) or b.startswith(a) for a in one for b in other)


def conflict(one: tuple[list[str], list[str]], other: tuple[list[str], list[str]]) -> bool:
    return touches(one[1], other[0] + other[1]) or touches(one[0], other[1])


@given(STEPS)
def test_everyone_waits_for_all_conflicts_and_for_nothing_else(
    steps: list[tuple[list[str], list[str], bool]],
) -> None:
    claims: Claims[int] = Claims()
    waits: dict[int, set[int]] = {}
    entered: dict[int, tuple[list[str], list[str]]] = {}
    for number, (inputs, outputs, leaves) in enumerate(steps):
        before = claims.enter(number, batch_of(number, inputs, outputs))
        assert before <= set(waits)
        behind = before.union(*(waits[other] for other in before)) & set(waits)
        waits[number] = behind
        mine = (inputs, outputs)
        assert all(conflict(mine, entered[other]) for other in before)
        assert {other for other in entered if conflict(mine, entered[other])} <= behind
        entered[number] = mine
        if leaves:
            first = next(other for other in waits if not waits[other] & set(waits))
            claims.leave(first)
            del waits[first], entered[first]
    for number in list(waits):
        claims.leave(number)
    assert not claims


def test_with_very_many_addresses_a_batch_waits_for_all_and_all_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims: Claims[int] = Claims()
    monkeypatch.setattr(claims_module, "CLAIMS_MAX", 20)
    many = [f"{number:070x}" for number in range(20)]
    assert claims.enter(0, batch_of(0, ["aa"], ["aa"])) == set()
    assert claims.enter(1, batch_of(1, ["bb"], ["bb"])) == set()
    assert claims.enter(2, batch_of(2, many, [])) == {0, 1}
    assert claims.enter(3, batch_of(3, ["cc"], ["cc"])) == {2}
    claims.leave(2)
    assert claims.enter(4, batch_of(4, ["dd"], ["dd"])) == set()


def test_a_dependency_is_waited_for_and_so_is_the_same_transaction() -> None:
    claims: Claims[int] = Claims()
    first = batch_of(0, [], [])
    assert claims.enter(0, first) == set()
    assert claims.enter(1, first) == {0}
    header = first.headers[0]
    header.dependencies.append(first.batch.transactions[0].header_signature)
    assert claims.enter(2, VerifiedBatch(batch_of(1, [], []).batch, [header], 0, 0)) == {1}
