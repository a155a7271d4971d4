"""One run: order, intervals, what is kept when it is cut off, what was there before."""

import os
import random
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest
from scipy.stats import quantile_test

from contracts.errors import RejectedError, UnavailableError
from storage.bench.run.directories import (
    WORKPLACE,
    began_ticks,
    remove_left_in,
    remove_left_scratch,
    scratch,
    workplace,
)
from storage.bench.run.document import Document, Heading
from storage.bench.run.flags import Flag
from storage.bench.run.folder import RESULT, Folder
from storage.bench.run.outcome import Metric, Observation, Outcome, Series
from storage.bench.run.plan import Part, Place, Step, StepGroup, order
from storage.bench.run.runner import Runner
from storage.bench.run.savedrun import opened
from storage.bench.run.volumetarget import volume_targets
from storage.bench.stats.interval import interval

RATE = Metric("rate", "B/s")
HEADING = Heading(
    run="r",
    version="0",
    command=["wayseal-bench"],
    seed=7,
    quick=False,
    started_at="2026-01-01T00:00:00Z",
    settings={"size": 1},
    machine={},
    targets=[{"name": "a", "kind": "volume", "interface": "virtio"}],
)


class Quiet:
    """Nobody watches."""

    def says(self, words: str) -> None:
        pass

    def stands_at(self, share: float) -> None:
        assert 0 <= share <= 1


def group(
    *executes: Callable[[Place], Outcome], repetitions: int = 6, ended: list[str] | None = None
) -> StepGroup:
    @contextmanager
    def opened() -> Iterator[Sequence[Step]]:
        try:
            yield [Step("work", f"t{n}", execute) for n, execute in enumerate(executes)]
        finally:
            if ended is not None:
                ended.append("closed")

    return StepGroup(Part.IO, "a group", 1.0, opened, repetitions)


def run(directory: Path, *groups: StepGroup) -> Document:
    return valid(directory, Runner(Folder(directory), HEADING, Quiet()).run(groups))


def valid(directory: Path, result: Document) -> Document:
    assert opened(directory).result == result
    return result


def one(value: float) -> Callable[[Place], Outcome]:
    return lambda _: Outcome([Observation(RATE, value)])


