"""Evidence files of format 1 that were recorded before format 2 existed keep their verdict."""

import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.evidence.expected import ANYTHING, Expected
from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import verify_evidence

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "evidence-v1"
NAMES: Final = sorted(path.stem for path in GOLDEN.glob("*.evidence"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_file_keeps_its_verdict(name: str) -> None:
    told = verdict(name, Expected(format_1=True))
    recorded = json.loads((GOLDEN / f"{name}.verdict.json").read_text())
    assert told["verdict"] == "holds"
    assert _with(told, recorded) == recorded
    assert "format 1 does not prove" in told["not_shown"][0]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_enough_only_for_a_reader_who_says_so(name: str) -> None:
    """Else a forger would write format 1 again and leave out what format 2 proves."""
    assert verdict(name, ANYTHING)["verdict"] == "format-1"


def verdict(name: str, expected: Expected) -> dict[str, Any]:
    wire = (GOLDEN / f"{name}.evidence").read_bytes()
    trust = Trust.load(GOLDEN / f"{name}.keys.json")
    return as_json(verify_evidence(io.BytesIO(wire), trust, [], expected))


def _with(told: Any, recorded: Any) -> Any:  # noqa: ANN401 - JSON
    """Return of `told` what was told when `recorded` was."""
    match recorded:
        case dict():
            return {key: _with(told[key], value) for key, value in recorded.items()}
        case list():
            return [_with(*pair) for pair in zip(told, recorded, strict=True)]
        case _:
            return told


def test_three_files_were_recorded() -> None:
    assert NAMES == ["left-out", "rich", "story"]
