"""Several who look at one trip wait for the first look, and stop waiting when told to."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, cast

import pytest

from gateway.jobs.progress import Following
from gateway.records.evidence import Audit
from gateway.records.judged import Judged, Turns
from gateway.records.watch import UNWATCHED, StoppedError, Unit, Watch

if TYPE_CHECKING:
    from contracts.evidence.verify import Verdict

PATIENCE_S: Final = 30


class Waiter(Watch):
    """Says whether the one whom it watches waits."""

    def __init__(self) -> None:
        self.waits = threading.Event()

    def tell(self, doing: str, done: int, total: int, unit: Unit) -> None:
        del doing, done, total, unit
        self.waits.set()


class Looks(Audit):
    """Judges no trip, and not before all others wait; counts how often it is asked to."""

    def __init__(self) -> None:
        self._turns = Turns()
        self.waiters = [Waiter() for _ in range(4)]
        self.kept: Judged | None = None
        self.count = 0

    def judged(self, trip_id: str) -> Judged | None:
        del trip_id
        return self.kept

    def judge(self, trip_id: str, watch: Watch = UNWATCHED) -> Judged:
        del trip_id
        self.count += 1
        if self.count == 1:
            for each in self.waiters:
                assert each is watch or each.waits.wait(PATIENCE_S), "another one did not wait"
        self.kept = Judged(cast("Verdict", None), self.count)
        return self.kept


def test_several_first_looks_at_a_trip_judge_it_once() -> None:
    looks = Looks()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(looks.judged_once, ["trip-1"] * 4, looks.waiters))
    assert looks.count == 1
    assert found == [looks.kept] * 4


def test_who_waits_for_another_look_stops_when_told_to() -> None:
    turns, watch = Turns(), Following()
    with turns.take("trip-1", watch):
        watch.cancel()
        with pytest.raises(StoppedError):  # noqa: SIM117 - the second one never enters
            with turns.take("trip-1", watch):
                raise AssertionError
