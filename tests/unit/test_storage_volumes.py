"""Volumes take recordings while they are themselves and work, and are out with a reason else."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.volumes.directory import VolumeDirectory
from storage.volumes.marker import MARKER, OWNER
from storage.volumes.volume import Volume, VolumePlace
from storage.volumes.volumepart import open_part
from storage.volumes.volumes import Volumes
from support.storage.stores import open_store, open_volumes

ONE, TWO = bytes(32), bytes(range(32))


def two(root: Path) -> dict[str, VolumePlace]:
    return {"main": VolumePlace(root / "main"), "cold": VolumePlace(root / "cold")}


def reasons(volumes: Volumes) -> dict[str, str]:
    return {state.name: state.reason for state in volumes.states()}


def test_a_new_volume_is_marked_and_known_again(tmp_path: Path) -> None:
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        assert [volume.name for volume in volumes.usable()] == ["main", "cold"]
    marks = [(tmp_path / name / MARKER).read_text() for name in ("main", "cold")]
    assert len(set(marks)) == 2
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        assert reasons(volumes) == {"main": "", "cold": ""}
    assert [(tmp_path / name / MARKER).read_text() for name in ("main", "cold")] == marks


def test_an_empty_mount_point_is_not_the_volume(tmp_path: Path) -> None:
    with open_volumes(tmp_path, two(tmp_path)):
        pass
    (tmp_path / "main").rename(tmp_path / "away")
    (tmp_path / "main").mkdir()
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        main, cold = volumes
        assert "is missing: it is not mounted" in main.reason
        assert list((tmp_path / "main").iterdir()) == []
        assert volumes.usable() == (cold,)
        with pytest.raises(UnavailableError, match="volume main is out: its marker"):
            main.call(VolumeDirectory.free_bytes)
        (tmp_path / "main").rmdir()
        (tmp_path / "away").rename(tmp_path / "main")
        main.probe()
        assert volumes.usable() == (main, cold)


def test_a_volume_that_is_out_from_the_start_is_told_once_and_so_is_its_return(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    place = VolumePlace(tmp_path / "main", mount=True)
    volume = Volume("main", place, tmp_path / "ids" / "main")
    volume.probe()
    volume.probe()
    out = f"volume main at {tmp_path / 'main'} is out: nothing is mounted at {tmp_path / 'main'}"
    assert told(caplog) == [("WARNING", out)]

    volume.place = VolumePlace(tmp_path / "main")
    volume.probe()
    volume.probe()
    (back,) = told(caplog)[1:]
    assert back[0] == "INFO"
    assert back[1].startswith(f"volume main at {tmp_path / 'main'} is back, after ")
    volume.close()


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(each.levelname, each.getMessage()) for each in caplog.records]


def test_another_volume_in_its_place_is_named(tmp_path: Path) -> None:
    with open_volumes(tmp_path, two(tmp_path)):
        pass
    shutil.copy(tmp_path / "cold" / MARKER, tmp_path / "main" / MARKER)
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        assert "another volume is in its place" in reasons(volumes)["main"]
        assert reasons(volumes)["cold"] == ""
    (tmp_path / "main" / MARKER).write_bytes(b"\xff no id")
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        assert "must hold 32 hexadecimal digits" in reasons(volumes)["main"]


def test_a_volume_belongs_to_one_gateway(tmp_path: Path) -> None:
    places = {"main": VolumePlace(tmp_path / "main")}
    with open_volumes(tmp_path / "first", places) as first:
        (ours,) = first
        with open_part(ours, ONE, 60, 0), open_store(tmp_path / "second", places=places) as other:
            (theirs,) = other.places.volumes
            other.tidy()
            assert "volume main belongs to gateway" in theirs.reason
            assert f"remove {tmp_path / 'main' / OWNER} to take the volume over" in theirs.reason
            assert list(ours.call(VolumeDirectory.parts)) == [ONE]
    (tmp_path / "main" / OWNER).unlink()
    with open_volumes(tmp_path / "second", places) as volumes:
        assert reasons(volumes) == {"main": ""}
    with open_volumes(tmp_path / "first", places) as volumes:
        assert "volume main belongs to gateway" in reasons(volumes)["main"]


def test_a_volume_without_an_owner_is_taken_once(tmp_path: Path) -> None:
    place = VolumePlace(tmp_path / "main")
    with open_volumes(tmp_path / "old", {"main": place}):
        pass
    (tmp_path / "main" / OWNER).unlink()
    roots = [tmp_path / f"site-{number}" for number in range(8)]
    with ThreadPoolExecutor(len(roots)) as pool, ExitStack() as stack:
        opened = pool.map(lambda root: open_volumes(root, {"main": place}), roots)
        takers = [stack.enter_context(volumes) for volumes in opened]
        for (volume,) in takers:
            volume.probe()  # one that met another at it looks again
        assert sum(len(volumes.usable()) for volumes in takers) == 1


def test_a_path_that_must_be_a_mount_point_is_left_alone_without_its_mount(tmp_path: Path) -> None:
    places = {"main": VolumePlace(tmp_path / "main", mount=True)}
    (tmp_path / "main").mkdir()
    with open_volumes(tmp_path, places) as volumes:
        assert reasons(volumes) == {"main": f"nothing is mounted at {tmp_path / 'main'}"}
        (state,) = volumes.states()
        assert (state.usable, state.free_bytes, state.used_bytes) == (False, None, None)
    assert list((tmp_path / "main").iterdir()) == []


def test_two_names_for_one_directory_are_refused(tmp_path: Path) -> None:
    place = VolumePlace(tmp_path / "main")
    with pytest.raises(RejectedError, match="volumes main and cold share the directory"):
        open_volumes(tmp_path, {"main": place, "cold": place})


def test_a_disk_error_takes_a_volume_out_and_a_full_one_stays(tmp_path: Path) -> None:
    with open_volumes(tmp_path, two(tmp_path)) as volumes:
        main, _ = volumes
        with pytest.raises(UnavailableError, match="No such file"):
            main.call(lambda directory: directory.patch(ONE, 0, b"data", 4))
        assert main.usable, "a file that is gone is no broken volume"
        (tmp_path / "main" / "00").write_bytes(b"in the way of the directory")
        with pytest.raises(UnavailableError, match="EEXIST"), open_part(main, ONE, 4, 0):
            pass
        assert "cannot make directory" in main.reason
        (tmp_path / "main" / "00").unlink()
        main.probe()
        assert volumes.usable() == tuple(volumes)


def test_states_tell_room_and_use(tmp_path: Path) -> None:
    places = {"main": VolumePlace(tmp_path / "main", quota_bytes=100)}
    with open_volumes(tmp_path, places) as volumes:
        (main,) = volumes
        with open_part(main, ONE, 60, 0) as part:
            part.wait(part.begin_append(bytes(60)))
            part.sync()
            part.publish()
        with open_part(main, TWO, 30, 0):
            pass
        (state,) = volumes.states()
        assert (state.used_bytes, state.quota_bytes, state.usable) == (90, 100, True)
        assert state.free_bytes is not None
        main.require_room(TWO, 40)  # what is reserved for it already counts once
        with pytest.raises(UnavailableError, match=r"41 bytes .* of 100 are used; 1 lack"):
            main.require_room(TWO, 41)
        free = main.call(VolumeDirectory.free_bytes)
        main.place = VolumePlace(tmp_path / "main")
        with pytest.raises(UnavailableError, match=r"bytes do not fit, \d+ are free; \d+ lack"):
            main.require_room(TWO, 2 * free)


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, (2 << 20) + 1, (4 << 20) + 4096 + 77])
def test_a_part_is_reserved_whole_and_comes_out_exact(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    with open_volumes(tmp_path) as volumes:
        (volume,) = volumes
        with open_part(volume, ONE, size, 0) as part:
            (path,) = (tmp_path / "v" / "parts").iterdir()
            assert path.stat().st_size == size
            assert path.stat().st_blocks * 512 >= size
            for start in range(0, size, 1_000_001):
                part.wait(part.begin_append(data[start : start + 1_000_001]))
                part.sync()
            part.publish()
        assert volume.read(ONE, 0, size + 1) == data
        assert volume.read(ONE, size - 1, 9, fresh=True) == data[-1:]
        assert volume.read(TWO, 0, 1) is None


@pytest.mark.parametrize("kept", [0, 1, 4096, 5000, 3 << 20])
def test_a_part_goes_on_at_any_byte(tmp_path: Path, kept: int) -> None:
    size = (3 << 20) + 4099
    data = os.urandom(size)
    with open_volumes(tmp_path) as volumes:
        (volume,) = volumes
        with open_part(volume, ONE, size, 0) as part:
            part.wait(part.begin_append(data[:kept]))
            part.sync()
            part.wait(part.begin_append(os.urandom(9000)))  # came, but was never synced
        with open_part(volume, ONE, size, kept) as part:
            assert part.offset == kept
            assert part.read(0, kept) == data[:kept]
            part.wait(part.begin_append(data[kept:]))
            part.sync()
            part.publish()
        assert volume.read(ONE, 0, size + 1) == data


class ClosesInBetween(Volume):
    """Is closed once somebody has found it in use."""

    def require(self) -> None:
        super().require()
        self.close()


def test_a_volume_that_is_closed_in_between_says_so(tmp_path: Path) -> None:
    volume = ClosesInBetween("main", VolumePlace(tmp_path / "main"), tmp_path / "memory")
    volume.probe()
    with pytest.raises(UnavailableError, match="volume main is out: the gateway stops"):
        volume.begin(VolumeDirectory.free_bytes)
