"""The project's Markdown pages and their parts: links, code, tables."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
PAGES: Final = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE: Final = re.compile(r"`([^`\n]+)`")


def name_of(page: Path) -> str:
    """Return a page's path from the root of the repository; names its tests."""
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def inline_code(page: Path) -> list[str]:
    """Return the inline code of a page."""
    return _INLINE.findall(prose(page))


def code_lines(page: Path) -> Iterator[str]:
    """Yield the lines of code blocks, fenced or indented; one that ends in a backslash goes on."""
    fenced, waiting = False, ""
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            waiting += line.strip()
            if waiting.endswith("\\"):
                waiting = waiting[:-1]
                continue
            yield waiting
            waiting = ""


def rows(page: Path, heading: str) -> Iterator[list[str]]:
    """Yield the cells of every table row below a heading, up to the next heading."""
    text = page.read_text("utf-8").split(f"\n{heading}\n", 1)[1]
    for line in re.split(r"^#", text, maxsplit=1, flags=re.MULTILINE)[0].splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]
