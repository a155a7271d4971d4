"""Transactions stay within what they declare, and a batch is all or nothing."""

from collections.abc import Callable

import pytest

from contracts.keys import Signer
from contracts.ledger.execution import executor as executor_module
from contracts.ledger.execution.executor import (
    MESSAGE_CHARS_MAX,
    READ_BYTES_REMEMBERED,
    READS_REMEMBERED,
    Changes,
    Execution,
    InvalidTransaction,
    execute,
    reader,
    remembering,
)
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.verify import VerifiedBatch, verify_batch
from contracts.proto.sawtooth_pb2 import StateChange, Transaction, TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.batches import Family, build_batch, build_transaction

SIGNER = Signer.generate()
FAMILY = Family("probe", "1.0")
INSIDE, BESIDE, OUTSIDE = "aa" * 35, "aa" * 34 + "bb", "cc" * 35
Action = Callable[[Context], None]


def nothing(_: str) -> bytes | None:
    return None


def batch_of(*scopes: tuple[list[str], list[str]]) -> VerifiedBatch:
    return verify_batch(
        build_batch(SIGNER, [transaction(number, *scope) for number, scope in enumerate(scopes)])
    )


def transaction(number: int, inputs: list[str], outputs: list[str]) -> Transaction:
    return build_transaction(
        SIGNER,
        FAMILY,
        bytes((number,)),
        batcher_public_key=SIGNER.public_key,
        inputs=inputs,
        outputs=outputs,
    )


def families(*actions: Action) -> Families:
    def apply(_: TransactionHeader, payload: bytes, _id: str, context: Context) -> None:
        actions[payload[0]](context)

    return {FAMILY: apply}


@pytest.mark.parametrize("scope", ["", "aa", INSIDE])
def test_prefixes_allow(scope: str) -> None:
    def action(context: Context) -> None:
        context.set(INSIDE, b"1")
        assert context.get(INSIDE) == b"1"
        context.delete(INSIDE)
        assert context.get(INSIDE) is None

    result = execute(batch_of(([scope], [scope])), families(action), nothing)
    assert isinstance(result, Execution)
    assert result.changes == {INSIDE: None}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda context: context.get(OUTSIDE), f"Tried to get unauthorized address: ['{OUTSIDE}']"),
        (
            lambda context: context.set(OUTSIDE, b""),
            f"Tried to set unauthorized address: ['{OUTSIDE}']",
        ),
        (
            lambda context: context.delete(OUTSIDE),
            f"Tried to delete unauthorized address: ['{OUTSIDE}']",
        ),
        (lambda context: context.set("aa", b""), "Tried to set unauthorized address: ['aa']"),
        (lambda context: context.get("aa" * 34 + "AA"), "Tried to get unauthorized address"),
    ],
)
def test_outside_is_refused(action: Action, message: str) -> None:
    result = execute(batch_of((["aa"], ["aa"])), families(action), nothing)
    assert isinstance(result, InvalidTransaction)
    assert result.message.startswith(message)


@pytest.mark.parametrize("scope", ["a", "AA", "zz", "aa" * 36, "aa\n"])
def test_malformed_scope_is_refused(scope: str) -> None:
    scopes: list[tuple[list[str], list[str]]] = [([scope], []), ([], [scope])]
    for declared in scopes:
        result = execute(batch_of(declared), families(lambda _: None), nothing)
        assert isinstance(result, InvalidTransaction)
        assert "is not valid" in result.message


def test_no_scope_allows_nothing() -> None:
    result = execute(
        batch_of(([], [])), families(lambda context: _drop(context.get(INSIDE))), nothing
    )
    assert isinstance(result, InvalidTransaction)


def _drop(_: object) -> None:
    return None


def test_receipts_list_inputs_first() -> None:
    def action(context: Context) -> None:
        for address in (OUTSIDE, "dd" * 35, BESIDE, INSIDE):
            context.set(address, b"1")
        context.delete(BESIDE)

    result = execute(
        batch_of((["cc", INSIDE, BESIDE], ["aa", "cc", "dd"])), families(action), nothing
    )
    assert isinstance(result, Execution)
    (receipt,) = result.receipts
    assert [(change.address, change.type) for change in receipt.state_changes] == [
        (INSIDE, StateChange.SET),
        (OUTSIDE, StateChange.SET),
        ("dd" * 35, StateChange.SET),
        (BESIDE, StateChange.DELETE),
    ]


