"""One word for one concept: class names within a room, and the words of the glossary."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from support.project.pages import ROOT

ROW = re.compile(r"^\| (?P<word>[^|]+?) \|", re.MULTILINE)
HEADINGS = ("word", "---")


def public_classes(module: Path) -> list[str]:
    body = ast.parse(module.read_text("utf-8")).body
    classes = [each.name for each in body if isinstance(each, ast.ClassDef)]
    return [name for name in classes if not name.startswith("_")]


@pytest.mark.parametrize("room", ["contracts", "device", "storage", "gateway"])
def test_no_two_public_classes_of_a_room_share_a_name(room: str) -> None:
    found = [
        (name, str(path.relative_to(ROOT)))
        for path in sorted((ROOT / room).rglob("*.py"))
        if not path.stem.endswith("_pb2")
        for name in public_classes(path)
    ]
    count = Counter(name for name, _ in found)
    assert [(name, path) for name, path in found if count[name] > 1] == []
    assert found


def test_the_glossary_defines_each_word_once() -> None:
    rows = ROW.findall((ROOT / "docs/glossary.md").read_text("utf-8"))
    words = [word.strip() for row in rows for word in row.lower().split(",")]
    defined = [word for word in words if word not in HEADINGS]
    assert [word for word, times in Counter(defined).items() if times > 1] == []
    assert defined
