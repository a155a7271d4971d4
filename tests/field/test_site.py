"""`make docs`: a site without a broken link, which needs no network and can be searched."""

import re
import subprocess
from pathlib import Path

import pytest

from support.project import releases
from support.project.pages import ROOT

pytestmark = pytest.mark.field

LOADED = re.compile(r'<(?:script|img|iframe|source)[^>]* src="([^"]+)"|<link[^>]* href="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    releases.tools("docs")
    out = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "site", out], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_each_page_is_there_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {
        *(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")),
        Path("changelog.md"),
    }
    made = {path.relative_to(site) for path in site.rglob("*.html")}
    assert {page.with_suffix(".html") for page in pages} <= made
    for page in made:
        text = (site / page).read_text("utf-8")
        addresses = {first or second for first, second in LOADED.findall(text)}
        assert not [each for each in addresses if "://" in each or each.startswith("//")], page


def test_the_search_has_the_words_of_the_pages(site: Path) -> None:
    index = next(path for path in site.rglob("*search*") if path.suffix in (".js", ".json"))
    assert "provisional receipt" in index.read_text("utf-8")
