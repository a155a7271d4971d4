"""Who may connect to the built-in broker, and what it costs to say so."""

from pathlib import Path

import pytest

from contracts.wire import Topic, topic
from gateway.access import Role, Tokens
from gateway.entryfile import Entry, EntryFile
from gateway.intake.broker import BrokerAccess


def test_the_tokens_are_read_once_for_many_messages_and_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reads = tmp_path / "tokens.json", []
    token = Tokens(path).add("truck-1", Role.DEVICE)
    read = EntryFile.read

    def counted(file: EntryFile) -> dict[str, Entry]:
        reads.append(file)
        return read(file)

    monkeypatch.setattr(EntryFile, "read", counted)
    access = BrokerAccess(path, "gateway", "password")
    for _ in range(9):
        assert access.allows("truck-1", token, "truck-1")
        assert access.allows_topic("truck-1", topic("truck-1", Topic.RECORDS), publish=True)
        assert not access.allows_topic("truck-1", topic("+", Topic.STATUS), publish=False)
    assert len(reads) == 1
    monkeypatch.undo()
    Tokens(path).revoke(["truck-1"])
    assert not access.allows("truck-1", token, "truck-1")


def test_a_malformed_file_admits_nobody_until_it_is_right_again(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token = Tokens(path).add("truck-1", Role.DEVICE)
    sound = path.read_bytes()
    access = BrokerAccess(path, "gateway", "password")
    for malformed in (True, False, True, False):
        path.write_bytes(b"[" if malformed else sound)
        assert access.allows("truck-1", token, "truck-1") is not malformed
