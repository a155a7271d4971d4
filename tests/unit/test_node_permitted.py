"""sawtooth.validator.transaction_families: what its values permit."""

import json

import pytest

from contracts.ledger.execution.permitted import Permitted, parse_permitted
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError


def permitted(*families: dict[str, object]) -> Permitted:
    return parse_permitted(json.dumps(families))


def header(name: str, version: str = "1.0", *outputs: str) -> TransactionHeader:
    return TransactionHeader(family_name=name, family_version=version, outputs=outputs)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "[]",
        "{}",
        "nonsense",
        "7",
        "null",
        "[7]",
        '[{"family": "a"}]',
        '[{"family": ["a"], "version": "1"}]',
        '[{"family": "a", "version": "1", "namespaces": "ab"}]',
        "[" * 100_000,
    ],
)
def test_what_is_no_list_of_families_permits_everything(value: str | None) -> None:
    parse_permitted(value).check(header("any", "1.0", "aa"))


def test_only_what_is_listed() -> None:
    rule = permitted({"family": "a", "version": "1.0"}, {"family": "b", "version": "2.0"})
    rule.check(header("a"))
    rule.check(header("b", "2.0", "anything"))
    for other in (header("b"), header("c")):
        with pytest.raises(InvalidTransactionError, match="is not listed"):
            rule.check(other)


def test_outputs_within_the_namespaces() -> None:
    rule = permitted({"family": "a", "version": "1.0", "namespaces": ["aa", "bb"]})
    rule.check(header("a", "1.0", "aa00", "bb"))
    with pytest.raises(InvalidTransactionError, match="output cc00 is in no namespace"):
        rule.check(header("a", "1.0", "aa00", "cc00"))
