"""Mending behind readers: once for each blob, and no more after the end."""

import logging
import threading

import pytest

from contracts.errors import UnavailableError
from storage.recordings.blobcopies import Finding, Flaw
from storage.recordings.repair import Mender

ID = bytes(range(32))
WHY = "its leaf hash is another"


def finding(index: int, *, repaired: bool) -> Finding:
    return Finding(ID, index, "blobs:files", Flaw.ROTTEN, repaired, WHY)


def test_what_came_of_it_is_logged_in_words(caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()

    def mend(_: bytes, index: int) -> tuple[Finding, ...]:
        if index == 2:
            done.set()
            raise UnavailableError("it is being written")
        return (finding(index, repaired=index == 0),)

    caplog.set_level(logging.INFO)
    mender = Mender(mend)
    for index in range(3):
        mender.mend_later(ID, index)
    assert done.wait(10)
    mender.close()
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", f"recording {ID.hex()} blob 0: copy blobs:files is mended: {WHY}"),
        ("WARNING", f"recording {ID.hex()} blob 1: copy blobs:files is not mended: {WHY}"),
        ("WARNING", f"cannot mend recording {ID.hex()} blob 2: it is being written"),
    ]


def test_a_reader_that_outlives_the_store_finds_damage_without_an_error() -> None:
    mended: list[int] = []

    def mend(_: bytes, index: int) -> tuple[Finding, ...]:
        mended.append(index)
        return ()

    mender = Mender(mend)
    mender.close()
    mender.mend_later(ID, 0)
    assert mended == []
