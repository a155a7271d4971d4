"""Uploads recordings in threads of their own, some at a time, while readings are sent."""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from contracts.records.recording import RecordingDigest
from device.backoff import Backoff
from device.journal.trip import Recording
from device.offload.progress import Progress
from device.offload.throttle import Throttle
from device.offload.upload import MISMATCH_TRIES, MismatchError, TusClient

BACKOFF_LIMIT_S: Final = 10.0
_Key = tuple[str, bytes]


class Uploads:
    """Uploads each recording, with retries, until it is done or refused for good.

    A context manager: leaving it stops at the next blob. It never reads the journal, so the
    threads need no database connection.

    Args:
        clients: Connections to the gateway; each carries one recording at a time.
        videos: Folder of the recordings.
        progress: Notes whenever bytes move.
        bytes_per_s: Limit of all uploads together; None: without limit.
    """

    def __init__(
        self,
        clients: Sequence[TusClient],
        videos: Path,
        progress: Progress,
        bytes_per_s: int | None = None,
    ) -> None:
        self._videos = videos
        self._progress = progress
        self._known: set[_Key] = set()
        self._waiting: deque[Recording] = deque()
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._throttle = Throttle(bytes_per_s, self._stop.wait)
        self._threads = [
            threading.Thread(target=self._work, args=[client], name="uploads", daemon=True)
            for client in clients
        ]
        self._finished = self._running = 0
        self._problems: dict[_Key, str] = {}
        self.failures: dict[str, RejectedError] = {}

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def add(self, recordings: Iterable[Recording]) -> None:
        """Queue new recordings; the journal's limit bounds the queue.

        Args:
            recordings: All that are to be sent, in the order in which those that wait are begun.
        """
        place: dict[_Key, int] = {}
        with self._changed:
            for recording in recordings:
                key = _key(recording)
                place[key] = len(place)
                if key not in self._known:
                    self._known.add(key)
                    self._waiting.append(recording)
                    self._progress.expect(recording.digest.sha256, recording.digest.size)
            in_order = sorted(self._waiting, key=lambda each: place.get(_key(each), len(place)))
            self._waiting = deque(in_order)
            self._changed.notify_all()

    @property
    def left(self) -> int:
        """How many recordings are not whole at the gateway yet."""
        return len(self._known) - self._finished

    @property
    def last_problem(self) -> str:
        """The newest problem of a recording that is not whole there; empty if none has one."""
        with self._changed:
            return next(reversed(self._problems.values()), "")

    @property
    def is_idle(self) -> bool:
        """Whether each recording that was queued is whole at the gateway, or refused."""
        with self._changed:
            return not self._waiting and not self._running

    def _work(self, client: TusClient) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stop.is_set())
                if self._stop.is_set():
                    return
                recording = self._waiting.popleft()
                self._running += 1
            try:
                self._finish(client, recording)
            except RejectedError as error:
                self.failures[recording.trip_id] = error
            finally:
                with self._changed:
                    self._running -= 1

    def _finish(self, client: TusClient, recording: Recording) -> None:
        path = self._videos / recording.trip_id / recording.name
        backoff, mismatches = Backoff(BACKOFF_LIMIT_S), 0
        while not self._stop.is_set():
            moves = self._progress.moves
            try:
                client.upload(
                    path,
                    recording.digest,
                    recording.trip_id,
                    throttle=self._throttle,
                    reached=partial(self._progress.note_offset, recording.digest.sha256),
                    stopped=self._stop.is_set,
                )
            except MismatchError as error:
                mismatches += 1
                if mismatches >= MISMATCH_TRIES:
                    raise RejectedError(_explain(path, recording.digest, error)) from error
            except UnavailableError as error:
                with self._changed:
                    self._problems.pop(_key(recording), None)  # so that the newest stands last
                    self._problems[_key(recording)] = str(error)
                if (
                    self._progress.moves != moves
                ):  # a connection that breaks often still moves bytes
                    backoff = Backoff(BACKOFF_LIMIT_S)
            else:
                self._progress.note()
                with self._changed:
                    self._problems.pop(_key(recording), None)
                    self._finished += 1
                return
            self._stop.wait(backoff.next_s())


def _key(recording: Recording) -> _Key:
    return recording.trip_id, recording.digest.sha256


def _explain(path: Path, signed: RecordingDigest, error: MismatchError) -> str:
    """Say which side has the wrong bytes: the file here, or what the gateway received."""
    found = RecordingDigest.of_file(path)
    if found == signed:
        return f"{error}; the file here still has the signed digest"
    return (
        f"recording {path}: expected SHA-256 {signed.sha256.hex()} as signed, "
        f"the file now has {found.sha256.hex()}"
    )
