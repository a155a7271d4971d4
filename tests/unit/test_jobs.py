"""Jobs run in turn, are their owners', can be cancelled, and no restart ends one silently."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest
from fastapi import HTTPException

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.runtime.connection import Synchronous
from gateway.access import Caller, Role
from gateway.api.jobs import Background
from gateway.api.preference import Preference
from gateway.grants import parse_grants
from gateway.jobs import jobs as limits
from gateway.jobs.job import JobKind, JobState, KeptJob
from gateway.jobs.jobs import Jobs, TooManyJobsError
from gateway.jobs.work import Work
from gateway.records.watch import Unit, Watch
from storage.checked.connection import connect_checked

ANNA: Final = Caller("anna", Role.AUDITOR)
BEN: Final = Caller("ben", Role.AUDITOR)
LONG_S: Final = 30.0
Run = Callable[[Watch], Iterable[bytes]]


def work(run: Run = lambda _: [b"a verdict"], kind: JobKind = JobKind.VERIFY_LOT) -> Work:
    return Work(kind, ("trip-1",), run, "application/json", "trip.json")


def until_stopped(watch: Watch) -> Iterator[bytes]:
    """Work that goes on until it is told to stop."""
    while True:
        watch.tell("reads", 1, 2, Unit.BATCHES)
        yield b""


class Gate:
    """Work that says when it began, and goes on when it is let through."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.open = threading.Event()

    def run(self, watch: Watch) -> Iterator[bytes]:
        watch.begin("trip trip-1", 0, 3)
        watch.tell("reads", 5, 9, Unit.BATCHES)
        self.began.set()
        assert self.open.wait(LONG_S)
        watch.tell("reads", 9, 9, Unit.BATCHES)
        yield b"let through"


class House:
    """The jobs of a gateway, and its clock."""

    def __init__(self, directory: Path) -> None:
        self.ms = 1_000_000
        self.jobs = Jobs(directory / "jobs.db", directory / "jobs", now=lambda: self.ms)

    def ended(self, owner: Caller, job_id: str) -> KeptJob:
        self.jobs.wait(job_id, LONG_S)
        return self.found(owner, job_id)

    def found(self, owner: Caller, job_id: str) -> KeptJob:
        found = self.jobs.find(owner, job_id)
        assert found is not None
        return found


@contextmanager
def running(directory: Path) -> Iterator[House]:
    house = House(directory)
    house.jobs.start()
    try:
        yield house
    finally:
        house.jobs.stop()
        house.jobs.close()


def test_a_job_ends_with_a_file_and_its_hash(tmp_path: Path) -> None:
    with running(tmp_path) as house:
        job_id = house.jobs.add(ANNA, work())
        done = house.ended(ANNA, job_id)
        assert (done.state, done.error, done.subjects) == (JobState.DONE, "", ("trip-1",))
        assert house.jobs.path(job_id).read_bytes() == b"a verdict"
        assert house.jobs.path(job_id).stat().st_mode & 0o777 == 0o600
        assert done.made is not None
        assert (done.made.size, done.made.sha256) == (9, hashlib.sha256(b"a verdict").digest())


def test_a_job_tells_how_far_it_is_and_stops_when_cancelled(tmp_path: Path) -> None:
    gate = Gate()
    with running(tmp_path) as house:
        job_id = house.jobs.add(ANNA, work(gate.run))
        assert gate.began.wait(LONG_S)
        told = house.jobs.progress(job_id)
        assert told is not None
        assert (told.step, told.steps, told.subject) == (1, 3, "trip trip-1")
        assert (told.doing, told.done, told.total, told.unit) == ("reads", 5, 9, Unit.BATCHES)
        assert house.found(ANNA, job_id).state is JobState.RUNNING
        assert house.jobs.cancel(ANNA, job_id)
        assert house.found(ANNA, job_id).state is JobState.CANCELLED
        gate.open.set()
        cancelled = house.ended(ANNA, job_id)
        assert (cancelled.state, cancelled.error, cancelled.made) == (JobState.CANCELLED, "", None)
        assert not house.jobs.path(job_id).exists()


