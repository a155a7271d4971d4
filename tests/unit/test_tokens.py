"""The token file: read again whenever it changes, and gone when it is gone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from gateway.access import Caller, Role, Tokens
from storage.checked.damage import DamageNotes


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


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    names = [f"truck-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda name: Tokens(path).add(name, Role.DEVICE), names))
    callers = [Tokens(path).caller(token) for token in made]
    assert [caller.name if caller else None for caller in callers] == names


@pytest.mark.parametrize("damaged", [b"", b'{"truck-7": ', b"[]", b'{"truck-7": 1}', b"[" * 99_999])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    token = tokens.add("truck-7", Role.DEVICE)
    path.write_bytes(damaged)
    with pytest.raises(RejectedError, match="token file"):
        tokens.caller(token)


def test_a_rotten_entry_hurts_that_entry_alone(tmp_path: Path) -> None:
    """Whichever bit of the file flips: the other token works, and nobody gets another's name."""
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    made = {name: tokens.add(name, Role.DEVICE) for name in ("truck-1", "truck-2", "truck-3")}
    wire = path.read_bytes()
    for place in range(len(wire)):
        damage = DamageNotes()
        rotten = bytearray(wire)
        rotten[place] ^= 1 << place % 8
        path.write_bytes(rotten)
        found = Tokens(path, damage)
        callers = {name: found.caller(token) for name, token in made.items()}
        admitted = {name: caller.name for name, caller in callers.items() if caller}
        assert all(name == said for name, said in admitted.items())
        assert len(admitted) >= len(made) - 1, bytes(rotten)
        assert len(admitted) == len(made) or damage.told()