def test_every_step_runs_once_before_any_runs_again_in_an_order_that_can_be_repeated() -> None:
    steps = [Step("w", f"t{n}", one(1)) for n in range(5)]
    first = list(order(steps, 4, random.Random(1)))
    assert first == list(order(steps, 4, random.Random(1)))
    rounds = [[step.target for at, step in first if at == each] for each in range(4)]
    assert all(sorted(each) == ["t0", "t1", "t2", "t3", "t4"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1


@pytest.mark.parametrize(
    ("count", "low", "high", "confidence"),
    [(1, 0, 0, 0.0), (5, 0, 4, 0.9375), (6, 0, 5, 0.96875), (8, 0, 7, 0.9921875),
     (9, 1, 7, 0.9609375), (12, 2, 9, 0.961426), (20, 5, 14, 0.958611)],
)  # fmt: skip
def test_the_interval_is_that_of_the_tables(
    count: int, low: int, high: int, confidence: float
) -> None:
    """Le Boudec, table A.1, counts ranks from 1: for 9 values the 2nd and the 8th."""
    values = list(range(count))
    random.Random(3).shuffle(values)
    found = interval(values)
    assert (found.low, found.high) == (low, high)
    assert found.confidence == pytest.approx(confidence, abs=1e-6)
    assert found.median == median(values)


@pytest.mark.parametrize("count", range(6, 40))
def test_the_interval_is_that_of_scipy(count: int) -> None:
    """SciPy has no interval for fewer values, nor the confidence that it has."""
    values = [float(each) for each in range(count)]
    found = interval(values)
    theirs = quantile_test(values, p=0.5).confidence_interval(confidence_level=0.95)
    assert (found.low, found.high) == (theirs.low, theirs.high)


def test_a_result_says_what_was_measured_and_how_sure_it_is(tmp_path: Path) -> None:
    values = iter([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    result = run(tmp_path, group(lambda _: Outcome([Observation(RATE, next(values))])))
    (figure,) = result["figures"]
    assert figure["values"] == [3.0, 1.0, 2.0, 6.0, 5.0, 4.0]
    assert (figure["median"], figure["low"], figure["high"]) == (3.5, 1.0, 6.0)
    assert figure["flags"] == []
    assert result["complete"]


def test_few_repetitions_are_flagged(tmp_path: Path) -> None:
    (figure,) = run(tmp_path, group(one(1), repetitions=2))["figures"]
    assert [each["flag"] for each in figure["flags"]] == [Flag.FEW_REPETITIONS]


def test_tables_and_raw_output_are_kept_beside_the_result(tmp_path: Path) -> None:
    outcome = Outcome([], [Series("rates", ["s", "b"], [[0, 1], [1, 2]])], (), {"raw.txt": b"x"})
    result = run(tmp_path, group(lambda _: outcome, repetitions=1))
    folder = tmp_path / result["executions"][0]["folder"]
    assert (folder / "rates.csv").read_text("utf-8") == "s,b\n0,1\n1,2\n"
    assert (folder / "raw.txt").read_bytes() == b"x"


def test_what_fails_is_in_the_result_and_the_rest_goes_on(tmp_path: Path) -> None:
    def fail(_: Place) -> Outcome:
        raise UnavailableError("expected a disk, got none")

    result = run(tmp_path, group(fail, one(2), repetitions=6))
    assert len(result["failures"]) == 6
    assert result["failures"][0]["why"] == "expected a disk, got none"
    assert [each["target"] for each in result["figures"]] == ["t1"]


def test_a_signal_ends_a_run_early_with_a_valid_result(tmp_path: Path) -> None:
    def interrupt(_: Place) -> Outcome:
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("goes on after the signal")

    before, ended = signal.getsignal(signal.SIGINT), list[str]()
    result = run(tmp_path, group(one(1)), group(interrupt, ended=ended), group(one(3)))
    assert (result["complete"], result["ended"]) == (False, "interrupted by SIGINT")
    assert [each["values"] for each in result["figures"]] == [[1] * 6]
    assert ended == ["closed"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_defect_ends_a_run_early_with_a_valid_result(tmp_path: Path) -> None:
    def break_off(_: Place) -> Outcome:
        raise KeyError("no such drive")

    ended = list[str]()
    runner = Runner(Folder(tmp_path), HEADING, Quiet())
    result = valid(
        tmp_path, runner.run([group(one(1)), group(break_off, ended=ended), group(one(3))])
    )
    assert (result["complete"], result["ended"]) == (False, "KeyError: 'no such drive'")
    assert [each["values"] for each in result["figures"]] == [[1] * 6]
    assert ended == ["closed"]
    assert isinstance(runner.defect, KeyError)


def test_a_workplace_is_empty_and_goes_away(tmp_path: Path) -> None:
    left = tmp_path / WORKPLACE
    with workplace(tmp_path) as work:
        (work / "chain").mkdir()
        with pytest.raises(UnavailableError, match="another wayseal-bench"), workplace(tmp_path):
            pass
        os.link(work / "made-by-wayseal-bench", tmp_path / "mark")
    assert not left.exists()
    (left / "old").mkdir(parents=True)
    with pytest.raises(RejectedError, match="not made by wayseal-bench"), workplace(tmp_path):
        pass
    (tmp_path / "mark").rename(left / "made-by-wayseal-bench")
    with workplace(tmp_path) as work:
        assert [path.name for path in work.iterdir()] == ["made-by-wayseal-bench"]
    with pytest.raises(RejectedError, match="expected a directory"), workplace(tmp_path / "no"):
        pass


def test_scratch_of_the_living_stays_and_that_of_the_dead_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch() as mine:
        (mine / "video").touch()
        began = began_ticks(os.getpid()) or 0
        dead = tmp_path / f"wayseal-bench-{os.getpid()}-{began - 1}-abc"
        (dead / "trucks").mkdir(parents=True)
        for name in ("wayseal-bench-abc", "wayseal-bench-1-2"):
            (tmp_path / name).mkdir()
        link = tmp_path / f"wayseal-bench-{os.getpid()}-{began - 2}-link"
        link.symlink_to(mine)
        remove_left_scratch()
        kept = {mine.name, link.name, "wayseal-bench-abc", "wayseal-bench-1-2"}
        assert {path.name for path in tmp_path.iterdir()} == kept
        assert (mine / "video").exists()
    assert not mine.exists()


def test_runs_that_were_killed_are_cleaned_and_those_that_run_are_not(tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    (tmp_path / "killed" / WORKPLACE / "cassandra").mkdir(parents=True)
    (tmp_path / "killed" / WORKPLACE / "made-by-wayseal-bench").touch()
    (tmp_path / "killed" / RESULT).touch()
    (tmp_path / "theirs" / WORKPLACE).mkdir(parents=True)
    with workplace(tmp_path / "running") as work:
        remove_left_in(tmp_path)
        assert work.exists()
    assert [path.name for path in (tmp_path / "killed").iterdir()] == [RESULT]
    assert (tmp_path / "theirs" / WORKPLACE).exists()
    remove_left_in(tmp_path / "none")


def test_a_directory_has_one_name_however_it_is_reached(tmp_path: Path) -> None:
    one, link = tmp_path / "one", tmp_path / "link"
    one.mkdir()
    link.symlink_to(one)
    for what, chosen in (
        ("name", [("a", one), ("a", tmp_path)]),
        ("directory", [("a", one), ("b", link)]),
    ):
        refused = pytest.raises(RejectedError, match=f"targets with a {what} each")
        with refused, volume_targets(chosen):
            pass
    assert list(one.iterdir()) == []
