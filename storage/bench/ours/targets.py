"""What must be reached, and how what was reached stands beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.files import write_file

EVERYONE_READS: Final = 0o644


@dataclass(frozen=True, slots=True)
class Target:
    """One figure's bound.

    Attributes:
        words: What it is.
        bound: The least, or with `most` the most, that it may be.
        unit: Of both.
        most: Whether less is better.
    """

    words: str
    bound: float
    unit: str
    most: bool = False

    def met_by(self, value: float) -> bool:
        """Say whether a value is good enough."""
        return value <= self.bound if self.most else value >= self.bound


Targets = Mapping[str, Target]
"""By the names of the figures."""


def missed(figures: Mapping[str, float], targets: Targets) -> list[str]:
    """Return the names of the figures that are not good enough."""
    return [
        name
        for name, target in targets.items()
        if name in figures and not target.met_by(figures[name])
    ]


def row(name: str, value: float, targets: Targets) -> str:
    """Return one line of the table for people."""
    target = targets.get(name)
    if target is None:
        return f"{name:28} {value:>12,.2f}"
    word = "at most" if target.most else "at least"
    verdict = "ok" if target.met_by(value) else "MISSED"
    return (
        f"{name:28} {value:>12,.2f} {target.unit:6} {word} {target.bound:,g}: {verdict:6} "
        f"{target.words}"
    )


def written(figures: Mapping[str, Any], path: Path) -> str:
    """Write figures as one JSON object on a line, as a whole; return the line."""
    text = json.dumps(figures)
    temporary = path.with_suffix(".json.new")
    write_file(path, f"{text}\n".encode(), temporary=temporary, mode=EVERYONE_READS)
    return text
