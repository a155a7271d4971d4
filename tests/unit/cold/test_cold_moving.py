"""Old trips move into cold files at their time, and each reading counts once."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.errors import UnavailableError
from contracts.proto.payload_pb2 import PlaceHold, ReleaseHold
from contracts.proto.state_pb2 import Hold
from gateway.index import flipping, moving
from gateway.index.coldcheck import check_file
from gateway.index.cooling import FAILED, MOVE_EVERY_S, NOW, TRY_AGAIN_S, ColdKeeper, Cooling
from gateway.index.moving import Mover, generation_of
from gateway.index.store import IndexStore
from gateway.records.records import Records
from support.gateways.coldtrips import READINGS, ColdTrips, cold_trips
from support.gateways.histories import DAY_S, Told, add, begun, run


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    with closing(IndexStore(tmp_path / "index.db")) as opened:
        yield opened


def told(
    index: IndexStore, number: int, day: int, *, first: int = 0, runs: int = 0, fork: str = ""
) -> None:
    """Add a block of a day; with a run of readings of trip A, it closes the trip."""
    block = Told() if number else begun()
    if runs:
        run(block, number, "A", "truck-1", first, runs)
        block.rows["trip_entries"] = [("A", b"", 6000, number)]
    add(index, number, block, day * DAY_S, fork)


def test_a_pass_says_why_trips_stay(made: ColdTrips) -> None:
    def stopped(*_: object) -> int:
        raise UnavailableError("stopped")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "flip_some", stopped)
        with pytest.raises(UnavailableError, match="stopped"):
            made.move()
    said = made.move()
    assert "moved 2 trips with 60 readings into a cold file that was there" in said
    assert "1 stay in the index: 1 are too young" in said
    assert made.move().startswith("no trip was moved, in 0 s; 1 stay in the index")
    made.index.cut(0)
    made.index.query("DELETE FROM block_times")
    assert "the ledger records no times" in made.move()


def test_passes_are_made_daily_on_demand_and_for_another_index(
    made: ColdTrips, tmp_path: Path
) -> None:
    now_s = [0.0]
    keeper = ColdKeeper(made.index, Cooling(made.index.cold, 30), tmp_path, lambda: now_s[0])
    passes = []
    for after_s, asks in ((0.0, False), (1.0, False), (1.0, True), (MOVE_EVERY_S, False)):
        now_s[0] += after_s
        if asks:
            (tmp_path / NOW).touch()
        keeper.last = None
        keeper.step()
        passes.append(keeper.last is not None)
    assert passes == [True, False, True, True]
    assert not (tmp_path / NOW).exists()
    before = made.file
    with closing(IndexStore(made.index.offered, cold=made.index.cold)) as fresh:
        fresh.settle()
    assert made.index.go_on_with(made.index.offered)
    keeper.step()
    assert not before.exists()


def test_an_index_that_is_taken_between_two_flips_is_left_alone(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = made.index.offered
    with made.index.connection() as db:
        db.execute("VACUUM INTO ?", (str(fresh),))
    with closing(IndexStore(fresh, cold=made.index.cold)) as other:
        other.query("UPDATE cold_home SET generation = ?", "f" * 16)
        other.settle()
    before = made.pages()
    monkeypatch.setattr(flipping, "FLIPPED_AT_ONCE", 4)

    def rest(_: float) -> None:
        if fresh.exists() and made.index.query("SELECT 1 FROM cold_trips"):
            assert made.index.go_on_with(fresh)

    Mover(made.index, 30, rest).run()
    assert generation_of(made.index) == "f" * 16
    assert made.index.query("SELECT * FROM cold_trips") == []
    assert made.pages() == before


def test_a_failure_that_goes_on_is_raised_until_a_pass_works(
    made: ColdTrips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    keeper = ColdKeeper(made.index, Cooling(made.index.cold, 30), tmp_path, lambda: now_s[0])
    with monkeypatch.context() as full:
        full.setattr(moving, "FREE_BYTES_MIN", 1 << 60)
        for _ in range(3):
            with pytest.raises(UnavailableError, match="bytes of free room"):
                keeper.step()
            now_s[0] += 2.0
    assert "bytes of free room" in (tmp_path / FAILED).read_text()
    now_s[0] += TRY_AGAIN_S
    keeper.step()
    assert (keeper.failure, (tmp_path / FAILED).exists()) == ("", False)


def test_a_disk_without_room_keeps_the_trips_in_the_index(
    made: ColdTrips, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made.pages()
    monkeypatch.setattr(moving, "FREE_BYTES_MIN", 1 << 60)
    with pytest.raises(UnavailableError, match="bytes of free room"):
        made.move()
    assert made.pages() == before
    assert not list(made.index.cold.folder.glob("*/*"))


def test_a_trip_under_a_hold_stays_until_the_hold_is_released(made: ColdTrips) -> None:
    trip_id = made.trips[0]
    held = Hold(placed=PlaceHold(trip_id=trip_id))
    made.index.add({"holds": [(trip_id, "hold-1", canonical(held), 3)]})
    assert "2 stay in the index: 1 are under a hold, 1 are too young" in made.move()
    released = Hold(placed=held.placed, released=ReleaseHold(trip_id=trip_id))
    made.index.add({"holds": [(trip_id, "hold-1", canonical(released), 3)]})
    assert "moved 1 trips with 30 readings" in made.move()


def test_a_reading_that_comes_later_moves_with_the_others_and_the_old_file_goes(
    index: IndexStore,
) -> None:
    told(index, 0, 0, runs=5)
    told(index, 1, 31)
    assert Mover(index, 30).run().readings == 5
    told(index, 2, 31, first=5, runs=3)
    told(index, 3, 62)
    whole = Records(index).trips.readings("A", 0, 10)
    assert Mover(index, 30).run().readings == 3
    assert Records(index).trips.readings("A", 0, 10) == whole
    assert len(whole) == 8
    assert index.cold.numbers(generation_of(index)) == [2]


def test_readings_that_a_fork_undid_since_they_were_copied_are_not_flipped(
    index: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(index, 0, 0)
    told(index, 1, 0, runs=5)
    told(index, 2, 31)

    def stopped(*_: object) -> int:
        raise UnavailableError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(moving, "flip_some", stopped)
        with pytest.raises(UnavailableError, match="stopped"):
            Mover(index, 30).run()
    index.cut(0)
    told(index, 1, 0, fork="other", first=1, runs=5)
    told(index, 2, 31, fork="other")
    whole = Records(index).trips.readings("A", 0, 10)
    assert Mover(index, 30).run().readings == 5
    assert Records(index).trips.readings("A", 0, 10) == whole
    assert index.cold.numbers(generation_of(index)) == [2]


def test_the_readings_of_a_transaction_leave_the_index_together(
    index: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one has the id of all of them."""
    told(index, 0, 0, runs=5)
    told(index, 1, 31)
    whole = Records(index).trips.readings("A", 0, 10)
    monkeypatch.setattr(flipping, "FLIPPED_AT_ONCE", 3)
    seen = []

    def rest(_: float) -> None:
        seen.append(index.query("SELECT count(*) FROM kept_readings"))
        assert Records(index).trips.readings("A", 0, 10) == whole

    Mover(index, 30, rest).run()
    assert {left for ((left,),) in seen} == {5, 0}


