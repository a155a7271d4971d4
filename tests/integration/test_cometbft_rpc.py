"""Transactions on their way into a real CometBFT, short ones together and long ones as forms."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.cometbft.process import find_program, run_program
from contracts.ledger.cometbft.rpc import FORM_BYTES_MIN, Rpc
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

LONG = b"v" * FORM_BYTES_MIN


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Path]:
    """Run CometBFT with the application that is built into it; yield its socket."""
    program, socket = find_program(None), tmp_path / "rpc"
    run_program(program, "init", "--home", str(tmp_path))
    options = ("--rpc.laddr", f"unix://{socket}", "--p2p.laddr", "tcp://127.0.0.1:0")
    command = [str(program), "start", "--home", str(tmp_path), "--proxy_app", "kvstore", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our program
    try:
        wait_until(socket.exists)
        yield socket
    finally:
        process.kill()
        process.wait()


def test_answers_come_in_the_order_of_the_transactions(engine: Path) -> None:
    rpc = Rpc(engine)
    refused = b"without a value" + LONG
    answers = rpc.broadcast([b"a=1", b"b=" + LONG, b"c", b"d=2", refused, b"e=" + LONG])
    assert [bool(answer["code"]) for answer in answers] == [False, False, True, False, True, False]
    again = rpc.broadcast([b"a=1", b"b=" + LONG])
    assert all("already exists in cache" in answer["error"] for answer in again)
    rpc.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_engine_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    """Where nobody listens, httpcore leaves its socket open, of which the interpreter warns."""
    rpc = Rpc(tmp_path / "nobody")
    with pytest.raises(UnavailableError, match="CometBFT beside this node does not answer"):
        rpc.broadcast([LONG])
    rpc.close()
