"""Transactions on their way through a real CometBFT's mempool to the application."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.cometbft import admission
from contracts.ledger.cometbft.abci import AbciServer
from contracts.ledger.cometbft.home import RPC_BODY_BYTES_MAX, Pace, Peers, write_settings
from contracts.ledger.cometbft.process import find_program, run_program
from contracts.ledger.cometbft.rpc import Rpc
from contracts.ledger.cometbft.sender import Sender
from contracts.ledger.engine.submissions import Submission
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.abci_pb2 import (
    RequestCheckTx,
    ResponseCheckTx,
    ResponseCommit,
    ResponseFinalizeBlock,
    ResponseInfo,
    ResponseInitChain,
    ResponsePrepareProposal,
    ResponseProcessProposal,
)
from support.ledgers.heights import FOUNDER, POWERS, first_batches, heights
from support.ledgers.intkey_node import FAMILIES
from support.ledgers.nodes import intkey_batch
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

LONG = b"v" * 25_000
REFUSED = b"refused " + LONG


class Asked:
    """An application that takes no transaction into a block, and keeps what it is asked about."""

    def __init__(self) -> None:
        self.txs: list[bytes] = []
        self.failures: list[Exception] = []
        self.check: Callable[[RequestCheckTx], ResponseCheckTx] = refused

    def check_tx(self, request: RequestCheckTx) -> ResponseCheckTx:
        self.txs.append(request.tx)
        return self.check(request)

    @contextmanager
    def serving(self, at: Path) -> Iterator[None]:
        accept = ResponseProcessProposal(status=ResponseProcessProposal.ACCEPT)
        methods = {
            "info": lambda _: ResponseInfo(),
            "init_chain": lambda _: ResponseInitChain(),
            "check_tx": self.check_tx,
            "prepare_proposal": lambda _: ResponsePrepareProposal(),
            "process_proposal": lambda _: accept,
            "finalize_block": lambda _: ResponseFinalizeBlock(),
            "commit": lambda _: ResponseCommit(),
        }
        with AbciServer(at, methods, self.failures.append) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()


def refused(request: RequestCheckTx) -> ResponseCheckTx:
    return ResponseCheckTx(code=int(request.tx == REFUSED))


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def rpc(tmp_path: Path, asked: Asked) -> Iterator[Rpc]:
    """Run CometBFT, which asks the application."""
    program, socket = find_program(None), tmp_path / "rpc"
    run_program(program, "init", "--home", str(tmp_path))
    write_settings(tmp_path, "alone", Peers("127.0.0.1:0"), Pace())
    at = ("--proxy_app", f"unix://{tmp_path / 'abci'}", "--rpc.laddr", f"unix://{socket}")
    with asked.serving(tmp_path / "abci"):
        command = [str(program), "start", "--home", str(tmp_path), *at]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our program
        rpc = Rpc(socket)
        try:
            wait_until(socket.exists)
            yield rpc
        finally:
            rpc.close()
            process.kill()
            process.wait()


def test_the_application_was_asked_about_each_in_order_when_an_offer_returns(
    rpc: Rpc, asked: Asked
) -> None:
    txs = [b"%d" % number + LONG * (number % 2) for number in range(99)]
    assert rpc.offer([*txs, REFUSED]) == [""] * 100
    assert asked.txs == [*txs, REFUSED, b""]
    assert not asked.failures


def test_what_the_mempool_has_it_does_not_ask_about(rpc: Rpc, asked: Asked) -> None:
    assert rpc.offer([b"taken", REFUSED]) == ["", ""]
    first, second = rpc.offer([b"taken", REFUSED])
    assert "already exists in cache" in first
    assert second == ""
    assert asked.txs == [b"taken", REFUSED, b"", REFUSED, b""]


def test_no_batch_is_lost_for_which_the_mempool_has_no_room(
    rpc: Rpc, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come in one request. CometBFT takes none of this chain into a block."""
    monkeypatch.setattr(admission, "MEMPOOL_BATCHES", 10)
    mine = [verify_batch(intkey_batch(FOUNDER, number)) for number in range(20)]
    with heights(tmp_path / "chain", FAMILIES) as ledger:
        ledger.begin(first_batches(), POWERS)
        asked.check = ledger.application.check_tx
        sender = Sender(ledger.application, Rpc(tmp_path / "rpc"), lambda _: None)
        sender.start()
        try:
            sender.submit(Submission(mine, 10))
            wait_until(lambda: rpc.ask("num_unconfirmed_txs")["total"] == "10")
        finally:
            sender.stop()
            sender._rpc.close()  # noqa: SLF001 - no longer in use
        assert list(sender._sent) == [each.id for each in mine[:10]]  # noqa: SLF001
        assert [each.batch for each in sender._queue] == mine[10:]  # noqa: SLF001


def test_a_request_that_is_refused_whole_says_why(rpc: Rpc, asked: Asked) -> None:
    with pytest.raises(UnavailableError, match=r"answers other questions than were asked: .*large"):
        rpc.offer([bytes(RPC_BODY_BYTES_MAX)])
    assert not asked.txs


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_engine_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    """Where nobody listens, httpcore leaves its socket open, of which the interpreter warns."""
    rpc = Rpc(tmp_path / "nobody")
    with pytest.raises(UnavailableError, match="CometBFT beside this node does not answer"):
        rpc.offer([LONG])
    rpc.close()
