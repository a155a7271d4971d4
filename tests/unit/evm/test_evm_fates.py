"""The driver of an EVM: when a group is committed, refused, reverted or missing."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.ledger.evm import driver as drivers
from storage.bench.ledger.evm.driver import EvmDriver, commit
from storage.bench.ledger.evm.reader import EvmReader
from storage.bench.ledger.evm.wire import group, group_id
from storage.bench.ledger.loader import LoadPlan, carried_out
from support.bench.evm import SENDER, Answer, Node, Refused, answering, sent


class Old(Node):
    """Knows no receipts of blocks, as GoQuorum."""

    def __call__(self, method: str, parameters: list[Any]) -> object:
        match method:
            case "eth_getBlockReceipts":
                raise KeyError(method)
            case "eth_getBlockByNumber":
                return {"transactions": self.blocks[int(parameters[0], 16)]}
            case "eth_getTransactionReceipt":
                (name,) = parameters
                (at,) = [at for at, names in enumerate(self.blocks) if name in names]
                return self.receipt(at, name)
            case _:
                return super().__call__(method, parameters)


class Dropping(Node):
    """Says that it has a transaction, and has not."""

    def send(self, raw: str) -> str:
        return "0x" + raw[2:4] * 32


def fates(node: Answer, wires: Sequence[bytes]) -> dict[str, str]:
    """Return the decisions of a node on groups; loops a few times at most."""

    async def run() -> dict[str, str]:
        driver = await EvmDriver.opener()(url)
        try:
            await driver.submit(wires)
            waiting = [group_id(wire) for wire in wires]
            found: dict[str, str] = {}
            for _ in range(5):
                left = [name for name in waiting if name not in found]
                if left:
                    found.update(await driver.decided(left))
            return found
        finally:
            driver.close()

    with answering(node) as url:
        return asyncio.run(run())


GROUPS = [group([sent(1), sent(2, 1)])[1], group([sent(3, 2)])[1]]


@pytest.mark.parametrize("kind", [Node, Old])
def test_a_group_is_committed_when_each_receipt_says_so(kind: type[Node]) -> None:
    assert list(fates(kind(), GROUPS).values()) == ["", ""]


def test_receipts_that_come_a_moment_later_are_waited_for() -> None:
    class Late(Node):
        asked = 0

        def receipts(self, number: str) -> Any:  # noqa: ANN401 - JSON
            self.asked += 1
            return None if self.asked < 3 else super().receipts(number)

    node = Late()
    assert list(fates(node, GROUPS).values()) == ["", ""]
    assert node.asked >= 3
    with answering(Late()) as url, pytest.raises(UnavailableError, match="of block 0, got none"):
        EvmReader(url).committed(0, (), ())


def test_a_revert_is_told_with_the_contract_s_words() -> None:
    def refuse(*_: object) -> str:
        raise Refused("execution reverted: expected a new digest, it is recorded")

    class Reverting(Node):
        def receipt(self, number: int, name: str) -> dict[str, str]:
            return {**super().receipt(number, name), "status": "0x0" if "02" in name else "0x1"}

    asked = {"from": "0x1", "to": "0x2", "input": "0x", "gas": "0x6"}
    node = Reverting({"eth_getTransactionByHash": lambda _: asked, "eth_call": refuse})
    first, second = fates(node, GROUPS).values()
    assert first == "reverted: execution reverted: expected a new digest, it is recorded"
    assert second == ""
    node = Reverting({"eth_getTransactionByHash": lambda _: {**asked, "gas": "0x5"}})
    first, _ = fates(node, GROUPS).values()
    assert first == "out of gas: 5 units were allowed"
    node = Reverting({"eth_getTransactionByHash": lambda _: asked, "eth_call": "0x"})
    first, _ = fates(node, GROUPS).values()
    assert first == "reverted; the same call on the state after its block is not"


@pytest.mark.parametrize(  # geth's words, Besu's, anvil's
    "known", ["already known", "Known transaction", "transaction already imported"]
)
def test_what_the_node_does_not_take_is_told_and_the_others_go_on(known: str) -> None:
    class Picky(Node):
        def send(self, raw: str) -> str:
            if raw.startswith("0x02"):
                raise Refused("unknown transaction type: known transaction types are 0 and 1")
            if raw.startswith("0x03"):
                super().send(raw)
                raise Refused(known)
            return super().send(raw)

    first, second = fates(Picky(), GROUPS).values()
    assert first == (
        "unknown transaction type: known transaction types are 0 and 1 "
        f"(nonce 1 of 0x{SENDER.hex()})"
    )
    assert second == ""


def test_a_full_pool_is_offered_the_rest_again() -> None:
    class Full(Node):
        refused = 0

        def send(self, raw: str) -> str:
            if raw.startswith("0x02") and self.refused < 2:
                self.refused += 1
                raise Refused("txpool is full")
            return super().send(raw)

    node = Full()
    assert list(fates(node, GROUPS).values()) == ["", ""]
    assert node.refused == 2


def test_a_pool_that_stays_full_ends_the_load_with_the_node_s_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: str) -> str:
        raise Refused("txpool is full")

    monkeypatch.setattr(drivers, "REFUSED_S", 0.0)
    node = Node({"eth_sendRawTransaction": refuse})
    for why in fates(node, GROUPS).values():
        assert why.startswith("txpool is full (nonce ")
        assert why.endswith("nothing was taken in 0 s")
    with answering(node) as url, pytest.raises(UnavailableError, match="txpool is full"):
        asyncio.run(commit(url, GROUPS))


def test_nonces_far_ahead_are_sent_later() -> None:
    """Besu refuses those that are more than 200 ahead of the account's."""

    class Besu(Node):
        refused = 0

        def send(self, raw: str) -> str:
            if len(self.waiting) >= 2:
                self.refused += 1
                self.height()
                raise Refused("Transaction nonce is too distant from current sender nonce")
            return super().send(raw)

    node = Besu()
    assert list(fates(node, GROUPS).values()) == ["", ""]
    assert node.refused == 1
    groups = [group([sent(number, number)])[1] for number in range(1, 30)]
    most: list[int] = []

    class Slow(Node):
        def send(self, raw: str) -> str:
            most.append(len(self.waiting) + 1)
            return super().send(raw)

    with answering(Slow()) as url:
        asyncio.run(commit(url, groups))
    assert len(most) == 29
    assert max(most) <= drivers.GROUPS_AHEAD


