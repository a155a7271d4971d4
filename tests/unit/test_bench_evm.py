"""What the benchmark signs for an EVM, and what it makes of a node's answers."""

import argparse
import asyncio
import importlib
import ssl
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.place import TLS_VARIABLES
from storage.bench.ledger import evm
from storage.bench.ledger.evm import driver as drivers
from storage.bench.ledger.evm.chain import Chain
from storage.bench.ledger.evm.contract import read_contract
from storage.bench.ledger.evm.driver import EvmDriver, commit
from storage.bench.ledger.evm.options import add_options, evms
from storage.bench.ledger.evm.preparing import network
from storage.bench.ledger.evm.reader import EvmReader
from storage.bench.ledger.evm.signing import (
    EvmLoad,
    Terms,
    address_of,
    address_of_first,
    invocation,
)
from storage.bench.ledger.evm.wire import Sent, group, group_id, parts
from storage.bench.ledger.family import PUT, Call
from storage.bench.ledger.family import address_of as place_of
from storage.bench.ledger.papers import PaperLoad
from storage.bench.ledger.workloads import (
    BEP_23,
    DEPENDENT,
    DO_NOTHING,
    READINGS,
    RUNS,
    SMALL_BANK,
    LedgerWorkload,
)
from storage.bench.servers.processes import ask
from storage.bench.trucks.signed import sources_of
from support.bench.evm import Answer, Refused, answering, served
from support.bench.stages import setup_on
from support.machine.pki import Pki

TERMS = Terms(7, 5, "0xCfEB869F69431e42cdB54A4F4f105C19C080A601")
SENDER = bytes(range(20))


def sent(number: int, nonce: int = 0) -> Sent:
    return Sent(bytes([number]) * 32, SENDER, nonce, bytes([number]) * 9)


@pytest.mark.parametrize("workload", [READINGS, RUNS, SMALL_BANK, DEPENDENT, DO_NOTHING])
def test_a_load_is_signed_by_new_accounts_in_order(workload: LedgerWorkload) -> None:
    load = EvmLoad(workload.load("-x", 2, 0.5, 1, 1), TERMS)
    account = importlib.import_module("eth_account").Account
    groups = list(load.wires(3))
    assert groups == list(load.wires(3))  # the same each time
    found = [each for _, wire in groups for each in parts(wire)]
    assert [each.nonce for each in found] == list(range(2 * workload.per_batch))
    assert len({each.digest for each in found}) == len(found)
    (sender,) = {each.sender for each in found}
    assert account.recover_transaction(found[1].raw).lower() == f"0x{sender.hex()}"
    others = {
        each.sender for lane in (0, 1) for _, wire in load.wires(lane) for each in parts(wire)
    }
    assert len(others | {sender}) == 3
    paid = {address.lower(): wei for address, wei in load.costs().items()}
    assert paid[f"0x{sender.hex()}"] > 0


def test_the_libraries_leave_the_depth_of_recursion_alone() -> None:
    """Deeply nested JSON is to be an error; it ended the process that had imported web3."""
    assert Chain.__module__ in sys.modules
    assert sys.getrecursionlimit() < 10_000


def test_each_reading_has_its_own_digest() -> None:
    """A run of 60 readings is one record: its digest is that of the run."""
    for workload in (READINGS, RUNS):
        load = EvmLoad(workload.load("-x", 1, 0.5, 1, 1), TERMS)
        raws = [each.raw for _, wire in load.wires(0) for each in parts(wire)]
        assert len({raw[-100:-67] for raw in raws}) == workload.per_batch


def test_a_bep_23_transaction_has_its_size_to_the_octet() -> None:
    load = EvmLoad(BEP_23.load("-x", 40, 1.0, 1, 1), TERMS)
    sizes = {size for lane in (0, 1) for _, wire in load.wires(lane) for _, size in
             EvmReader("").parts(wire)}  # fmt: skip
    assert sizes == {765}


def test_the_contract_s_address_is_that_of_its_creator_s_first_transaction() -> None:
    """The example is that of Ethereum's own tests of CREATE."""
    assert (
        address_of_first("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0")
        == "0xcd234A471b72ba2F1Ccf0A70FCABA648a5eeCD8d"
    )


def test_a_value_keeps_its_octets_in_a_call() -> None:
    call = invocation(Call(PUT, (place_of("a"),), b"12345"), pays=False)
    assert call.data[-5:] == b"12345"
    assert int.from_bytes(call.data[68:100]) == 5
    more = invocation(Call(PUT, (place_of("a"),), bytes(1_000)), pays=False)
    assert more.gas > call.gas


def test_a_group_that_is_cut_short_is_refused() -> None:
    name, wire = group([sent(1), sent(2, 1)])
    assert list(parts(wire)) == [sent(1), sent(2, 1)]
    assert len(name) == 128
    for size in (1, 63, 70, len(wire) - 1):
        with pytest.raises(RejectedError, match="cut short"):
            list(parts(wire[:size]))


