"""The dashboard, read strictly by Grafana's schema: the Foundation SDK made from Grafana's sources.

Grafana itself cannot be had from a package registry. Go builds the reader once, in some minutes.
"""

import copy
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from support.field.machines import command
from support.project.alerts import FOLDER
from support.project.pages import ROOT

pytestmark = [
    pytest.mark.field,
    pytest.mark.skipif(shutil.which("go") is None, reason="not installed: go"),
]

SOURCES: Final = ROOT / "tests" / "support" / "field" / "grafana"
READER: Final = ROOT / "build" / "field" / "grafana-schema"
EXPORTED: Final = {"__inputs", "__requires"}
"""What an exported dashboard has besides; Grafana's import takes it out."""
FILLED_IN: Final = re.compile(r"\.(options|current)\.\w+: required field is missing from input$")
"""A panel of Grafana's fills in what it lacks of its own options."""


@pytest.fixture(scope="module")
def dashboard() -> dict[str, Any]:
    told = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    assert told.keys() >= EXPORTED
    return {name: value for name, value in told.items() if name not in EXPORTED}


@pytest.fixture(scope="module")
def reader() -> Path:
    READER.parent.mkdir(parents=True, exist_ok=True)
    command("env", "-C", SOURCES, "go", "build", "-o", READER, ".")
    return READER


def read(reader: Path, dashboard: dict[str, Any]) -> list[str]:
    """Return what the schema does not have, or has otherwise."""
    said = command(reader, given=json.dumps(dashboard)).splitlines()
    return [line for line in said if not FILLED_IN.search(line)]


def test_grafana_s_schema_has_all_of_it(reader: Path, dashboard: dict[str, Any]) -> None:
    assert read(reader, dashboard) == []


def _misspelt(dashboard: dict[str, Any]) -> None:
    dashboard["refreshes"] = "30s"


def _strange_panel(dashboard: dict[str, Any]) -> None:
    _panel(dashboard, "stat")["options"]["reduce"] = {}


def _wrong_type(dashboard: dict[str, Any]) -> None:
    _panel(dashboard, "timeseries")["gridPos"]["h"] = "tall"


def _panel(dashboard: dict[str, Any], kind: str) -> dict[str, Any]:
    found = next(each for each in dashboard["panels"] if each["type"] == kind)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (_misspelt, "refreshes"),
        (_strange_panel, "reduce"),
        (_wrong_type, "cannot unmarshal string"),
    ],
)
def test_what_it_does_not_have_is_named(
    reader: Path,
    dashboard: dict[str, Any],
    spoil: Callable[[dict[str, Any]], None],
    named: str,
) -> None:
    spoilt = copy.deepcopy(dashboard)
    spoil(spoilt)
    assert named in read(reader, spoilt)[0]
