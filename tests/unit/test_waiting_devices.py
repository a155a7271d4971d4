"""The file of devices that wait for their keys on the ledger: damage is one clear error."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from gateway.pki.claims import ClaimCodes
from gateway.pki.unregistered import Unregistered

SINCE = "2026-03-02T06:00:00Z"


def test_a_device_that_was_added_is_there_until_it_is_forgotten(tmp_path: Path) -> None:
    waiting = Unregistered(tmp_path / "waiting.json")
    assert waiting.all() == {}
    waiting.add("truck-1", "02ab")
    assert waiting.all()["truck-1"]["public_key"] == "02ab"
    waiting.forget("truck-1")
    assert waiting.all() == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"truck-1": 5}',
        '{"truck-1": {}}',
        '{"truck-1": {"public_key": "02ab", "since": 5}}',
        '{"truck-1": {"public_key": "02ab", "since": "today"}}',
        f'{{"truck-1": {{"public_key": [1], "since": "{SINCE}"}}}}',
        "[" * 100_000,
    ],
    ids=range(8),
)
def test_a_damaged_file_is_named_with_its_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "waiting.json"
    path.write_text(text, "utf-8")
    with pytest.raises(RejectedError, match=f"waiting devices {path}: .*; remove the file"):
        Unregistered(path).all()


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"truck-1": {"sha256": "02ab", "expires": "today"}}'],
    ids=["nested", "no time"],
)
def test_a_damaged_file_of_claims_is_named_with_its_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "claims.json"
    path.touch(0o600)
    path.write_text(text, "utf-8")
    with pytest.raises(RejectedError, match=f"claim codes {path}: .*; remove the file"):
        ClaimCodes(path).open()