class Node:
    """Takes what it is sent; makes a block of it when it is asked for its height."""

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self.answers = answers or {}
        self.waiting: list[str] = []
        self.blocks: list[list[str]] = [[]]

    def __call__(self, method: str, parameters: list[Any]) -> object:
        if method in self.answers:
            found = self.answers[method]
            return found(*parameters) if callable(found) else found
        match method:
            case "eth_sendRawTransaction":
                return self.send(*parameters)
            case "eth_blockNumber":
                return self.height()
            case "eth_getBlockReceipts":
                return self.receipts(*parameters)
            case _:
                raise KeyError(method)

    def send(self, raw: str) -> str:
        self.waiting.append("0x" + raw[2:4] * 32)
        return self.waiting[-1]

    def height(self) -> str:
        if self.waiting:
            self.blocks.append(self.waiting)
            self.waiting = []
        return hex(len(self.blocks) - 1)

    def receipt(self, number: int, name: str) -> dict[str, str]:
        return {
            "transactionHash": name, "status": "0x1", "gasUsed": "0x5", "blockNumber": hex(number),
        }  # fmt: skip

    def receipts(self, number: str) -> list[dict[str, str]]:
        at = int(number, 16)
        return [self.receipt(at, name) for name in self.blocks[at]]


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


@pytest.mark.parametrize("head", [None, 5, [], "5", "0xzz"])
def test_a_height_that_is_none_is_one_clear_error(head: object) -> None:
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


def test_a_server_that_is_no_evm_is_told() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(404)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    with served(Page) as url:
        with pytest.raises(RejectedError, match="expected the JSON-RPC of an EVM at http"):
            Chain.open(url)
        with pytest.raises(RejectedError, match=r"got HTTP 404: b'hello'"):
            asyncio.run(commit(url, ()))
    with pytest.raises(UnavailableError, match="does not answer"):
        Chain.open(url)
    with pytest.raises(UnavailableError, match="does not answer"):
        asyncio.run(commit(url, ()))


AT = "0x" + "ab" * 20
CHAIN = {"eth_chainId": "0x7", "web3_clientVersion": "besu/v1", "eth_gasPrice": "0x0"}


def test_no_other_server_is_asked_than_the_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with answering(Node(CHAIN)) as url:

        class Elsewhere(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.send_response(307)
                self.send_header("Location", url)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        with (
            served(Elsewhere) as other,
            pytest.raises(RejectedError, match="expected the JSON-RPC of an EVM at http"),
        ):
            Chain.open(other)
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        Chain.open(url).close()


def test_both_clients_believe_whom_the_operator_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pki = Pki(tmp_path / "pki")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki.certificate, pki.key)
    with answering(Node(CHAIN), tls) as url:
        with pytest.raises(UnavailableError, match="does not answer"):
            Chain.open(url)
        with pytest.raises(UnavailableError, match="does not answer"):
            EvmReader(url).head()
        monkeypatch.setenv("WAYSEAL_LEDGER__TLS_CA", str(pki.ca))
        monkeypatch.setenv("WAYSEAL_DATA", "a live gateway's")
        Chain.open(url).close()
        assert EvmReader(url).head() == 0
    said = "import os; print(*[name for name in os.environ if name.startswith('WAYSEAL_')])"
    command = ["python", "-c", said]  # as the loader, which is a process of its own
    assert ask(command, kept=TLS_VARIABLES).split() == ["WAYSEAL_LEDGER__TLS_CA"]
    assert ask(command).split() == []


def test_signed_files_are_made_again_when_a_module_of_their_bytes_changes() -> None:
    names = sources_of(EvmLoad(BEP_23.load("", 1, 1.0, 1, 1), TERMS))
    own = "storage.bench.ledger."
    assert {f"{own}evm.wire", f"{own}family", f"{own}papers", "contracts.sawtooth.batches"} <= names
    assert f"{own}evm.driver" not in names


def test_a_chain_with_validators_says_how_many_may_fail() -> None:
    code = {"eth_getCode": read_contract().deployed}
    asked = {**CHAIN, **code, "qbft_getValidatorsByBlockNumber": lambda _: ["a", "b", "c", "d"]}
    with answering(Node(asked)) as url:
        found = network("lab", url, 1, contract=AT, chain_id="7")
    assert found.described["validators"] == 4
    assert found.guarantee.faults == "1 of 4 validators may stop or lie."
    assert found.terms.gas_price == 0
    with answering(Node({**CHAIN, **code})) as url:
        found = network("lab", url, 1, contract=AT)
    assert "validators" not in found.described
    assert found.guarantee.finality == "Not known here: as its operator says."


