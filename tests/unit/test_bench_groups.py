"""Control groups of a benchmark, of both versions of the kernel's interface."""

import os
import subprocess
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from storage.bench.ledger.memory import memory_group, oom_kills, why_unlimited
from storage.bench.servers.groups import control_group, joining

GONE = 1 << 30
"""No process has such an id."""


def root(directory: Path, *, second: bool) -> Path:
    """Return a folder that looks like the kernel's."""
    (directory / "memory").mkdir()
    if second:
        (directory / "cgroup.controllers").touch()
    return directory


def test_a_limit_of_version_2_lies_below_the_root(tmp_path: Path) -> None:
    with memory_group(123, root(tmp_path, second=True)) as group:
        assert group.parent == tmp_path
        assert {file.name: file.read_text() for file in group.iterdir()} == {"memory.max": "123"}


def test_a_limit_of_version_1_lies_below_its_controller(tmp_path: Path) -> None:
    with memory_group(123, root(tmp_path, second=False)) as group:
        assert group.parent == tmp_path / "memory"
        assert [file.name for file in group.iterdir()] == ["memory.limit_in_bytes"]


def test_a_group_without_a_limit_is_removed_at_the_end(tmp_path: Path) -> None:
    with memory_group(None, root(tmp_path, second=False)) as group:
        assert list(group.iterdir()) == []
    assert not group.exists()


def test_a_group_that_can_not_be_removed_yet_stands_in_no_way(tmp_path: Path) -> None:
    """The kernel keeps a group whose last process is still ending."""
    above = root(tmp_path, second=False) / "memory"
    with memory_group(None, tmp_path) as first:
        (first / "cgroup.procs").touch()
    with memory_group(None, tmp_path) as second:
        assert second != first
    assert list(above.iterdir()) == [first]
    assert first.name.startswith(f"wayseal-bench-{os.getpid()}-")  # a later run may remove it


def test_the_groups_of_killed_runs_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    above = root(tmp_path, second=False) / "memory"
    others = ["system.slice", "wayseal-bench-1-abc", "wayseal-bench-notes"]
    for name in (f"wayseal-bench-{GONE}-abc", *others):
        (above / name).mkdir()
    with memory_group(None, tmp_path):
        pass
    assert sorted(each.name for each in above.iterdir()) == others


def test_a_machine_that_lets_nobody_limit_memory_says_why(tmp_path: Path) -> None:
    assert why_unlimited(root(tmp_path, second=False)) == ""
    assert "no control group for memory here: " in why_unlimited(tmp_path / "nowhere")
    with pytest.raises(UnavailableError, match="cpu"), control_group("cpu", {}, {}, tmp_path):
        pytest.fail("a group was made")


@pytest.mark.parametrize("name", ["memory.events", "memory.oom_control"])
def test_the_processes_that_the_kernel_ended_are_counted(tmp_path: Path, name: str) -> None:
    assert oom_kills(tmp_path) == 0
    (tmp_path / name).write_text("under_oom 0\noom_kill 2\n")
    assert oom_kills(tmp_path) == 2


def test_a_command_joins_its_group_before_it_begins(tmp_path: Path) -> None:
    assert joining(None, ["cat"]) == ["cat"]
    command = ["sh", "-c", "echo $$ $0", "it's"]
    done = subprocess.run(  # noqa: S603 - a fixed command
        joining(tmp_path, command), capture_output=True, text=True, check=True
    )
    joined = (tmp_path / "cgroup.procs").read_text().strip()
    assert done.stdout.split() == [joined, "it's"]
