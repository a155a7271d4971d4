"""The site's navigation in mkdocs.yml has every page once."""

import re

from support.project.pages import ROOT

PLACES = re.findall(r"(?m)^ +- .+: ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"))
ADDED = {"changelog.md"}
"""Pages that scripts/site makes."""


def test_every_page_has_its_place() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    missing = sorted((pages | ADDED) - set(PLACES))
    assert not missing, f"mkdocs.yml, nav: give a place to {', '.join(missing)}"
    assert len(PLACES) == len(set(PLACES))
    assert set(PLACES) <= pages | ADDED