def test_a_failure_has_one_clear_error_and_the_next_job_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_: Watch) -> Iterator[bytes]:
        yield b"half"
        raise RejectedError("expected this, got that")

    def broken(_: Watch) -> Iterator[bytes]:
        raise ValueError("a fault of ours")

    with running(tmp_path) as house:
        failed = house.ended(ANNA, house.jobs.add(ANNA, work(refused)))
        assert (failed.state, failed.error) == (JobState.FAILED, "expected this, got that")
        assert not house.jobs.path(failed.job_id).exists(), "half a result is no result"
        failed = house.ended(ANNA, house.jobs.add(ANNA, work(broken)))
        assert failed.error == "an error of this gateway itself; its log says which"
        assert "a fault of ours" in caplog.text
        assert house.ended(ANNA, house.jobs.add(ANNA, work())).state is JobState.DONE


def test_a_job_is_its_owners_with_the_rights_of_that_time(tmp_path: Path) -> None:
    narrow = Caller("anna", Role.AUDITOR, parse_grants(["party:dairy"]))
    with running(tmp_path) as house:
        job_id = house.jobs.add(ANNA, work())
        house.ended(ANNA, job_id)
        for other in (BEN, narrow, Caller("anna", Role.OPERATOR)):
            assert house.jobs.find(other, job_id) is None
            assert house.jobs.listed(other, 0, 10) == []
            assert not house.jobs.cancel(other, job_id)
        assert [each.job_id for _, each in house.jobs.listed(ANNA, 0, 10)] == [job_id]


def test_owners_take_turns_and_a_waiting_job_is_cancelled_at_once(tmp_path: Path) -> None:
    gate = Gate()
    with running(tmp_path) as house:
        first = house.jobs.add(ANNA, work(gate.run))
        second, third = house.jobs.add(ANNA, work()), house.jobs.add(ANNA, work())
        assert gate.began.wait(LONG_S)
        assert house.ended(BEN, house.jobs.add(BEN, work())).state is JobState.DONE
        assert house.found(ANNA, second).state is JobState.WAITING, "one of an owner at a time"
        assert house.jobs.cancel(ANNA, third)
        assert house.found(ANNA, third).state is JobState.CANCELLED
        gate.open.set()
        assert house.ended(ANNA, second).state is JobState.DONE
        assert house.found(ANNA, first).state is JobState.DONE


def test_a_trip_s_verdict_waits_for_no_long_job(tmp_path: Path) -> None:
    gates = [Gate() for _ in range(limits.AT_ONCE_MAX)]
    with running(tmp_path) as house:
        for owner, gate in zip((ANNA, BEN), gates, strict=True):
            house.jobs.add(owner, work(gate.run))
        assert all(gate.began.wait(LONG_S) for gate in gates)
        quick = house.jobs.add(ANNA, work(kind=JobKind.VERIFY_TRIP))
        assert house.ended(ANNA, quick).state is JobState.DONE
        for gate in gates:
            gate.open.set()


def test_what_cannot_be_removed_keeps_no_job_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(tmp_path) as house:
        (tmp_path / "jobs" / "lost+found").mkdir()
        assert house.ended(ANNA, house.jobs.add(ANNA, work())).state is JobState.DONE
        assert "lost+found" in caplog.text


def test_too_many_jobs_are_refused_and_not_written_down(tmp_path: Path) -> None:
    house = House(tmp_path)  # nothing runs
    for _ in range(limits.OF_ONE_MAX):
        house.jobs.add(ANNA, work())
    with pytest.raises(TooManyJobsError, match="expected at most 4 jobs of anna and 16 of all"):
        house.jobs.add(ANNA, work())
    for number in range(limits.UNDER_WAY_MAX - limits.OF_ONE_MAX):
        house.jobs.add(Caller(f"reader-{number}", Role.AUDITOR), work())
    with pytest.raises(TooManyJobsError):
        house.jobs.add(BEN, work())
    assert len(house.jobs.listed(ANNA, 0, 100)) == limits.OF_ONE_MAX
    house.jobs.close()


