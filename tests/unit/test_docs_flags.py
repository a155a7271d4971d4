"""docs/benchmarks.md explains every flag that a figure may have, once."""

import re

from storage.bench.run.flags import Flag
from support.project.pages import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"


def test_every_flag_is_explained_once() -> None:
    table = PAGE.read_text("utf-8").split("\n## Flags\n")[1].split("\n## ")[0]
    explained = re.findall(r"^\| `([A-Z ]+)` \| \S", table, re.MULTILINE)
    assert sorted(explained) == sorted(Flag)
