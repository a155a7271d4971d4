"""Retention makes room on a file system that is full, where its own records are too."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.retention.reserve import Reserve
from gateway.storagesettings import RetentionSettings
from support.gateways.retention import BLOBS, RESERVE_BYTES, VOLUME, Desk, trip
from support.machine.mounts import tmpfs

pytestmark = pytest.mark.integration


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with tmpfs(tmp_path / "disk", "8m") as disk:
        desk = Desk(disk, RetentionSettings(volume_days=1))
        yield desk
        desk.close()


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_a_full_disk_does_not_keep_retention_from_making_room(desk: Desk) -> None:
    reserve, filler = desk.root / "reserve", desk.root / "filler"
    one = desk.settled(1, trip(1))
    desk.steps()
    assert reserve.stat().st_blocks * 512 == RESERVE_BYTES
    desk.block({}, seen=False)
    fill(filler)
    with pytest.raises(UnavailableError, match="full"):
        desk.catch_up()
    desk.days(2)
    desk.steps()
    assert not reserve.exists()
    assert desk.store.copies[one] == [VOLUME, BLOBS], "the index is behind"
    desk.catch_up()
    desk.steps()
    assert desk.store.copies[one] == [BLOBS]
    filler.unlink()
    desk.steps()
    assert reserve.stat().st_blocks * 512 == RESERVE_BYTES


def test_a_small_disk_goes_without_a_reserve(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "disk", "64k") as disk:
        Reserve(disk / "reserve", 48 << 10).keep()
        assert not (disk / "reserve").exists()