def test_after_a_restart_each_job_says_what_became_of_it(tmp_path: Path) -> None:
    began = threading.Event()

    def goes_on(watch: Watch) -> Iterator[bytes]:
        began.set()
        yield from until_stopped(watch)

    with running(tmp_path) as house:
        done = house.jobs.add(ANNA, work())
        house.ended(ANNA, done)
        under_way = house.jobs.add(ANNA, work(goes_on))
        waiting = house.jobs.add(ANNA, work())
        assert began.wait(LONG_S)
    with running(tmp_path) as house:
        assert house.found(ANNA, done).state is JobState.DONE
        assert house.jobs.path(done).read_bytes() == b"a verdict"
        for job_id in (under_way, waiting):
            interrupted = house.found(ANNA, job_id)
            assert interrupted.state is JobState.INTERRUPTED
            assert interrupted.error.endswith("begin it again")


def test_a_kill_leaves_a_job_interrupted_and_no_file_of_it(tmp_path: Path) -> None:
    house = House(tmp_path)
    job_id = house.jobs.add(ANNA, work())
    house.jobs.register.begin(job_id, house.ms)
    house.jobs.path(job_id).write_bytes(b"half")
    house.jobs.close()  # as a kill leaves it
    with running(tmp_path) as later:
        assert later.found(ANNA, job_id).state is JobState.INTERRUPTED
        later.jobs.sweep()
        assert not later.jobs.path(job_id).exists()
        assert later.jobs.cancel(ANNA, job_id)
        assert later.jobs.find(ANNA, job_id) is None


def test_a_newer_version_s_job_is_not_shown_and_hides_no_other(tmp_path: Path) -> None:
    with running(tmp_path) as house:
        theirs, ours = (house.jobs.add(ANNA, work()) for _ in range(2))
        house.ended(ANNA, theirs)
        house.ended(ANNA, ours)
    with closing(connect_checked(tmp_path / "jobs.db", Synchronous.FULL)) as db:
        db.execute("UPDATE jobs SET kind = 'of-tomorrow' WHERE job_id = ?", (theirs,))
    with running(tmp_path) as house:
        assert [each.job_id for _, each in house.jobs.listed(ANNA, 0, 10)] == [ours]
        assert house.jobs.find(ANNA, theirs) is None
        assert not house.jobs.cancel(ANNA, theirs)
        house.jobs.sweep()
        assert house.jobs.path(theirs).exists()  # for the newer version, if it comes back
        house.ms += int(limits.LASTS_MAX_S * 1000) + 1
        house.jobs.sweep()
        assert not house.jobs.path(theirs).exists()


def test_results_are_kept_for_a_day_from_their_end(tmp_path: Path) -> None:
    with running(tmp_path) as house:
        job_id = house.jobs.add(ANNA, work())
        house.ended(ANNA, job_id)
        house.ms += int(limits.LASTS_MAX_S * 1000)
        house.jobs.sweep()
        assert house.found(ANNA, job_id).state is JobState.DONE
        house.ms += 1
        house.jobs.sweep()
        assert house.jobs.find(ANNA, job_id) is None
        assert not house.jobs.path(job_id).exists()


