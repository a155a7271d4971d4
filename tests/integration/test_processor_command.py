"""`wayseal-tp` as a process: it waits for a validator, comes back to it, and leaves in order."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import address
from support.ledgers.processors import WAIT_S, processing, wayseal_processor
from support.ledgers.rest_hosts import Ledgers, ledgers
from support.network.world import registrations

pytestmark = pytest.mark.integration

COMMAND = [sys.executable, "-m", "contracts.ledger.processor.wayseal_tp"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Ledgers]:
    with ledgers(tmp_path, elsewhere=True) as made:
        yield made


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=WAIT_S, check=False
    )


def test_help_has_examples_and_exit_statuses() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "wayseal-tp --connect tcp://" in done.stdout
    assert "exit status" in done.stdout


@pytest.mark.parametrize("arguments", [[], ["--connect", "nonsense"], ["--connect", "tcp://x"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("wayseal-tp: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_while_nobody_answers_it_says_so_and_can_be_ended(
    tmp_path: Path, number: signal.Signals
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    log = tmp_path / "log"
    with processing([*COMMAND, "--connect", f"tcp://127.0.0.1:{port}"], log) as processor:
        process = processor.process
        while not log.read_text().count("nobody answers"):
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(WAIT_S) == 0
    assert f"nobody answers at tcp://127.0.0.1:{port}" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_its_log_is_json_where_asked(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    log = tmp_path / "log"
    words = [*COMMAND, "--log-format", "json", "--connect", f"tcp://127.0.0.1:{port}"]
    with processing(words, log) as processor:
        while not log.read_text().count("nobody answers"):
            assert processor.process.poll() is None
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["level"] for line in lines} == {"warning"}
    assert f"nobody answers at tcp://127.0.0.1:{port}" in lines[-1]["message"]


def test_it_comes_back_to_a_validator_that_restarts(elsewhere: Ledgers) -> None:
    for _ in range(3):
        with elsewhere.fresh() as ledger:
            ledger.apply_all(registrations())
            assert ledger.state(address.delivery("delivery-1")) is not None


def test_it_leaves_in_order(tmp_path: Path) -> None:
    with (
        ledgers(tmp_path, elsewhere=True) as made,
        made.fresh() as ledger,
        wayseal_processor(made.component, tmp_path) as second,
    ):
        second.ready()
        ledger.apply_all(registrations()[:4])
        assert second.stop() == 0
        ledger.apply_all(registrations()[4:])
    assert "Traceback" not in (tmp_path / "wayseal-tp.stderr").read_text()
