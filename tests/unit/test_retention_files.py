"""The files of retention: their versions, and the ages that one of them keeps."""

import hashlib
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.retention.deletions import Deletions
from storage.retention.ages import Ages
from support.gateways.retention import (
    SIGNER,
)


@pytest.mark.parametrize("name", ["deletions.db", "retention.db"])
def test_a_file_of_another_version_is_refused(tmp_path: Path, name: str) -> None:
    def opened() -> Deletions | Ages:
        path = tmp_path / name
        return Deletions(path, SIGNER) if name == "deletions.db" else Ages(path)

    made = opened()
    made._db.query("PRAGMA user_version = 99")  # noqa: SLF001 - no other way to an old file
    made.close()
    with pytest.raises(UnavailableError, match="expected version 1 to 1, got 99"):
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
