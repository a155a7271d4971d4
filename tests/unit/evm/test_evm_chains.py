"""Chains at URLs: how the benchmark reaches them, and which ones it refuses."""

import asyncio
import ssl
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.place import TLS_VARIABLES
from storage.bench.ledger.evm.chain import Agreement, Chain
from storage.bench.ledger.evm.contract import read_contract
from storage.bench.ledger.evm.driver import commit
from storage.bench.ledger.evm.preparing import network
from storage.bench.ledger.evm.reader import EvmReader
from storage.bench.ledger.evm.signing import address_of
from storage.bench.servers.processes import ask
from support.bench.evm import AT, CHAIN, Node, answering, served
from support.machine.pki import Pki


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


def test_a_chain_with_validators_says_how_many_may_fail() -> None:
    code = {"eth_getCode": read_contract().deployed}
    asked = {**CHAIN, **code, "qbft_getValidatorsByBlockNumber": lambda _: ["a", "b", "c", "d"]}
    with answering(Node(asked)) as url:
        found = network("lab", url, 1, contract=AT, chain_id="7")
    assert found.described["validators"] == 4
    assert found.guarantee.faults == "1 of 4 validators may stop or lie."
    assert found.terms.gas_price == 0
    few = replace(found, validators=Agreement("QBFT", 3))
    assert few.guarantee.faults == "None: with fewer than four validators no one may fail."
    with answering(Node({**CHAIN, **code})) as url:
        found = network("lab", url, 1, contract=AT)
    assert "validators" not in found.described
    assert found.guarantee.finality == "Not known here: as its operator says."


@pytest.mark.parametrize(
    ("answers", "arguments", "words"),
    [
        ({}, {"chain_id": "8"}, "expected chain 8, got chain 7"),
        ({"eth_getCode": "0x"}, {"contract": AT}, "got no contract; did the chain begin again"),
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


def test_a_file_without_a_key_is_refused_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "key"
    for text in ("secret words", "0x" + "00" * 32, "ff" * 32):  # the last two: not in the group
        file.write_text(text)
        with pytest.raises(RejectedError, match="a private key is 64 hexadecimal digits") as told:
            network("lab", "http://127.0.0.1:1", 1, key_file=str(file))
        assert text.removeprefix("0x") not in str(told.value)
