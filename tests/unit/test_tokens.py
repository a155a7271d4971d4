"""The token file: read again whenever it changes, and gone when it is gone."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from gateway.access import Caller, Role, TokenEntry, Tokens
from storage.checked.damage import DamageNotes
from support.machine.private import write_private

NOW_MS = 1_800_000_000_000


def test_a_token_names_its_caller_until_it_is_replaced(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    first = tokens.add("truck-7", Role.DEVICE)
    assert tokens.caller(first) == Caller("truck-7", Role.DEVICE)
    second = tokens.add("truck-7", Role.DEVICE)
    assert tokens.caller(first) is None
    assert tokens.caller(second) == Caller("truck-7", Role.DEVICE)


def test_a_file_that_was_written_in_place_is_read_again(tmp_path: Path) -> None:
    """Whatever its time of modification says: programs that copy files set it back."""
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    token = tokens.add("auditor", Role.AUDITOR)
    assert tokens.caller(token) is not None
    before = path.stat()
    path.write_text("{}\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert tokens.caller(token) is None


def test_a_token_admits_nobody_from_its_end_on(tmp_path: Path) -> None:
    clock = [NOW_MS]
    tokens = Tokens(tmp_path / "tokens.json", now=lambda: clock[0])
    token = tokens.add("truck-7", Role.DEVICE, NOW_MS + 5)
    other = tokens.add("truck-8", Role.DEVICE)
    for at_ms, known in ((NOW_MS + 4, True), (NOW_MS + 5, False), (NOW_MS + 9, False)):
        clock[0] = at_ms
        assert (tokens.caller(token) is not None) is known
        assert ("truck-7" in tokens.of_devices()) is known
        assert tokens.caller(other) is not None
    assert tokens.entries() == [
        TokenEntry("truck-7", Role.DEVICE, NOW_MS, NOW_MS + 5),
        TokenEntry("truck-8", Role.DEVICE, NOW_MS, None),
    ]
    tokens.expire(["truck-8"], NOW_MS)
    assert tokens.caller(other) is None
    assert tokens.of_devices() == {}


def test_a_revoked_token_admits_nobody_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    running, command = Tokens(path), Tokens(path)
    with pytest.raises(RejectedError, match="there is no token yet"):
        command.revoke(["truck-7"])
    made = {name: command.add(name, Role.DEVICE) for name in ("truck-7", "truck-8")}
    assert running.caller(made["truck-7"]) is not None
    for change in (command.revoke, lambda names: command.expire(names, NOW_MS)):
        before = path.read_bytes()
        with pytest.raises(RejectedError, match="no token of truck-1, truck-9"):
            change(["truck-9", "truck-7", "truck-1"])
        assert path.read_bytes() == before
    command.revoke(["truck-7", "truck-7"])
    assert running.caller(made["truck-7"]) is None
    assert running.caller(made["truck-8"]) == Caller("truck-8", Role.DEVICE)


def test_a_token_of_an_earlier_version_can_be_ended(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token = Tokens(path).add("auditor", Role.AUDITOR)
    entry = json.loads(path.read_text("utf-8"))["auditor"]
    old = {"auditor": {key: entry[key] for key in ("role", "sha256")}}
    write_private(path, json.dumps(old))
    tokens = Tokens(path, now=lambda: NOW_MS)
    assert tokens.entries() == [TokenEntry("auditor", Role.AUDITOR, None, None)]
    tokens.expire(["auditor"], NOW_MS)
    assert tokens.caller(token) is None


def test_a_time_of_unknown_form_is_one_clear_error(tmp_path: Path) -> None:
    entry = {"role": "auditor", "sha256": "00", "expires": "soon"}
    path = write_private(tmp_path / "tokens.json", json.dumps({"auditor": entry}))
    with pytest.raises(RejectedError, match=r"token file .*entry auditor: expected a time"):
        Tokens(path)


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