@pytest.mark.parametrize(
    ("answers", "arguments", "words"),
    [
        ({}, {"chain_id": "8"}, "expected chain 8, got chain 7"),
        ({"eth_getCode": "0x"}, {"contract": AT}, "got no contract; was the chain made anew"),
        ({"eth_getCode": "0x6001"}, {"contract": AT}, "got another contract of 2 bytes"),
        ({}, {"contract": "0x12"}, "expected 0x and 40 hex digits, got '0x12'"),
        ({"eth_gasPrice": "0x9", "eth_accounts": []}, {}, "wants 9 wei for .* expected --evm-key"),
        ({}, {"key_file": "missing"}, "--evm-key missing"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_clear_error(
    answers: dict[str, Any], arguments: dict[str, str], words: str
) -> None:
    with answering(Node({**CHAIN, **answers})) as url, pytest.raises(RejectedError, match=words):
        network("lab", url, 1, **arguments)


def test_an_account_with_too_little_is_named(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("0x" + "11" * 32 + "\n")
    asked = {**CHAIN, "eth_gasPrice": "0x9", "eth_getBalance": "0x5"}
    with answering(Node(asked)) as url:
        has = f"wei on {address_of(bytes([0x11]) * 32)} for this load, got 5"
        with pytest.raises(RejectedError, match=has):
            network("lab", url, 1, key_file=str(file))
    file.write_text("secret words")
    with pytest.raises(RejectedError, match="expected 64 hex digits, got 12 characters") as told:
        network("lab", url, 1, key_file=str(file))
    assert "secret" not in str(told.value)


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group("ledger"))
    return parser.parse_args(words)


HIDDEN = "s3cr3t"


def test_a_url_s_key_comes_from_a_file_and_is_never_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "url"
    for word in (
        f"lab=http://me:{HIDDEN}@h:1", f"lab=http://h:1/{HIDDEN}", f"lab=http://h:1?k={HIDDEN}",
        f"lab=ftp://{HIDDEN}", "lab=@/missing", f"lab=http://h:{HIDDEN}",
    ):  # fmt: skip
        with pytest.raises(SystemExit):
            options("--evm", word)
        said = capsys.readouterr().err
        assert "expected NAME=http://HOST:PORT or NAME=@FILE" in said
        assert HIDDEN not in said
    file.write_text(f"http://127.0.0.1:1/v3/{HIDDEN}?key={HIDDEN}\n")
    ((_, url),) = options("--evm", f"lab=@{file}").evm
    assert HIDDEN in url
    with pytest.raises(UnavailableError, match=r"http://127\.0\.0\.1:1 does not answer") as told:
        network("lab", url, 1)
    assert HIDDEN not in str(told.value)
    with pytest.raises(UnavailableError) as told:
        asyncio.run(commit(url, ()))
    assert HIDDEN not in str(told.value)
    with answering(Node({**CHAIN, "eth_getCode": read_contract().deployed})) as at:
        found = network("lab", f"{at}/v3/{HIDDEN}", 1, contract=AT)
        assert HIDDEN not in f"{found} {found.described}"
        with pytest.raises(RejectedError, match="expected chain 8") as wrong:
            network("lab", f"{at}/v3/{HIDDEN}", 1, chain_id="8")
    assert HIDDEN not in str(wrong.value)


def test_a_key_pays_on_a_named_chain_alone(tmp_path: Path) -> None:
    given = options("--evm", "lab=http://127.0.0.1:1", "--evm-key", "lab=file")
    with (
        setup_on(tmp_path / "s", "a") as setup,
        pytest.raises(RejectedError, match="--evm-key lab: expected --evm-chain lab=ID beside it"),
    ):
        list(evms(given, setup))


def test_without_its_library_an_evm_is_refused_with_the_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("preparing", "chain"):  # as if they had not been imported before
        monkeypatch.delitem(sys.modules, f"storage.bench.ledger.evm.{name}", raising=False)
        monkeypatch.delattr(evm, name, raising=False)
    monkeypatch.setitem(sys.modules, "web3", None)
    with setup_on(tmp_path, "a") as setup:
        with pytest.raises(RejectedError, match=r"scripts/install bench-ledgers installs it"):
            list(evms(options("--evm", "lab=http://127.0.0.1:1"), setup))
        assert list(evms(options(), setup)) == []


def test_options_for_a_name_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with setup_on(tmp_path, "a") as setup:
        for word in ("key", "contract", "chain"):
            words = (f"--evm-{word}", "b=1")
            with pytest.raises(RejectedError, match=f"--evm-{word}: expected a name of --evm"):
                list(evms(options(*words), setup))


def test_a_program_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with setup_on(tmp_path / "s", "a") as setup:
        for program in ("anvil", "geth"):
            with pytest.raises(RejectedError, match=f"expected {program} in the PATH: "):
                list(evms(options("--evm-node", program), setup))


def test_records_are_filled_by_an_account_of_their_own() -> None:
    load = EvmLoad(PaperLoad("k", 2, 5, 5, 45, 0.5, pays=False, seed=1), TERMS)
    found = [list(parts(wire)) for wire in load.filling()]
    assert [len(each) for each in found] == [20, 20, 5]
    assert len(load.costs()) == 3
    assert EvmLoad(BEP_23.load("", 1, 1.0, 1, 1), TERMS).costs().keys().isdisjoint(load.costs())
