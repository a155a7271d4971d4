"""What docs/containers.md tells to type, as a script for bash."""

import shutil
from pathlib import Path
from typing import Final

from support.containers.engine import Engine
from support.project.pages import ROOT
from support.project.typed import PASTED

PAGE: Final = ROOT / "docs" / "containers.md"
_LEFT_OUT: Final = (".git", ".venv", "build", ".*_cache", ".hypothesis", "__pycache__", "*.so")


def section(heading: str) -> list[str]:
    """Return the lines to type below a heading of the page, up to the next of its level."""
    text = PAGE.read_text("utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [line.strip() for line in text.splitlines() if line.startswith("    ")]


def checkout(directory: Path) -> Path:
    """Return a copy of this checkout, so that what the page makes is the test's own."""
    there = directory / "checkout"
    shutil.copytree(ROOT, there, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    (there / "build").mkdir()
    return there


def type_lines(engine: Engine, there: Path, lines: list[str]) -> str:
    """Paste lines into bash, beside the engine; return what they printed.

    As in a terminal, a command that reads its input would take the lines after it.
    """
    return engine.run(*PASTED, cwd=there, given="\n".join(lines) + "\n")
