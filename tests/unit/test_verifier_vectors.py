"""The published table says what the first verifier says, of the files that are published."""

import json
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.errors import RejectedError
from contracts.evidence.trust import Trust
from contracts.rec20 import UNIT_CODES
from support.project.pages import ROOT
from support.verifier.cases import PUBLISHED, Case, cases, flips, path_of, told
from support.verifier.table import row
from support.verifier.trustfiles import trust_files

TABLE: Final[dict[str, Any]] = json.loads((PUBLISHED / "vectors.json").read_text("utf-8"))
STEP: Final = 97


@cache
def made() -> list[Case]:
    """Make the cases once, in the process that tests them: each process reads this file."""
    return list(cases())


@pytest.mark.parametrize("number", range(len(TABLE["cases"])))
def test_the_table_and_its_files_are_what_the_first_verifier_says(number: int) -> None:
    assert len(made()) == len(TABLE["cases"])
    case = made()[number]
    assert TABLE["cases"][number] == row(case)
    assert path_of(case.file).read_bytes() == case.wire


def test_the_table_has_every_verdict_on_files() -> None:
    words = {each["verdict"] for each in [*TABLE["cases"], *TABLE["altered"]]}
    assert words == {"holds", "unanchored", "format-1", "does-not-hold", "no-evidence"}


def test_altered_bytes_are_in_the_table() -> None:
    listed = [
        (each, place) for each in TABLE["altered"] for place in range(each["from"], each["to"] + 1)
    ]
    altered: list[Case] = [case for _, case in flips()]
    assert len(altered) == len(listed)
    for (each, place), case in list(zip(listed, altered, strict=True))[::STEP]:
        assert place == (case.change["flip"][0] if "flip" in case.change else case.change["cut"])
        outcome = told(case)
        assert {name: each[name] for name in outcome} == outcome


@pytest.mark.parametrize("number", range(len(TABLE["trust_files"])))
def test_trust_files_are_read_as_the_table_says(number: int, tmp_path: Path) -> None:
    row = TABLE["trust_files"][number]
    assert row == list(trust_files())[number]
    path = tmp_path / "trust.json"
    path.write_bytes(bytes.fromhex(row["hex"]))
    with nullcontext() if row["read"] else pytest.raises(RejectedError, match="trust file"):
        Trust.load(path)


def test_the_second_verifier_knows_the_same_units() -> None:
    text = (ROOT / "web" / "verifier" / "src" / "rules" / "rec20.ts").read_text("utf-8")
    assert frozenset(text.split("`")[1].split()) == UNIT_CODES
