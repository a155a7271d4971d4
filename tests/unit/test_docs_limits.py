"""docs/limits.md gives every limit its value, and forgets none."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from support.project.pages import ROOT

PAGE = ROOT / "docs" / "limits.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([^|]+) \| `([\w/]+\.py)` \| \S.* \|$", re.MULTILINE)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
PACKAGES = ("contracts", "device", "gateway", "storage")
A_LIMIT = re.compile(r"[A-Z_]+_(?:MAX|MAX_S|MIN|LIMIT_S|TIMEOUT_S|TRIES|KEPT|SOFT)")


def value_of(words: str) -> object:
    """Return the number, or numbers, that a cell of the table says."""
    *numbers, unit = words.replace(",", "").split() if " " in words else (words, "")
    values = tuple(float(number) * UNITS.get(unit, 1) for number in numbers)
    return values[0] if len(values) == 1 else values


def named_limits() -> Iterator[tuple[str, str]]:
    """Yield module and name of every public constant that is named as a limit."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    name = node.target.id
                    if A_LIMIT.fullmatch(name) and not name.startswith("_"):
                        yield path.relative_to(ROOT).as_posix(), name


def test_the_page_says_what_the_code_says() -> None:
    listed = ROW.findall(PAGE.read_text("utf-8"))
    assert len(listed) == PAGE.read_text("utf-8").count("\n| `")
    for name, words, path in listed:
        module = importlib.import_module(Path(path).with_suffix("").as_posix().replace("/", "."))
        assert value_of(words) == getattr(module, name), f"{path}: {name}"


def test_no_limit_is_forgotten() -> None:
    listed = {(path, name) for name, _, path in ROW.findall(PAGE.read_text("utf-8"))}
    assert set(named_limits()) - listed == set()
