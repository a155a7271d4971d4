"""The files of retention: their versions, and the ages that one of them keeps."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.proto.deletion_pb2 import DeletionBody
from contracts.proto.hold_end_pb2 import HoldEndBody
from gateway.retention.deletions import Deletions
from storage.retention.ages import Ages
from support.gateways.retention import (
    SIGNER,
)


@pytest.mark.parametrize(("name", "newest"), [("deletions.db", 2), ("retention.db", 1)])
def test_a_file_of_another_version_is_refused(tmp_path: Path, name: str, newest: int) -> None:
    def opened() -> Deletions | Ages:
        path = tmp_path / name
        return Deletions(path, SIGNER) if name == "deletions.db" else Ages(path)

    made = opened()
    made._db.query("PRAGMA user_version = 99")  # noqa: SLF001 - no other way to an old file
    made.close()
    with pytest.raises(UnavailableError, match=f"expected version 1 to {newest}, got 99"):
        opened()


def test_ages_count_what_the_monotonic_clock_saw(tmp_path: Path) -> None:
    clock = [1000.0]
    one = hashlib.sha256().digest()
    ages = Ages(tmp_path / "retention.db", lambda: clock[0])
    ages.release(one)
    clock[0] += 50
    ages.advance()
    assert ages.released() == {one: 50.0}
    ages.close()
    clock[0] = 3.0  # another boot
    ages = Ages(tmp_path / "retention.db", lambda: clock[0])
    ages.release(one)
    clock[0] += 7
    ages.advance()
    assert ages.released() == {one: 57.0}
    ages.close()


def test_a_file_of_deletions_alone_gets_a_place_for_ends_of_holds(tmp_path: Path) -> None:
    path = tmp_path / "deletions.db"
    with closing(Deletions(path, SIGNER)) as made:
        made.begin(DeletionBody(site_id="site-b", recording_sha256=bytes(32)))
        made._db.query("DROP TABLE hold_ends")  # noqa: SLF001 - no other way to an old file
        made._db.query("PRAGMA user_version = 1")  # noqa: SLF001
    with closing(Deletions(path, SIGNER)) as made:
        assert made.hold_ends.listed(0, 10) == []
        assert [number for number, _ in made.listed(0, 10)] == [1]
        made.hold_ends.add(HoldEndBody(trip_id="t"))
        assert [body.number for body in made.hold_ends.of("t")] == [1]
