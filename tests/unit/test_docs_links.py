"""Every link leads somewhere, every file that is named exists, and nothing is left undone."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.project.pages import PAGES, ROOT, inline_code, name_of, prose

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PICTURES = sorted((ROOT / "docs" / "img").glob("*.svg"))
NAMED_FILE = re.compile(r"(?:contracts|demo|device|docs|gateway|scripts|storage|tests)/[\w./*-]*")
OF_A_MACHINE = re.compile(r"(?<![\w.:/])/(?:build|home|mnt|root|tmp|Users|work)\b")

every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


def anchors(page: Path) -> set[str]:
    """Return the names that headings of a page have in links."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(prose(page))
    }


@every_page
def test_links_resolve(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)} links to {link}"


@every_page
def test_files_that_are_named_exist(page: Path) -> None:
    for code in inline_code(page):
        if NAMED_FILE.fullmatch(code):
            assert list(ROOT.glob(code.rstrip("/"))), f"{name_of(page)} names {code}"


@every_page
def test_nothing_is_left_undone_or_names_a_machine(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"\b(?:TODO|FIXME|XXX|TBD)\b", text)
    assert not OF_A_MACHINE.search(text)


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(prose(page))
        if not link.startswith("https://")
    }
    assert [
        name_of(page) for page in PAGES if page not in linked and page.name != "README.md"
    ] == []


@pytest.mark.parametrize("picture", PICTURES, ids=name_of)
def test_pictures_parse_and_know_the_dark(picture: Path) -> None:
    text = picture.read_text("utf-8")
    picture_tree = ET.fromstring(text)  # noqa: S314  # our own file
    tags = {element.tag.rpartition("}")[2] for element in picture_tree.iter()}
    assert {"title", "desc", "style"} <= tags
    assert "prefers-color-scheme: dark" in text