KILLED = """
import os, signal, sys
from pathlib import Path
from gateway.index import coldfile, flipping, moving
from gateway.index.store import IndexStore
flipping.FLIPPED_AT_ONCE = coldfile.ROWS_AT_ONCE = 4
left = int(sys.argv[2])

def step(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def stepping(function):
    def run(*given, **named):
        step()
        found = function(*given, **named)
        step()
        return found
    return run

os.fsync, Path.rename = stepping(os.fsync), stepping(Path.rename)
coldfile.insert_readings = stepping(coldfile.insert_readings)
moving.flip_some = stepping(moving.flip_some)
moving.Mover(IndexStore(Path(sys.argv[1])), 30, step).run()
print(left)
"""


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(23, id="some"),
        pytest.param(1, id="all", marks=(pytest.mark.long, pytest.mark.timeout(3600))),
    ],
)
def test_a_kill_at_any_step_loses_nothing_and_leaves_nothing(tmp_path: Path, every: int) -> None:
    """At each write, sync, rename and transaction, before and after it."""
    with cold_trips(tmp_path) as whole:
        before = whole.pages()
        whole.index.settle()
        whole.index.close()
        for at in range(2, 1000, every):
            folder = tmp_path / str(at)
            folder.mkdir()
            shutil.copy(tmp_path / "index.db", folder)
            path = folder / "index.db"
            command = [sys.executable, "-c", KILLED, str(path), str(at)]
            ended = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603
            with closing(IndexStore(path)) as index:
                made = ColdTrips(index, whole.ledger, whole.trips)
                assert index.rebuild is None
                assert made.pages() == before
                Mover(index, 30).run()
                assert made.pages() == before
                index.cold.remove_others(generation_of(index))
                assert index.query("SELECT count(*) FROM kept_readings") == [(READINGS,)]
                files = [each.name for each in index.cold.folder.glob("*/*")]
                assert len(files) == 1, files
                check_file(index, int(files[0][:6]), lambda: True)
            if ended.returncode != -signal.SIGKILL:
                assert ended.returncode == 0, ended.stderr
                break
        assert ended.returncode == 0
