"""What a node says of a CometBFT that it cannot use, or that has ended."""

import logging
from pathlib import Path
from queue import SimpleQueue

import pytest

from contracts.errors import RejectedError
from contracts.ledger.cometbft import process
from contracts.ledger.cometbft.process import CORES, SLACK_NS, Process, explained, find_program

LATE = 'E CONSENSUS FAILURE!!! err="block time 12:35 is too far in the future (wall clock 11:35)"'
WAL = 'E failed writing to WAL err="write wal: no space left on device"'
HASH = "panic: wrong Block.Header.AppHash. Expected AA, got BB"
NO_SNAPSHOT = 'E State sync failed module=statesync err="state sync aborted"'
NOISE = "goroutine 1 [running]:"


@pytest.mark.parametrize(
    ("status", "lines", "words"),
    [
        (2, [HASH, NOISE], "this validator's blocks are not those that the network agreed on"),
        (None, [WAL, "E CONSENSUS FAILURE!!!", NOISE], "its disk is full"),
        (None, [LATE, NOISE], "clock is more than a minute behind the others'"),
        (None, ["E CONSENSUS FAILURE!!!"], "CometBFT gave up: E CONSENSUS FAILURE!!!"),
        (None, [NO_SNAPSHOT], "CometBFT took no snapshot: what there is of a chain is removed at"),
        (7, ["open config.toml: permission denied", " "], "ended with status 7: open config.toml"),
        (0, [], "ended with status 0: it wrote nothing"),
    ],
)
def test_the_reason_is_named(status: int | None, lines: list[str], words: str) -> None:
    assert words in explained(status, lines)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("echo 0.37.4", "says version '0.37.4', expected 0.38 or 0.39; install release 0.38"),
        ("echo v1.0.1", "says version 'v1.0.1', expected 0.38 or 0.39"),
        ("echo hello", "says version 'hello', expected 0.38 or 0.39"),
        ("echo broken >&2; exit 3", "exit status 3: broken"),
    ],
)
def test_another_version_is_refused(tmp_path: Path, said: str, why: str) -> None:
    program = tmp_path / "cometbft"
    program.write_text(f"#!/bin/sh\n{said}\n")
    program.chmod(0o700)
    with pytest.raises(RejectedError, match=why):
        find_program(str(program))
    program.write_text("#!/bin/sh\necho 0.38.26+abcdef\n")
    assert find_program(str(program)) == program


def said_by(folder: Path, line: str) -> str:
    """Return what a program in CometBFT's place says as its last word."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o700)
    ended: SimpleQueue[Exception] = SimpleQueue()
    running = Process(program, folder, folder / "abci", folder / "rpc", ended.put)
    running.start()
    try:
        return str(ended.get(timeout=60)).removeprefix("CometBFT ended with status 0: ")
    finally:
        running.stop()


@pytest.mark.parametrize(("set_by_operator", "found"), [(None, "2"), ("1", "1")])
def test_it_runs_on_two_cores_unless_the_operator_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_by_operator: str | None, found: str
) -> None:
    name = CORES[0]
    monkeypatch.delenv(name, raising=False)
    if set_by_operator is not None:
        monkeypatch.setenv(name, set_by_operator)
    assert said_by(tmp_path, f"echo cores=${name}") == f"cores={found}"


SLACK = "cat /proc/self/timerslack_ns"


def test_its_waits_may_end_later_and_it_gets_its_arguments(tmp_path: Path) -> None:
    """A program that it starts has the same, as its threads do."""
    said = said_by(tmp_path, f"echo $({SLACK}) $1 $2 $3")
    assert said == f"{SLACK_NS} start --home {tmp_path}"


def test_where_the_system_refuses_the_slack_it_runs_without_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(process, "SLACKENED", (*process.SLACKENED[:-1], "no number"))
    own = Path("/proc/self/timerslack_ns").read_text("ascii").strip()
    assert said_by(tmp_path, f"echo $({SLACK}) $1") == f"{own} start"
    assert "timer slack of CometBFT: 1: echo" in caplog.text