def test_what_was_sent_twice_is_committed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that the server's end of the connection cut off is sent again."""

    class Twice(Node):
        def send(self, raw: str) -> str:
            super().send(raw)
            raise Refused("Nonce too low: next nonce 4, tx nonce 1")

    assert list(fates(Twice(), GROUPS).values()) == ["", ""]

    def refuse(_: str) -> str:
        raise Refused("nonce too low: next nonce 4, tx nonce 1")

    monkeypatch.setattr(drivers, "STUCK_S", 0.0)
    other = Node({"eth_sendRawTransaction": refuse})
    for why in fates(other, GROUPS).values():
        assert why.startswith("nonce too low: next nonce 4, tx nonce 1 (nonce ")


@pytest.mark.parametrize(
    "receipt",
    [
        None, 5, {}, {"transactionHash": None}, {"transactionHash": "0xzz"},
        {"transactionHash": "0x00", "gasUsed": None, "blockNumber": "0x1"},
        {"transactionHash": "0x00", "gasUsed": "0x1", "blockNumber": 1, "status": "0x1"},
    ],
)  # fmt: skip
def test_a_node_that_answers_nonsense_is_one_clear_error(receipt: object) -> None:
    with pytest.raises(RejectedError, match="expected a "):
        fates(Node({"eth_getBlockReceipts": lambda _: [receipt]}), GROUPS)


@pytest.mark.parametrize("head", [None, 5, [], "5", "0xzz", "0x", "0x_1"])
def test_a_malformed_height_is_one_clear_error(head: object) -> None:
    with (
        answering(Node({"eth_blockNumber": lambda: head})) as url,
        pytest.raises(RejectedError, match="expected a number in hex from the node, got"),
    ):
        EvmReader(url).head()


def test_a_node_without_a_block_yet_is_asked_again() -> None:
    class Behind(Old):
        asked = 0

        def __call__(self, method: str, parameters: list[Any]) -> object:
            if method in {"eth_getBlockByNumber", "eth_getTransactionReceipt"}:
                self.asked += 1
                if self.asked in {1, 3}:
                    return None
            return super().__call__(method, parameters)

    assert list(fates(Behind(), GROUPS).values()) == ["", ""]


def test_a_nonce_gap_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "STUCK_S", 0.0)
    gap = [group([sent(9, 6)])[1]]
    (why,) = fates(Dropping({"eth_getTransactionCount": "0x4"}), gap).values()
    assert why.startswith(f"nonce gap: the chain expects nonce 4 of 0x{SENDER.hex()}, which sent 6")
    assert fates(Dropping({"eth_getTransactionCount": "0x6"}), gap) == {}  # its turn: it only waits


def test_what_a_load_needs_must_be_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "STUCK_S", 0.0)

    with answering(Node()) as url:
        asyncio.run(commit(url, GROUPS))
    with (
        answering(Dropping({"eth_getTransactionCount": "0x0"})) as url,
        pytest.raises(UnavailableError, match="nothing was committed"),
    ):
        asyncio.run(commit(url, GROUPS))


def test_a_loader_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    """Its caller showed the end of a trace of the loader's tasks."""
    path = tmp_path / "000.batches"
    name, wire = group([sent(1)])
    path.write_bytes(len(wire).to_bytes(4, "big") + name.encode() + wire)
    node = Node({"eth_getBlockReceipts": lambda _: [5]})
    with (
        answering(node) as url,
        pytest.raises(UnavailableError, match=r"^python failed: expected a receipt, got 5$"),
    ):
        carried_out(LoadPlan(url, [str(path)], 0, 1, engine="evm"))
