"""The folder of cold files may be away, or another gateway's."""

from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.index.coldfile import ColdHead
from gateway.index.coldfolder import ColdFiles
from gateway.index.schema import VERSION
from gateway.index.store import IndexStore
from support.gateways.coldtrips import ColdTrips


def test_a_folder_that_went_away_is_not_filled_again(made: ColdTrips) -> None:
    """A disk that is not mounted: its mount point is on another disk, and would fill that."""
    made.move()
    folder = made.file.parent
    folder.rename(folder.with_name("away"))
    with pytest.raises(UnavailableError, match=r"expected cold files in .*mount its disk"):
        made.move()
    assert not folder.exists()


def test_an_empty_mount_point_is_not_filled_once_the_index_was_made_again(
    made: ColdTrips, tmp_path: Path
) -> None:
    mount, memory = tmp_path / "mount", tmp_path / "volume-ids" / "cold"
    mount.mkdir()
    files = ColdFiles(mount / "site", memory)
    made.index.cold = files
    made.move()
    file = made.file
    away = files.folder.rename(tmp_path / "away")
    with pytest.raises(UnavailableError, match="is missing: mount its disk, put it back"):
        made.page(0)
    with closing(IndexStore(made.index.offered, cold=files)) as fresh:
        fresh.settle()
    made.index.go_on_with(made.index.offered)
    made.take_in()
    for trip_id in made.trips:
        made.index.add({"trip_entries": [(trip_id, b"", 1, 1)]})
    for act in (
        made.move,
        lambda: files.write(ColdHead(VERSION, "0" * 16, 1, ""), lambda _: None),
        lambda: files.remove_others("0" * 16),
    ):
        with pytest.raises(UnavailableError, match="mount its disk"):
            act()
    assert list(mount.iterdir()) == []
    away.rename(files.folder)
    assert "moved 2 trips" in made.move()
    assert file.exists()


def test_a_gateway_leaves_the_cold_files_of_another_one_alone(tmp_path: Path) -> None:
    """Both are of one site, and have the same `index.cold` by a wrong setting."""
    ours, theirs = (
        ColdFiles(tmp_path / "site", tmp_path / each / "volume-ids" / "cold")
        for each in ("ours", "theirs")
    )
    head = ColdHead(VERSION, "0" * 16, 1, "genesis")
    file = ours.write(head, lambda _: None)
    assert theirs.remove_others("1" * 16) == 0
    with pytest.raises(UnavailableError, match="belongs to gateway"):
        theirs.write(head._replace(generation="1" * 16), lambda _: None)
    assert (file.exists(), ours.remove_others("0" * 16)) == (True, 0)
    assert [each.name for each in (tmp_path / "site").iterdir() if each.is_dir()] == ["0" * 16]