def test_later_transactions_see_earlier_ones_and_receipts_say_who_did_what() -> None:
    def first(context: Context) -> None:
        context.set(INSIDE, b"1")
        context.set(BESIDE, b"2")

    def second(context: Context) -> None:
        assert context.get(INSIDE) == b"1"
        context.delete(INSIDE)
        context.set(BESIDE, b"3")
        context.add_event("probe/done", {"k": "v"}, b"d")

    batch = batch_of((["aa"], ["aa"]), (["aa"], ["aa"]))
    result = execute(batch, families(first, second), nothing)
    assert isinstance(result, Execution)
    assert result.changes == {INSIDE: None, BESIDE: b"3"}
    one, two = result.receipts
    assert [(change.address, change.value) for change in one.state_changes] == [
        (INSIDE, b"1"),
        (BESIDE, b"2"),
    ]
    assert [(change.address, change.type) for change in two.state_changes] == [
        (BESIDE, StateChange.SET),
        (INSIDE, StateChange.DELETE),
    ]
    assert [event.event_type for event in two.events] == ["probe/done"]
    assert two.transaction_id == batch.batch.transactions[1].header_signature


def test_one_refusal_voids_the_batch() -> None:
    def refuse(_: Context) -> None:
        raise InvalidTransactionError("x" * 5_000)

    batch = batch_of((["aa"], ["aa"]), ([], []))
    result = execute(batch, families(lambda context: context.set(INSIDE, b"1"), refuse), nothing)
    assert result == InvalidTransaction(
        batch.batch.transactions[1].header_signature, "x" * MESSAGE_CHARS_MAX
    )


@pytest.mark.parametrize(
    "step",
    [
        lambda context: context.set(INSIDE, bytes(50)),  # what it overwrites took time too
        lambda context: context.delete(INSIDE),
        lambda context: context.add_event("probe", {"k": "v" * 50}),
        lambda context: context.add_event("probe", {}, bytes(50)),
    ],
    ids=["set", "delete", "attributes", "data"],
)
def test_effects_of_a_batch_are_bounded(step: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "EFFECT_BYTES_MAX", 1_000)
    steps = 0

    def act(context: Context) -> None:
        nonlocal steps
        for _ in range(6):
            step(context)
            steps += 1

    batch = batch_of(*[(["aa"], ["aa"])] * 9)
    result = execute(batch, families(*[act] * 9), nothing)
    assert isinstance(result, InvalidTransaction)
    assert result.message == "effects of a batch beyond 1000 bytes"
    assert 6 < steps < 20


def test_receipts_take_no_more_than_is_counted() -> None:
    def act(context: Context) -> None:
        for number in range(100):
            context.set(f"{number:02x}" * 35, bytes(number * 200))
            context.add_event("probe/done", {"k": "\N{SNOWMAN}" * number}, bytes(number * 200))
        context.delete(INSIDE)

    result = execute(batch_of(([], [""])), families(act), nothing)
    assert isinstance(result, Execution)
    for receipt in result.receipts:
        receipt.ClearField("transaction_id")
    assert 0 <= result.size - sum(receipt.ByteSize() for receipt in result.receipts) < 200 * 10


def test_a_failing_family_is_one_invalid_batch() -> None:
    def fail(_: Context) -> None:
        raise ZeroDivisionError

    result = execute(batch_of(([], [])), families(fail), nothing)
    assert isinstance(result, InvalidTransaction)
    assert result.message == "internal error of family 'probe'"


def test_more_addresses_than_are_remembered_are_checked_too() -> None:
    inside = [f"aa{number:068x}" for number in range(200)]

    def action(context: Context) -> None:
        for address in inside * 2:
            assert context.get(address) is None

    assert isinstance(execute(batch_of((["aa"], [])), families(action), nothing), Execution)
    refused = execute(
        batch_of((["aa"], [])), families(lambda context: context.set(inside[0], b"")), nothing
    )
    assert isinstance(refused, InvalidTransaction)
    assert refused.message == f"Tried to set unauthorized address: ['{inside[0]}']"


def test_a_remembered_read_gives_way_to_a_change() -> None:
    asked: list[str] = []
    changes: Changes = {}

    def below(address: str) -> bytes | None:
        asked.append(address)
        return b"old" if address == INSIDE else None

    read = reader(remembering(below), changes)
    assert [read(INSIDE), read(INSIDE), read(OUTSIDE), read(OUTSIDE)] == [
        b"old",
        b"old",
        None,
        None,
    ]
    assert asked == [INSIDE, OUTSIDE]
    changes[INSIDE] = b"new"
    assert read(INSIDE) == b"new"


def test_what_a_block_remembers_is_bounded() -> None:
    asked: list[str] = []

    def below(address: str) -> bytes | None:
        asked.append(address)
        return bytes(READ_BYTES_REMEMBERED + 1) if address == "large" else b""

    read = remembering(below)
    read("large")
    read("large")
    for number in range(READS_REMEMBERED + 1):
        read(str(number))
    assert asked[:3] == ["large", "large", "0"]
    read("0")
    read(str(READS_REMEMBERED))
    assert asked.count("0") == 1
    assert asked.count(str(READS_REMEMBERED)) == 2
