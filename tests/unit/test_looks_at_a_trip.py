"""Several who look at one trip wait for the first look, and stop waiting when told to."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

import pytest

from gateway.jobs.progress import Following
from gateway.records.evidence import Audit
from gateway.records.judged import Judged, Turns
from gateway.records.watch import UNWATCHED, StoppedError, Watch

if TYPE_CHECKING:
    from contracts.evidence.verify import Verdict


class Looks(Audit):
    """Judges no trip; counts how often it is asked to."""

    def __init__(self) -> None:
        self._turns = Turns()
        self.kept: Judged | None = None
        self.count = 0

    def judged(self, trip_id: str) -> Judged | None:
        del trip_id
        return self.kept

    def judge(self, trip_id: str, watch: Watch = UNWATCHED) -> Judged:
        del trip_id, watch
        self.count += 1
        time.sleep(0.05)  # so that the others come meanwhile
        self.kept = Judged(cast("Verdict", None), self.count)
        return self.kept


def test_several_first_looks_at_a_trip_judge_it_once() -> None:
    looks = Looks()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(looks.judged_once, ["trip-1"] * 4))
    assert looks.count == 1
    assert found == [looks.kept] * 4


def test_who_waits_for_another_look_stops_when_told_to() -> None:
    turns, watch = Turns(), Following()
    with turns.take("trip-1", watch):
        watch.cancel()
        with pytest.raises(StoppedError):  # noqa: SIM117 - the second one never enters
            with turns.take("trip-1", watch):
                raise AssertionError
