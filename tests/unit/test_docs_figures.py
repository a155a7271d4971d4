"""Each figure that has a goal stands in docs/performance.md, with the command that repeats it."""

from typing import Final

import pytest

from storage.bench.goals.goals import DEVICE_GOALS, LEDGER_GOALS, STORAGE_GOALS, Goals
from support.project.pages import ROOT

PAGE: Final = (ROOT / "docs" / "performance.md").read_text("utf-8")
COMMANDS: Final = {
    "make bench-ledger": LEDGER_GOALS,
    "make bench-storage": STORAGE_GOALS,
    "make bench-device": DEVICE_GOALS,
}


@pytest.mark.parametrize(("command", "goals"), COMMANDS.items(), ids=COMMANDS)
def test_each_figure_with_a_goal_is_on_the_page(command: str, goals: Goals) -> None:
    assert f"\n    {command}\n" in PAGE
    assert [name for name in goals if f"`{name}`" not in PAGE] == []
