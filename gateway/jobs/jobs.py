"""Runs jobs: a few at a time, in turn, and keeps what comes of them for a day.

Quick ones have a thread of their own.

A job's result is a file, so that a long one can be fetched in ranges. A restart ends the jobs under
way, and says so of each; the results of those that were done stay.
"""

import hashlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.records.clock import now_ms
from contracts.runtime.files import OWNER_ONLY, disk_errors, make_directory, remove_file
from gateway.access import Caller
from gateway.jobs.job import ENDED_WITHOUT_A_WORD, JobState, KeptJob, Made
from gateway.jobs.progress import Progress
from gateway.jobs.register import JobRegister
from gateway.jobs.work import Task, Work
from gateway.records.watch import StoppedError
from storage.checked.damage import DamageNotes

AT_ONCE_MAX: Final = 2
"""Long jobs that run at a time, each of another owner."""
QUICK_AT_ONCE_MAX: Final = 1
"""Quick jobs that run at a time beside them."""
OF_ONE_MAX: Final = 4
"""Jobs of one owner that wait or run; one more is refused."""
UNDER_WAY_MAX: Final = 16
"""Jobs of all owners that wait or run; one more is refused."""
LASTS_MAX_S: Final = 86_400.0
"""How long a job and its result are kept, from its end on."""
LISTED_MAX: Final = 100
"""Jobs of one owner that are kept; beyond that the oldest go, with their results."""
RESULT_BYTES_MAX: Final = 16 << 30
"""Results of all owners together; a job that would go beyond it fails."""
RESULT_BYTES_OF_ONE_MAX: Final = 8 << 30
FREE_BYTES_MIN: Final = 256 << 20
"""Room on the gateway's disk that results leave free; a job that needs it fails."""
STOP_MAX_S: Final = 20.0
"""How long the end of the gateway waits for jobs that were told to stop."""
_SWEEP_EVERY_S: Final = 600.0
_LOOK_BYTES: Final = 1 << 20
"""How often, in bytes, a growing result looks whether there is room."""

_log = logging.getLogger(__name__)


class TooManyJobsError(UnavailableError):
    """There are as many jobs under way as may be."""


class DamagedResultError(RejectedError):
    """The file of a result is not what the job wrote."""


