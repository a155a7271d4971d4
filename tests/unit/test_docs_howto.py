"""docs/howto.md lists what has to be touched: whatever mentions the last one that was added."""

import re
import subprocess
from collections.abc import Iterator
from typing import Final

import pytest

from support.project.pages import ROOT

PAGE: Final = (ROOT / "docs" / "howto.md").read_text("utf-8")
NAMED: Final = re.compile(r"`([\w.-]+/[\w./-]+)`")
ROOMS: Final = ("contracts", "device", "storage", "gateway", "docs", "web")
NOT_OF_A_LIST: Final = re.compile(
    r"docs/(?:adr/|howto|performance)|gateway/web/|.*_pb2\.pyi?$|.*verify\.html$"
)
"""History, the lists themselves, and what a program makes."""
LAST: Final = {
    "A sensor": "sense-hat|sensehat|SenseHat",
    "A camera": '"rtsp"|`rtsp`',
    "A blob store": "cassandra",
    "An action": "CommitAccesses|commit_accesses",
    "An endpoint": "hold-ends",
    "A workload": "do-nothing|DO_NOTHING|Donothing",
}
"""What was added last of each kind, as files mention it."""
OWN: Final = {
    "contracts/proto/wire.proto",
    "docs/evidence.md",
    "gateway/people/committedheads.py",
}
"""What the last ones have besides, and the next ones need not have."""
NOT_FOR: Final = {"A blob store": ("docs/", "storage/bench/")}
"""Pages that tell of its servers, and its benchmark, where a list is about a store alone."""


def section(name: str) -> str:
    return PAGE.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


def mentions(pattern: str) -> Iterator[str]:
    """Yield the files that git knows and that mention something."""
    command = ["git", "grep", "-lE", pattern, "--", *ROOMS]
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in done.stdout.split():
        if not NOT_OF_A_LIST.match(name):
            yield name


@pytest.mark.parametrize("name", LAST)
def test_a_list_names_each_file_that_the_last_one_touched(name: str) -> None:
    named = NAMED.findall(section(name))
    missing = [
        file
        for file in mentions(LAST[name])
        if file not in OWN
        and not file.startswith(NOT_FOR.get(name, ()))
        and not any(file.startswith(each) if each[-1] == "/" else file == each for each in named)
    ]
    assert missing == []
