"""Events of the running machine: a line of JSON when a scenario begins and when it ends."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

NAME: Final = "events.jsonl"


@dataclass(frozen=True, slots=True)
class Begun:
    """A scenario began.

    Attributes:
        scenario: Its name.
        limit_s: It is hung when it takes longer.
    """

    scenario: str
    limit_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A scenario ended.

    Attributes:
        scenario: Its name.
        passed: Whether all that it asks for was seen.
        seen: What was seen, in one line.
        took_s: How long it took, by the machine's own clock.
    """

    scenario: str
    passed: bool
    seen: str
    took_s: float


def tell(path: Path, event: Begun | Ended) -> None:
    """Append an event."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(event)) + "\n")


def told(path: Path) -> Iterator[Begun | Ended]:
    """Yield what was told so far; a line that is still being written waits for the next time."""
    text = path.read_text("utf-8") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            fields = json.loads(line)
            yield Begun(**fields) if "limit_s" in fields else Ended(**fields)
