"""Fleets of test machines: the first of two that ends does not cut the other one off."""

from pathlib import Path

import pytest

from support.field.host import forwarding, share_fairly


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    made = tmp_path / "ip_forward"
    made.write_text("0\n")
    return made


def test_the_last_one_puts_back_what_was_before(switch: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first, second = forwarding(state, switch), forwarding(state, switch)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert switch.read_text() == "1"
    second.__exit__(None, None, None)
    assert switch.read_text().strip() == "0"
    assert not state.exists()


def test_a_fleet_that_was_killed_counts_no_more(switch: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("0 999999999")
    switch.write_text("1")
    with forwarding(state, switch):
        assert switch.read_text() == "1"
    assert switch.read_text() == "0"


def test_each_machine_counts_as_one_process(tmp_path: Path) -> None:
    shares = tmp_path / "cpu.shares"
    share_fairly(shares)
    assert not shares.exists()  # a kernel with version 2 of cgroups
    shares.write_text("1024\n")
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    share_fairly(shares)
    assert shares.read_text() == "3072"