class Jobs:
    """The jobs of one gateway; safe to use from several threads.

    Args:
        register: Where jobs are written down.
        folder: Directory of their results; other files in it are removed.
        damage: Where damage is noted.
        now: The time, UTC ms.
        ended: Told how each job ends.
    """

    def __init__(
        self,
        register: Path,
        folder: Path,
        damage: DamageNotes | None = None,
        now: Callable[[], int] = now_ms,
        *,
        ended: Callable[[JobState], None] = lambda _: None,
    ) -> None:
        """Open the register.

        Raises:
            UnavailableError: A file or directory cannot be opened.
        """
        make_directory(folder)
        self.register = JobRegister(register, damage)
        self._folder = folder
        self._now = now
        self._ended = ended
        self._changed = threading.Condition()
        self._tasks: dict[str, Task] = {}
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._left_behind = False

    def start(self) -> None:
        """Begin to work."""
        for number in range(AT_ONCE_MAX + QUICK_AT_ONCE_MAX):
            thread = threading.Thread(
                target=self._work, args=[number >= AT_ONCE_MAX], name=f"jobs-{number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End what is under way; it is interrupted. One that does not end is named, and left.

        Work stops before its next step, and a step may hang at a ledger or a disk that does not
        answer: a gateway that is told to end does not wait for that.
        """
        with self._changed:
            self._closing = True
            for task in self._tasks.values():
                task.watch.stop()
            self._changed.notify_all()
        end_s = time.monotonic() + STOP_MAX_S
        for thread in self._threads:
            thread.join(max(0.0, end_s - time.monotonic()))
        with self._changed:
            self._left_behind = any(thread.is_alive() for thread in self._threads)
            for job_id, task in self._tasks.items():
                if task.is_running:
                    _log.warning(
                        "job %s (%s of %s, for %s) did not end within %g s and is left: %s",
                        job_id,
                        task.work.kind,
                        ", ".join(task.work.subjects),
                        task.owner.name,
                        STOP_MAX_S,
                        task.watch.progress.doing or "it had told nothing",
                    )

    def close(self) -> None:
        """Close the register."""
        self.register.close()

    def add(self, owner: Caller, work: Work) -> str:
        """Put a job in the queue and return its id; it is written down.

        Raises:
            TooManyJobsError: There are as many under way as may be.
            UnavailableError: It cannot be written down.
        """
        self.sweep()
        with self._changed:
            own = sum(task.owner == owner for task in self._tasks.values())
            if own >= OF_ONE_MAX or len(self._tasks) >= UNDER_WAY_MAX:
                raise TooManyJobsError(
                    f"expected at most {OF_ONE_MAX} jobs of {owner.name} and {UNDER_WAY_MAX} of "
                    f"all under way, got one more: wait for one, or cancel one"
                )
            job_id = secrets.token_hex(16)
            self.register.add(job_id, owner, work.kind, work.subjects, self._now())
            self._tasks[job_id] = Task(owner, work)
            self._changed.notify_all()
        return job_id

    def counts(self) -> dict[str, int]:
        """Return how many jobs wait, and how many run."""
        with self._changed:
            running = sum(task.is_running for task in self._tasks.values())
            return {JobState.WAITING: len(self._tasks) - running, JobState.RUNNING: running}

    def find(self, owner: Caller, job_id: str) -> KeptJob | None:
        """Return a job of an owner as it stands, or None."""
        with self._changed:
            found = self.register.find(owner, job_id)
            return None if found is None else self._as_it_stands(found)

    def listed(self, owner: Caller, after: int, count: int) -> list[tuple[int, KeptJob]]:
        """Return up to `count` jobs of an owner whose numbers follow `after`, each with its own."""
        with self._changed:
            found = self.register.listed(owner, after, count)
            return [(each.number, self._as_it_stands(each)) for each in found]

    def progress(self, job_id: str) -> Progress | None:
        """Return how far a job is that runs; None for others."""
        task = self._tasks.get(job_id)
        return None if task is None else task.watch.progress

    def wait(self, job_id: str, timeout_s: float) -> None:
        """Return when a job has ended, or after a time."""
        with self._changed:
            self._changed.wait_for(lambda: job_id not in self._tasks, timeout_s)

    def cancel(self, owner: Caller, job_id: str) -> bool:
        """Cancel a job that is under way; forget one that has ended, with its result.

        Work stops before its next step. Returns whether the owner has such a job.

        Raises:
            UnavailableError: It cannot be written down; the job stops anyway.
        """
        with self._changed:
            if self.register.find(owner, job_id) is None:
                return False
            task = self._tasks.get(job_id)
            if task is None:
                self.register.drop(job_id)
            elif not task.watch.is_cancelled:
                task.watch.cancel()
                if task.is_running:
                    self.register.end(job_id, JobState.CANCELLED, self._now())
                else:
                    self._end(job_id, JobState.CANCELLED)
        if task is None:
            remove_file(self.path(job_id))
        return True

    def content(self, job: KeptJob, made: Made) -> bytes:
        """Return all of a job's result, compared with its hash; for results that are small.

        Raises:
            DamagedResultError: It is another.
            UnavailableError: It cannot be read.
        """
        path = self.path(job.job_id)
        with disk_errors("read", path):
            content = path.read_bytes()
        if hashlib.sha256(content).digest() != made.sha256:
            raise DamagedResultError(
                f"the result of job {job.job_id} is damaged on the gateway's disk: begin it again"
            )
        return content

    def path(self, job_id: str) -> Path:
        """Return the file of a job's result."""
        return self._folder / job_id

    def sweep(self) -> None:
        """Forget jobs that are old, and remove the files of jobs that are not known.

        Raises:
            UnavailableError: The register or the directory cannot be read.
        """
        with disk_errors("list", self._folder):  # first: a job that begins now has no file here
            found = list(self._folder.iterdir())
        with self._changed:
            alive = list(self._tasks)
            before_ms = self._now() - int(LASTS_MAX_S * 1000)
            self.register.expire(before_ms, LISTED_MAX, alive)
            known = {*alive, *self.register.files()}
        for each in found:
            if each.name in known:
                continue
            try:
                remove_file(each)
            except UnavailableError as failure:  # such as lost+found; nobody's job waits for it
                _log.warning("a file that belongs to no job stays: %s", failure)

    def _as_it_stands(self, job: KeptJob) -> KeptJob:
        """Return a job; one under way that nobody works at was interrupted."""
        if not job.state.is_under_way:
            return job
        task = self._tasks.get(job.job_id)
        if task is None:
            return replace(job, state=JobState.INTERRUPTED, error=ENDED_WITHOUT_A_WORD)
        return job

    def _work(self, quick: bool) -> None:  # noqa: FBT001 - an argument of a thread
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._next(quick), _SWEEP_EVERY_S)
                if self._closing:
                    return
                job_id = self._next(quick)
                if job_id is not None:
                    self._tasks[job_id].is_running = True
            try:
                if job_id is None:
                    self.sweep()
                else:
                    self._run(job_id, self._tasks[job_id])
            except WaysealError as failure:
                _log.warning("old jobs are not removed: %s", failure)

    def _next(self, quick: bool) -> str | None:  # noqa: FBT001 - as above
        """Return the job that has waited longest, of an owner for whom no such job runs."""
        alike = {name: task for name, task in self._tasks.items() if task.is_quick is quick}
        busy = {task.owner for task in alike.values() if task.is_running}
        return next((name for name, task in alike.items() if task.owner not in busy), None)

    def _run(self, job_id: str, task: Task) -> None:
        began_s = time.monotonic()
        state, error, made = JobState.FAILED, "", None
        try:
            with self._changed:
                task.watch.check()  # it may have been cancelled since it was taken
                self.register.begin(job_id, self._now())
            made = self._write(job_id, task)
            state = JobState.DONE
        except StoppedError:
            state = JobState.CANCELLED if task.watch.is_cancelled else JobState.INTERRUPTED
            error = "" if task.watch.is_cancelled else ENDED_WITHOUT_A_WORD
        except WaysealError as failure:
            error = str(failure)
        except Exception:  # noqa: BLE001 - a thread that died would leave jobs waiting for ever
            _log.exception("job %s failed", job_id)
            error = "an error of this gateway itself; its log says which"
        with self._changed:
            if self._left_behind:
                return  # what it would write into is closed; the next start finds it interrupted
            if task.watch.is_cancelled:
                state, error, made = JobState.CANCELLED, "", None
            self._end(job_id, state, error=error, made=made)
        took_s = time.monotonic() - began_s
        _log.info("job %s of %s: %s after %.1f s", job_id, task.owner.name, state, took_s)

    def _end(
        self, job_id: str, state: JobState, *, error: str = "", made: Made | None = None
    ) -> None:
        """Note how a job ended; holds the lock. If it cannot be noted, it counts as interrupted."""
        try:
            self.register.end(job_id, state, self._now(), error=error, made=made)
            if made is None:
                remove_file(self.path(job_id))
        except WaysealError as failure:
            _log.warning("job %s: its end is not written down: %s", job_id, failure)
        finally:
            self._ended(state)
            del self._tasks[job_id]
            self._changed.notify_all()

    def _write(self, job_id: str, task: Task) -> Made:
        """Write a job's result into its file."""
        path, digest = self.path(job_id), hashlib.sha256()
        with disk_errors("write", path), _new_file(path) as file:
            for piece in task.work.run(task.watch):
                task.watch.check()
                if task.written // _LOOK_BYTES != (task.written + len(piece)) // _LOOK_BYTES:
                    self._check_room(task)
                file.write(piece)
                digest.update(piece)
                task.written += len(piece)
            file.flush()
            os.fsync(file.fileno())
        return Made(task.work.media_type, task.work.file_name, task.written, digest.digest())

    def _check_room(self, task: Task) -> None:
        """Check that a result may grow by a further piece.

        Raises:
            RejectedError: The owner's results, or those of all, take as much as they may.
            UnavailableError: The disk is nearly full.
        """
        sizes = [(each.owner.name, each.written) for each in list(self._tasks.values())]
        sizes += self.register.files().values()
        name = task.owner.name
        for whose, used, most in (
            (f"of {name}", sum(size for of, size in sizes if of == name), RESULT_BYTES_OF_ONE_MAX),
            ("of all", sum(size for _, size in sizes), RESULT_BYTES_MAX),
        ):
            if used + _LOOK_BYTES > most:
                raise RejectedError(
                    f"expected results of at most {most} bytes {whose} at a time, and {used} are "
                    "kept: delete jobs, or ask without a job"
                )
        state = os.statvfs(self._folder)
        if (free := state.f_bavail * state.f_frsize) < FREE_BYTES_MIN + _LOOK_BYTES:
            raise UnavailableError(
                f"expected {FREE_BYTES_MIN} bytes of free room on the gateway's disk beside a "
                f"job's result, and {free} are free"
            )


def _new_file(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, OWNER_ONLY), "wb")
