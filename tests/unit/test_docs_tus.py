"""docs/tus.md names tests that exist."""

import re
from pathlib import Path

import pytest

from support.project.pages import ROOT

FILES = {
    "": "integration/test_uploads_protocol.py",
    "routes": "integration/test_uploads_routes.py",
    "gateway": "integration/test_gateway_rest.py",
    "headers": "unit/test_uploads_headers.py",
}
ROWS = [
    row.split("|")
    for row in (ROOT / "docs/tus.md").read_text("utf-8").partition("\n## A POST")[0].splitlines()
    if re.match(r"\| [^-]", row) and not row.startswith("| clause")
]


def test_every_clause_has_its_row() -> None:
    assert len(ROWS) > 25


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1].strip()[:40])
def test_a_clause_names_its_tests(row: list[str]) -> None:
    _, _, does, tests, _ = row
    assert does.strip()
    named = re.findall(r"(?:(\w+): )?`(test_\w+)`", tests)
    assert named
    file = ""
    for prefix, name in named:
        file = prefix or file
        text = Path(ROOT / "tests" / FILES[file]).read_text("utf-8")
        assert f"def {name}(" in text, f"{file}: {name}"
