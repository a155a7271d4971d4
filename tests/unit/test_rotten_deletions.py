"""One rotten deletion on record hurts that entry alone: it is named, the others are answered."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from contracts.deletion import deletion_hash
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from gateway.retention.deletions import Deletions, DeletionState
from storage.checked.damage import DamageNotes
from support.gateways.retention import SIGNER, recording

ONE, TWO, THREE = (recording(number) for number in range(3))
FOREIGN = Deletion(body=DeletionBody(number=2).SerializeToString()).SerializeToString()
"""A message of the right kind, with a body, which nobody has signed."""


def three(path: Path) -> None:
    with closing(Deletions(path, SIGNER)) as deletions:
        for each in (ONE, TWO, THREE):
            deletions.begin(DeletionBody(site_id="site-b", recording_sha256=each, rule="quota"))


def written(path: Path, number: int, column: str, value: object) -> None:
    """Write a value to one row, with a checksum of its page that is right."""
    sql = f"UPDATE deletions SET {column} = ? WHERE number = ?"  # noqa: S608
    with (
        closing(Deletions(path, SIGNER)) as deletions,
        deletions._db.transaction() as db,  # noqa: SLF001 - no other way to such a row
    ):
        db.execute(sql, (value, number))


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("wire", b"\xff" * 9),
        ("wire", b""),
        ("wire", "text"),
        ("wire", FOREIGN),
        ("recording", recording(9)),
    ],
)
def test_a_rotten_entry_is_named_and_all_others_are_answered(
    tmp_path: Path, number: int, column: str, value: object
) -> None:
    path, damage = tmp_path / "deletions.db", DamageNotes()
    three(path)
    written(path, number, column, value)
    left = [each for each in (1, 2, 3) if each != number]
    with closing(Deletions(path, SIGNER, damage)) as deletions:
        assert [at for at, _ in deletions.listed(0, 100)] == left
        assert [each.body.number for each in deletions.under_way()] == left
        assert deletions.is_under_way(ONE)
        assert not deletions.is_under_way((ONE, TWO, THREE)[number - 1])
        deletions.listed(0, 100)
    (told,) = damage.told()
    assert f"deletion {number} in {path} is damaged" in told


def test_a_page_is_filled_past_a_rotten_entry(tmp_path: Path) -> None:
    """A page that is not full says that no entry follows."""
    path = tmp_path / "deletions.db"
    three(path)
    written(path, 1, "wire", b"\xff")
    with closing(Deletions(path, SIGNER)) as deletions:
        assert [at for at, _ in deletions.listed(0, 2)] == [2, 3]
        assert [at for at, _ in deletions.listed(0, 1)] == [2]
        assert deletions.listed(3, 1) == []


@pytest.mark.parametrize("value", [b"\xff" * 9, "text"])
def test_a_deletion_follows_a_rotten_one_and_names_the_bytes_that_stand_there(
    tmp_path: Path, value: bytes | str
) -> None:
    path = tmp_path / "deletions.db"
    three(path)
    written(path, 3, "wire", value)
    with closing(Deletions(path, SIGNER)) as deletions:
        body = deletions.begin(DeletionBody(site_id="site-b", recording_sha256=THREE))
        stands = value.encode() if isinstance(value, str) else value
        assert (body.number, body.before_sha256) == (4, hashlib.sha256(stands).digest())
        (recorded,) = deletions.of(THREE)
        assert recorded.body == body
        after = deletions.begin(DeletionBody(site_id="site-b", recording_sha256=THREE))
        assert after.before_sha256 == deletion_hash(recorded.deletion)


def test_a_check_names_a_rotten_entry_before_anybody_asks(tmp_path: Path) -> None:
    path, damage = tmp_path / "deletions.db", DamageNotes()
    three(path)
    written(path, 2, "wire", b"\xff")
    with closing(Deletions(path, SIGNER, damage)) as deletions:
        deletions.check()
    (told,) = damage.told()
    assert f"deletion 2 in {path} is damaged" in told


def test_an_unknown_state_is_judged_again(tmp_path: Path) -> None:
    path, damage = tmp_path / "deletions.db", DamageNotes()
    three(path)
    written(path, 2, "state", "doen")
    with closing(Deletions(path, SIGNER, damage)) as deletions:
        assert deletions.is_under_way(TWO)
        deletions.check()
        assert [each.body.number for each in deletions.under_way()] == [1, 2, 3]
        deletions.end(2, DeletionState.DONE, 5)
        assert not deletions.is_under_way(TWO)
    (told,) = damage.told()
    assert f"deletion 2 in {path} has the unknown state 'doen'" in told
