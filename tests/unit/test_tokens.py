"""The token file: read again whenever it changes, and gone when it is gone."""

from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.access import Caller, Role, Tokens


def test_a_token_names_its_caller_until_it_is_replaced(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    first = tokens.add("truck-7", Role.DEVICE)
    assert tokens.caller(first) == Caller("truck-7", Role.DEVICE)
    second = tokens.add("truck-7", Role.DEVICE)
    assert tokens.caller(first) is None
    assert tokens.caller(second) == Caller("truck-7", Role.DEVICE)


def test_no_token_outlives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    token = tokens.add("auditor", Role.AUDITOR)
    assert tokens.caller(token) is not None
    path.unlink()
    assert tokens.caller(token) is None


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnavailableError, match="file"):
        Tokens(tmp_path / "file" / "tokens.json").add("operator", Role.OPERATOR)
