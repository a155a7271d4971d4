"""The gateway's key is the one that signed what is kept, or nothing is signed."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.deletion_pb2 import DeletionBody
from contracts.proto.wire_pb2 import Receipt
from gateway.intake.inbox import Inbox
from gateway.ownkey import accept_key, check_key, note_missing, own_key, public_file, shown_key
from gateway.retention.deletions import Deletions
from gateway.settings import Settings
from storage.checked.damage import DamageNotes
from support.machine.private import write_private


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, site_id="site-b")


def with_one_digit_changed(path: Path) -> None:
    text = path.read_text().strip()
    write_private(path, f"{text[:40]}{(int(text[40], 16) + 1) % 16:x}{text[41:]}\n")


def by(*keys: str) -> Callable[[], list[str]]:
    return lambda: list(keys)


def unread() -> list[str]:
    raise AssertionError("kept receipts are read though they decide nothing")


def test_one_changed_digit_is_noticed_before_anything_is_signed(settings: Settings) -> None:
    first = own_key(settings)
    check_key(settings, first, by())
    assert shown_key(settings) == first
    with_one_digit_changed(settings.key_file)
    other = own_key(settings)
    for keys, told in (
        ([first.public_key], f"was signed by {first.public_key}: restore the key file"),
        ([], f"gateway.pub has {first.public_key}, and nothing .* delete gateway.pub"),
    ):
        with pytest.raises(RejectedError, match=told) as refused:
            check_key(settings, other, by(*keys))
        assert str(settings.key_file) in str(refused.value)
    with pytest.raises(RejectedError, match=f"gateway.pub has {first.public_key}: start"):
        shown_key(settings)
    assert public_file(settings).read_text().strip() == first.public_key


def test_a_public_half_that_became_another_one_is_written_again(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    signer, another = own_key(settings), Signer.generate().public_key
    public_file(settings).write_text(f"{another}\n")
    check_key(settings, own_key(settings), by(signer.public_key))
    assert public_file(settings).read_text().strip() == signer.public_key
    assert f"gateway.pub had {another} and is written again" in caplog.messages[-1]


def test_an_old_key_does_not_come_back_after_another_signed(settings: Settings) -> None:
    own_key(settings)
    old = Signer.load(settings.key_file)
    settings.key_file.unlink()
    Signer.generate().save(settings.key_file)
    accepted = accept_key(settings)
    settings.key_file.unlink()
    old.save(settings.key_file)
    with pytest.raises(RejectedError, match=f"gateway.pub has {accepted.public_key}, which signed"):
        check_key(settings, own_key(settings), by(old.public_key, accepted.public_key))


def test_kept_receipts_tell_the_key_where_its_public_half_is_missing(settings: Settings) -> None:
    first = own_key(settings)
    with_one_digit_changed(settings.key_file)
    other = own_key(settings)
    with pytest.raises(RejectedError, match=f"was signed by {first.public_key}: restore"):
        check_key(settings, other, by(first.public_key))
    assert not public_file(settings).exists()
    check_key(settings, first, by(other.public_key, first.public_key))
    assert public_file(settings).read_text().strip() == first.public_key


def test_a_new_key_on_purpose_is_accepted_by_command(settings: Settings) -> None:
    check_key(settings, own_key(settings), by())
    settings.key_file.unlink()
    Signer.generate().save(settings.key_file)
    with pytest.raises(RejectedError, match="wayseal-gateway key --accept"):
        check_key(settings, own_key(settings), by())
    accepted = accept_key(settings)
    assert own_key(settings) == accepted
    check_key(settings, accepted, unread)


def test_a_rotten_public_half_is_written_again(settings: Settings) -> None:
    signer = own_key(settings)
    public_file(settings).write_bytes(b"\xff no key")
    check_key(settings, own_key(settings), by())
    assert public_file(settings).read_text().strip() == signer.public_key


def test_a_rotten_receipt_tells_no_key_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    signer = Signer.generate()
    rotten = b"\xff" * 9, Receipt().SerializeToString(), b"\x12\x02no"
    with closing(Inbox(tmp_path / "i.db", bytes_max=1 << 20, quarantine_bytes_max=1)) as inbox:
        for number, wire in enumerate(rotten):
            inbox.visits.put_receipt(f"trip-{number}", "truck-1", wire, final=True)
        right = Receipt(gateway_public_key=signer.public_key).SerializeToString()
        inbox.visits.put_receipt("trip-9", "truck-1", right, final=True)
        assert inbox.visits.signers() == {signer.public_key}
    assert [words.split(" is ")[0] for words in caplog.messages] == [
        f"the kept receipt of trip trip-{number} from truck-1" for number in range(3)
    ]


def test_a_rotten_deletion_tells_no_key_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    signer, path = Signer.generate(), tmp_path / "d.db"
    with closing(Deletions(path, signer)) as deletions:
        assert deletions.signers() == set()
        deletions.begin(DeletionBody(site_id="site-b", recording_sha256=b"1" * 32))
        assert deletions.signers() == {signer.public_key}
        with deletions._db.transaction() as db:  # noqa: SLF001 - as an earlier version left it
            db.execute("UPDATE deletions SET wire = ?", (b"\xff" * 9,))
        assert deletions.signers() == set()
    assert caplog.messages[0].startswith(f"deletion 1 in {path} is damaged")


def test_a_database_that_is_new_beside_a_key_is_a_warning(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    damage = DamageNotes()
    note_missing(settings, damage)
    assert caplog.messages == []
    own_key(settings)
    note_missing(settings, damage)
    assert "begin empty beside a key" in caplog.messages[-1]
    assert damage.told() == []
    (settings.data / "inbox.db").touch()
    note_missing(settings, damage)
    (told,) = damage.told()
    assert told.startswith("uploads.db, deletions.db, retention.db, scrub.db, recordings in ")
