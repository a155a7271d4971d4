"""The second verifier says what the first one says, in a real browser, from a file, offline."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support.machine.browser import Page, browser
from support.verifier.cases import PUBLISHED, path_of
from support.verifier.page import asked, shown

pytestmark = pytest.mark.e2e

TABLE: Final[dict[str, Any]] = json.loads((PUBLISHED / "vectors.json").read_text("utf-8"))
OUTCOME: Final = ("exit", "verdict", "problems")
GROUP: Final = 400


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield shown(tab)


@pytest.mark.parametrize("number", range(len(TABLE["cases"])))
def test_each_file_of_the_table(page: Page, number: int) -> None:
    case = TABLE["cases"][number]
    accept = case.get("accept_format_1", False)
    (found,) = asked(page, path_of(case["file"]).read_bytes(), case["trust"], [{}], accept=accept)
    assert found == {name: case[name] for name in OUTCOME}, case["file"]


def altered(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the changes that a row of the table stands for."""
    places = range(row["from"], row["to"] + 1)
    if row["how"] == "flip":
        return [{"flip": [at, at % 255 + 1], "sealed": row["sealed"]} for at in places]
    return [{"cut": at, "sealed": row["sealed"]} for at in places]


def test_each_byte_altered_and_each_cut(page: Page) -> None:
    small = TABLE["cases"][0]
    wire = path_of(small["file"]).read_bytes()
    todo = [(change, row) for row in TABLE["altered"] for change in altered(row)]
    assert len(todo) > 4 * (len(wire) - 100)
    wrong = []
    for at in range(0, len(todo), GROUP):
        group = todo[at : at + GROUP]
        found = asked(page, wire, small["trust"], [change for change, _ in group])
        for (change, row), said in zip(group, found, strict=True):
            if said != {name: row[name] for name in OUTCOME}:
                wrong.append((change, said, row))
    assert not wrong, (len(wrong), wrong[:5])


def test_the_page_asked_for_nothing(page: Page) -> None:
    shown(page)
    asked(page, path_of("small").read_bytes(), TABLE["cases"][0]["trust"], [{}])
    assert [each for each in page.asked_for if not each.startswith(("file:", "data:", "blob:"))] == []
    assert page.complaints == []
    assert page.value("fetch('https://example.org/').then(() => 'sent', () => 'refused')") == "refused"


def test_a_file_is_chosen_and_the_verdict_is_shown(page: Page, tmp_path: Path) -> None:
    shown(page)
    assert tmp_path.is_dir()
