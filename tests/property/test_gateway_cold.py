"""Old trips in cold files answer as if nothing had ever been moved, whatever comes between."""

import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gateway.index import coldfile, flipping, moving
from gateway.index.moving import Mover
from gateway.index.store import IndexStore
from support.gateways.histories import DAY_S, DEVICES, TRIPS, Told, add, answers, begun, happen, run

RUNS = st.lists(
    st.tuples(st.sampled_from(TRIPS), st.sampled_from(DEVICES), st.integers(1, 5)), max_size=3
)
BLOCK = st.tuples(
    st.just("block"), RUNS, st.sampled_from(["", *TRIPS]), st.sampled_from(["", *TRIPS])
)
STEP = st.one_of(
    BLOCK,
    BLOCK,
    st.tuples(st.just("move"), st.integers(0, 25)),
    st.tuples(st.just("move"), st.just(1000)),
    st.tuples(st.just("fork"), st.integers(0, 4)),
    st.tuples(st.just("reindex")),
    st.tuples(st.just("wait")),
)


class Killed(BaseException):
    """Ends a pass where a kill would."""


class History:
    """One history, told to two indexes: of `moved` alone old trips move."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plain = IndexStore(folder / "plain.db")
        self.moved = IndexStore(folder / "index.db")
        self.blocks: list[tuple[Told, int, str]] = []
        self.time_s = 0
        self.forks = 0
        self.chains: dict[tuple[str, str], int] = {}
        self.put(begun())

    def put(self, told: Told) -> None:
        number, name = len(self.blocks), str(self.forks)
        for store in (self.plain, self.moved):
            add(store, number, told, self.time_s, name)
        self.blocks.append((told, self.time_s, name))

    def block(self, runs: list[tuple[str, str, int]], ends: str, happens: str) -> None:
        told, number = Told(), len(self.blocks)
        for trip_id, device_id, count in runs:
            first = self.chains.get((trip_id, device_id), 0)
            run(told, number, trip_id, device_id, first, count)
            self.chains[trip_id, device_id] = first + count
            row = (f"trip {trip_id}", f"batch {trip_id}", "key", number, len(told.readings))
            told.rows.setdefault("batches", []).append(row)
        if ends:
            told.rows["trip_entries"] = [(ends, b"", 6000, number)]
        if happens:
            happen(told, number, happens, self.chains.get((happens, "truck-1"), 1) - 1)
        self.time_s += DAY_S // 2
        self.put(told)

    def move(self, steps: int) -> None:
        """Move what is old, and be killed after so many steps."""
        left = iter(range(steps))

        def rest(_: float) -> None:
            if next(left, None) is None:
                raise Killed

        with suppress(Killed):
            Mover(self.moved, 1, rest).run()

    def fork(self, back: int) -> None:
        newest = max(0, len(self.blocks) - 1 - back)
        del self.blocks[newest + 1 :]
        self.forks += 1
        for store in (self.plain, self.moved):
            store.cut(newest)

    def reindex(self) -> None:
        """Make a second index, with moves between, and put it in the place of the first."""
        offered = self.folder / "index-next.db"
        with closing(IndexStore(offered, cold=self.moved.cold)) as fresh:
            for number, (told, time_s, name) in enumerate(self.blocks):
                add(fresh, number, told, time_s, name)
                if number % 3 == 0:
                    Mover(fresh, 1).run()
            fresh.settle()
        assert self.moved.go_on_with(offered)
        self.moved.cold.remove_others(moving.generation_of(self.moved))

    def wait(self) -> None:
        self.time_s += 3 * DAY_S
        self.put(Told())

    def check(self, *, granted: bool = False) -> None:
        """Compare all answers of both."""
        for found, expected in zip(
            answers(self.moved, granted=granted), answers(self.plain, granted=granted), strict=True
        ):
            assert found == expected
        assert self.moved.rebuild is None

    def close(self) -> None:
        for store in (self.plain, self.moved):
            store.check()
            store.close()


def told(steps: list[tuple[Any, ...]]) -> None:
    """Tell a history, and compare answers after each move, fork and reindex."""
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder))
        for name, *values in [*steps, ("wait",), ("move", 1000)]:
            getattr(history, name)(*values)
            if name in {"move", "fork", "reindex"}:
                history.check()
        history.check(granted=True)
        history.close()


HISTORIES = st.lists(STEP, min_size=4, max_size=12)
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
"""A history takes a second; a smaller one is soon found by hand."""


@settings(max_examples=6, phases=WITHOUT_SHRINKING)
@given(HISTORIES)
def test_every_answer_is_that_of_an_index_which_never_moved_anything(
    steps: list[tuple[Any, ...]],
) -> None:
    told(steps)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=200, phases=WITHOUT_SHRINKING)
@given(HISTORIES)
def test_as_above_with_a_trip_in_both_places_between_a_few_readings(
    steps: list[tuple[Any, ...]],
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flipping, "FLIPPED_AT_ONCE", 3)
        patched.setattr(coldfile, "ROWS_AT_ONCE", 3)
        told(steps)