def test_of_an_owner_only_the_newest_jobs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LISTED_MAX", 2)
    with running(tmp_path) as house:
        made = [house.jobs.add(ANNA, work()) for _ in range(3)]
        other = house.jobs.add(BEN, work())
        for job_id in made:
            house.jobs.wait(job_id, LONG_S)
        house.ended(BEN, other)
        house.jobs.sweep()
        assert [each.job_id for _, each in house.jobs.listed(ANNA, 0, 10)] == made[1:]
        assert house.found(BEN, other).state is JobState.DONE


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("RESULT_BYTES_OF_ONE_MAX", 3 << 20, "expected results of at most 3145728 bytes of anna"),
        ("RESULT_BYTES_MAX", 3 << 20, "expected results of at most 3145728 bytes of all"),
        ("FREE_BYTES_MIN", 1 << 60, "bytes of free room on the gateway's disk"),
    ],
)
def test_a_result_that_takes_too_much_room_fails_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, said: str
) -> None:
    monkeypatch.setattr(limits, limit, value)
    with running(tmp_path) as house:
        big = house.jobs.add(ANNA, work(lambda _: [bytes(1 << 20)] * 8))
        failed = house.ended(ANNA, big)
        assert failed.state is JobState.FAILED
        assert said in failed.error
        assert list((tmp_path / "jobs").iterdir()) == []


def test_an_end_that_cannot_be_written_down_is_not_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with running(tmp_path) as house:
        monkeypatch.setattr(house.jobs.register, "end", _full_disk)
        job_id = house.jobs.add(ANNA, work())
        assert house.ended(ANNA, job_id).state is JobState.INTERRUPTED
        assert "its end is not written down: the disk is full" in caplog.text


def _full_disk(*_: object, **__: object) -> None:
    raise UnavailableError("the disk is full")


def test_an_end_of_the_gateway_waits_for_no_hung_job_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits, "STOP_MAX_S", 0.1)
    gate = Gate()
    with running(tmp_path) as house:
        job_id = house.jobs.add(ANNA, work(gate.run))
        assert gate.began.wait(LONG_S)
    (said,) = [each.getMessage() for each in caplog.records if "did not end" in each.getMessage()]
    for word in (job_id, "verify-lot of trip-1", "for anna", "reads"):
        assert word in said
    gate.open.set()  # it comes back into a gateway whose register is closed
    for thread in house.jobs._threads:  # noqa: SLF001
        thread.join(LONG_S)
    with running(tmp_path) as again:
        assert again.found(ANNA, job_id).state is JobState.INTERRUPTED


def test_jobs_are_counted_while_they_wait_and_run_and_as_they_end(tmp_path: Path) -> None:
    ended: list[JobState] = []
    jobs = Jobs(tmp_path / "jobs.db", tmp_path / "jobs", ended=ended.append)
    gate = Gate()
    jobs.start()
    try:
        job_ids = [jobs.add(ANNA, work(each)) for each in (gate.run, failing, until_stopped)]
        assert gate.began.wait(LONG_S)
        assert jobs.counts() == {"running": 1, "waiting": 2}
        jobs.cancel(ANNA, job_ids[2])
        gate.open.set()
        for each in job_ids:
            jobs.wait(each, LONG_S)
        assert jobs.counts() == {"running": 0, "waiting": 0}
    finally:
        jobs.stop()
        jobs.close()
    assert ended == [JobState.CANCELLED, JobState.DONE, JobState.FAILED]


def failing(_: Watch) -> Iterable[bytes]:
    raise UnavailableError("the ledger does not answer")


class Noted:
    """Counts accesses that are written down, or cannot be."""

    def __init__(self, error: WaysealError | None = None) -> None:
        self.count, self.error = 0, error

    def __call__(self) -> None:
        self.count += 1
        if self.error is not None:
            raise self.error


def test_a_job_that_is_refused_is_no_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OF_ONE_MAX", 1)
    house = House(tmp_path)
    background = Background(house.jobs, ANNA, Preference(is_async=True, wait_s=0))
    fails = Noted(UnavailableError("the disk is full"))
    with pytest.raises(UnavailableError, match="the disk is full"):
        background.begin(work(), fails)
    assert house.jobs.counts() == {"running": 0, "waiting": 0}  # nobody does what is not on record
    first, second = Noted(), Noted()
    assert background.begin(work(), first).status_code == 202
    with pytest.raises(HTTPException) as refused:
        background.begin(work(), second)
    assert refused.value.status_code == 429
    assert (first.count, second.count) == (1, 0)
    house.jobs.close()
