"""docs/architecture.md shows the whole house: each room, each folder in it, each decision."""

import re
from pathlib import Path
from typing import Final

import pytest

from support.project.pages import ROOT

PAGE: Final = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROW: Final = re.compile(r"^\| `([\w/]+)/` \| (.*) \| .* \|$", re.MULTILINE)
ROOMS: Final = ("contracts", "contracts/ledger", "device", "storage", "gateway")
UNSAID: Final = {"commands"}
"""What wayseal's commands do is in their help."""


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def folders(room: Path) -> set[str]:
    return {each.parent.name for each in room.glob("*/__init__.py")} - UNSAID


@pytest.mark.parametrize("room", ROOMS)
def test_each_folder_of_a_room_is_in_the_table(room: str) -> None:
    rows = dict(ROW.findall(section("The house")))
    named = set(re.findall(r"`(\w+)/`", rows[room]))
    apart = {path.rpartition("/")[2] for path in rows if path.startswith(f"{room}/")}
    assert sorted(folders(ROOT / room) - named - apart) == []


def test_each_decision_is_in_the_list() -> None:
    listed = re.findall(r"^\[\d{4}\]\(adr/([\w.-]+)\)", section("Decisions"), re.MULTILINE)
    assert listed == sorted(path.name for path in (ROOT / "docs" / "adr").glob("*.md"))
