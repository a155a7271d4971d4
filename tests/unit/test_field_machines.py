"""Two fleets of test machines at once: the first that ends does not cut the other one off."""

from pathlib import Path

import pytest

from support.field.machines import forwarding


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
