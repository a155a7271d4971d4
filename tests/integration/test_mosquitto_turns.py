"""Two processes that write mosquitto's folder at once leave the tokens of both in it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gateway.mosquitto.text import CONFIGURATION, PASSWORDS
from support.machine.mosquitto import tables
from support.machine.private import write_private
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

COMMAND: Final = Path(sys.executable).with_name("wayseal-gateway")
PATIENCE_S: Final = 60.0


def token_of(name: str, settings: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own command
        [COMMAND, "token", name, "--role", "device", "--config", settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def waits_for_a_lock(pid: int) -> bool:
    """Say whether a process is blocked by another one's file lock (proc(5), /proc/locks)."""
    lines = Path("/proc/locks").read_text("utf-8").splitlines()
    return any("->" in line and f" {pid} " in line for line in lines)


def opened_for_reading(pipe: Path) -> int | None:
    """Return the writing end of a pipe once somebody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def test_two_tokens_at_once_both_reach_the_folder(tmp_path: Path) -> None:
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, 1883, 8883)}'
    settings = write_private(tmp_path / "gateway.toml", text)
    pipe = tmp_path / "conf" / CONFIGURATION
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    with token_of("truck-1", settings) as first:
        ends: list[int | None] = []
        until(
            "the first has read the tokens",
            lambda: _noted(ends, opened_for_reading(pipe)),
            PATIENCE_S,
        )
        pipe.rename(tmp_path / "moved")  # the first goes on reading; the second finds no file
        with token_of("truck-2", settings) as second:
            until(
                "the second has written, or waits",
                lambda: second.poll() is not None or waits_for_a_lock(second.pid),
                PATIENCE_S,
            )
            assert ends[-1] is not None
            os.close(ends[-1])
            made = [json.loads(each.communicate(timeout=PATIENCE_S)[0]) for each in (first, second)]
    assert [each["name"] for each in made] == ["truck-1", "truck-2"]
    lines = (tmp_path / "conf" / PASSWORDS).read_text("utf-8").splitlines()
    assert [line.partition(":")[0] for line in lines] == ["gateway", "truck-1", "truck-2"]


def _noted(ends: list[int | None], end: int | None) -> bool:
    ends.append(end)
    return end is not None
