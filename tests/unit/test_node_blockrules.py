"""sawtooth.validator.block_validation_rules: which values are honoured, and what they demand."""

from collections.abc import Iterator

import pytest

from contracts.address import NAMESPACE
from contracts.errors import RejectedError
from contracts.ledger.engine.genesis import TIMES_FIRST
from contracts.ledger.execution.blockrules import parse_rules
from contracts.ledger.execution.obeyed import may_change_obeyed, obeyed_after
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.nodes import StateTreeNode
from contracts.sawtooth.settings import BLOCK_VALIDATION_RULES


def headers(*names: str) -> list[TransactionHeader]:
    return [TransactionHeader(family_name=name, family_version="1.0") for name in names]


def test_the_lowest_limit_of_a_family_counts() -> None:
    rules = parse_rules(" NofX: 3 , a ; NofX:2,a;NofX:1,b;", injects=False)
    assert rules.limits == {"a": 2, "b": 1}
    assert rules.permit(rules.count(headers("a", "b", "a", "c", "c")))
    assert not rules.permit(rules.count(headers("a", "b", "b")))
    rules.check(rules.count(headers("a", "a")))
    with pytest.raises(InvalidTransactionError, match=r"2 transactions of family 'b': sawtooth\."):
        rules.check(rules.count(headers("b", "b")))


def test_rules_about_the_injected_transaction_hold_by_construction() -> None:
    assert not parse_rules(TIMES_FIRST, injects=True).limits
    assert not parse_rules("", injects=True).limits
    assert not parse_rules("NofX:0,block_info", injects=False).limits


@pytest.mark.parametrize(
    ("value", "injects", "expected"),
    [
        (TIMES_FIRST, False, "while sawtooth.validator.batch_injectors is block_info"),
        ("XatY:wayseal,0", True, "this node honours XatY:block_info,0 and local:0"),
        ("XatY:block_info,1", True, "this node honours"),
        ("local:0,1", True, "this node honours"),
        ("NofX:0,block_info", True, "expected at least 1 block_info"),
        ("NofX:1", True, "expected NofX:NUMBER,FAMILY"),
        ("NofX", True, "expected NofX:NUMBER,FAMILY"),
        ("NofX:x,a", True, "expected NofX:NUMBER,FAMILY"),
        ("NofX:1,a,b", True, "expected NofX:NUMBER,FAMILY"),
        ("XatY:block_info,-1", True, "expected NofX:NUMBER,FAMILY"),
        ("local:", True, "expected NofX:NUMBER,FAMILY"),
        ("NofX:1:a", True, "expected NofX:NUMBER,FAMILY"),
        ("AofB:1", True, "got 'AofB:1'"),
    ],
)
def test_what_cannot_be_honoured_is_refused(value: str, expected: str, *, injects: bool) -> None:
    with pytest.raises(RejectedError, match=BLOCK_VALIDATION_RULES) as caught:
        parse_rules(value, injects=injects)
    assert expected in str(caught.value)


def test_a_change_of_anything_that_a_block_obeys_is_noticed() -> None:
    asked: list[str] = []

    class Asked:
        def get(self, address: str) -> bytes | None:
            asked.append(address)
            return None

        def leaves(
            self, prefix: str = "", start: str = "", *, reverse: bool = False
        ) -> Iterator[tuple[str, bytes]]:
            assert (start, reverse) == ("", False)
            asked.append(prefix)
            return iter(())

        def way(self, target: str) -> Iterator[StateTreeNode]:
            raise AssertionError(target)

    obeyed_after(Asked())
    assert len(asked) > 1
    assert all(may_change_obeyed([place]) for place in asked)
    assert not may_change_obeyed([NAMESPACE + "00" * 32])
