"""One volume: in use while it works, out with a reason while it does not.

A lost NVMe-oF link may stall I/O for minutes without an error, in a state in which no signal
reaches the thread. So only a volume's own few threads touch it. Other threads wait for them, at
most `ANSWER_LIMIT_S`. One thing cannot be bounded: a thread that is stuck in the kernel stays there
until its I/O ends, with its 2 MiB of memory. A process that exits waits for it.
"""

import errno
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from contracts.errors import UnavailableError
from contracts.runtime.dependency import Dependency, Standing
from contracts.runtime.files import disk_errors, make_directory
from storage.disk import opened
from storage.volumes.directory import VolumeDirectory
from storage.volumes.marker import Identity
from storage.volumes.part import PartFile

PROBE_EVERY_S: Final = 5.0
PROBE_LIMIT_S: Final = 30.0
"""If a probe takes longer, the volume stalls."""
ANSWER_LIMIT_S: Final = 60.0
"""For any other operation: a busy disk may take long to sync."""
READ_LIMIT_S: Final = 10.0
"""For reading at most a blob: another copy answers sooner than a volume that stalls."""
VOLUME_THREADS: Final = 8
_POLL_S: Final = 0.5
_PROBE: Final = ".wayseal-probe"
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_BROKEN: Final = _FULL | {errno.ENOENT, errno.EMFILE, errno.ENFILE}
"""Errors of a working volume: it is full, a file is missing, or this process is at a limit."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class VolumePlace:
    """Where a volume is, and its settings.

    Attributes:
        path: Directory on it, for one gateway alone.
        mount: Whether the path must be a mount point.
        quota_bytes: Limit for recordings; 0 means no limit.
    """

    path: Path
    mount: bool = False
    quota_bytes: int = 0


@dataclass(frozen=True, slots=True)
class VolumeState:
    """The state of a volume, for operators.

    Attributes:
        name: Its name in settings, manifests and receipts.
        path: Its directory.
        usable: Whether it is in use.
        reason: Why it is out; empty while it is in use.
        since_ms: Since when it is in use or out.
        free_bytes: Free on its file system; None if it does not answer.
        used_bytes: Used by recordings, reservations included; None if it does not answer.
        quota_bytes: Limit for them; 0 means no limit.
    """

    name: str
    path: Path
    usable: bool
    reason: str
    since_ms: int
    free_bytes: int | None
    used_bytes: int | None
    quota_bytes: int


class Volume:
    """A volume with its threads and state; safe to use from many threads.

    It is out until the first `probe`.

    Args:
        name: Its name in settings, manifests and receipts.
        place: Where it is.
        memory: File in which the gateway remembers its id.
    """

    def __init__(self, name: str, place: VolumePlace, memory: Path) -> None:
        self.name = name
        self.place = place
        self._directory = VolumeDirectory(place.path)
        self._identity = Identity(place.path, memory)
        self._pool = ThreadPoolExecutor(VOLUME_THREADS, f"volume-{name}")
        self._lock = threading.Lock()
        self._use = Dependency(f"volume {name} at {place.path}")
        self._probing_since_s: float | None = None
        self._wake = threading.Event()
        self._looked = threading.Event()
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=f"probe-{name}", daemon=True)

    @property
    def reason(self) -> str:
        """Why the volume is out; empty while it is in use."""
        since_s = self._probing_since_s
        if since_s is not None and time.monotonic() - since_s > PROBE_LIMIT_S:
            self.take_out(f"it stalls: no answer to a probe for {PROBE_LIMIT_S:g} s")
        return self._use.reason

    @property
    def standing(self) -> Standing:
        """How the volume stands now."""
        _ = self.reason  # it may stall by now
        return self._use.standing

    @property
    def usable(self) -> bool:
        """Return whether the volume is in use."""
        return not self.reason

    def watch(self) -> None:
        """Start to probe it, now and every `PROBE_EVERY_S`."""
        self._watcher.start()

    def settle(self) -> None:
        """Wait for the first probe, at most `PROBE_LIMIT_S`."""
        self._looked.wait(PROBE_LIMIT_S)

    def close(self) -> None:
        """Stop all threads but those that are stuck in the kernel."""
        with self._lock:
            self._stop.set()
        self._wake.set()
        self._pool.shutdown(wait=self.usable, cancel_futures=True)
        if self._watcher.is_alive():
            self._watcher.join(_POLL_S if self._use.reason else PROBE_LIMIT_S)

    def probe(self) -> None:
        """Check mount, identity and a small write; take the volume into use or out."""
        reason = ""
        self._probing_since_s = time.monotonic()
        try:
            self._look()
        except UnavailableError as error:
            reason = "" if _is_one_of(error, _FULL) else str(error)
        finally:
            self._probing_since_s = None
        if reason:
            self.take_out(reason)
        else:
            self._use.works()
        self._looked.set()

    def take_out(self, reason: str) -> None:
        """Stop using the volume until a probe succeeds."""
        self._use.fails(reason)

    def require(self) -> None:
        """Raise unless it is in use.

        Raises:
            UnavailableError: The volume is out; the message gives the reason.
        """
        reason = self.reason
        if reason or self._stop.is_set():
            raise UnavailableError(f"volume {self.name} is out: {reason or 'the gateway stops'}")

    def begin(self, work: Callable[[VolumeDirectory], _T], *, reading: bool = False) -> Future[_T]:
        """Run the work in one of the volume's threads; pass the future to `wait`.

        A disk error takes the volume out. A read error may concern that place alone, so a probe is
        made at once, and its result decides.

        Raises:
            UnavailableError: It is out.
        """
        self.require()
        return self._submit(partial(self._guarded, work, reading=reading))

    def wait(self, future: Future[_T], limit_s: float = ANSWER_LIMIT_S) -> _T:
        """Return the result.

        Raises:
            UnavailableError: It failed, or did not end in time and may still go on.
        """
        deadline_s = time.monotonic() + limit_s
        while True:
            try:
                return future.result(min(_POLL_S, limit_s))
            except CancelledError as error:
                raise UnavailableError(f"volume {self.name} is out: the gateway stops") from error
            except TimeoutError:
                self.require()
            if time.monotonic() >= deadline_s:
                future.cancel()
                self._wake.set()
                raise UnavailableError(f"volume {self.name} did not answer within {limit_s:g} s")

    def call(self, work: Callable[[VolumeDirectory], _T]) -> _T:
        """Run the work on the volume and return its result.

        Raises:
            UnavailableError: It is out, failed, or did not answer within `ANSWER_LIMIT_S`.
        """
        return self.wait(self.begin(work))

    def read(
        self, recording_id: bytes, start: int, length: int, *, fresh: bool = False
    ) -> bytes | None:
        """See `VolumeDirectory.read`; bounded by `READ_LIMIT_S`."""
        reading = self.begin(
            lambda directory: directory.read(recording_id, start, length, fresh=fresh),
            reading=True,
        )
        return self.wait(reading, READ_LIMIT_S)

    def release(self, part: PartFile) -> None:
        """Close a part; do not wait for it while the volume is out."""
        try:
            closing = self._submit(part.close)
        except UnavailableError:
            part.close()
            return
        if self.usable:
            with suppress(UnavailableError):
                self.wait(closing)

    def require_room(self, recording_id: bytes, size: int) -> None:
        """Check quota and free space; only the reservation will show for certain that it fits.

        Raises:
            UnavailableError: There is no room, or the volume is out or failed.
        """
        self.require()
        quota = self.place.quota_bytes
        reserved, free = self.call(
            lambda directory: (directory.length(recording_id), directory.free_bytes())
        )
        if quota:
            used = self.call(VolumeDirectory.used_bytes) - reserved
            if used + size > quota:
                raise UnavailableError(
                    f"volume {self.name}: {size} bytes do not fit, {used} of its quota of {quota} "
                    f"are used; {used + size - quota} lack"
                )
        if size - reserved > free:
            raise UnavailableError(
                f"volume {self.name}: {size} bytes do not fit, {free} are free; "
                f"{size - reserved - free} lack"
            )

    def state(self) -> VolumeState:
        """Return the state; this takes up to twice `READ_LIMIT_S`."""
        free = used = None
        with suppress(UnavailableError):
            free = self.wait(self.begin(VolumeDirectory.free_bytes, reading=True), READ_LIMIT_S)
            used = self.wait(self.begin(VolumeDirectory.used_bytes, reading=True), READ_LIMIT_S)
        return VolumeState(
            self.name,
            self.place.path,
            self.usable,
            self.reason,
            self._use.standing.since_ms,
            free,
            used,
            self.place.quota_bytes,
        )

    def _submit(self, work: Callable[[], _T]) -> Future[_T]:
        with self._lock:  # `close` must not run between check and submit
            if self._stop.is_set():
                raise UnavailableError(f"volume {self.name} is out: the gateway stops")
            return self._pool.submit(work)

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            self.probe()
            self._wake.wait(PROBE_EVERY_S)

    def _look(self) -> None:
        path = self.place.path
        if self.place.mount and not os.path.ismount(path):
            raise UnavailableError(f"nothing is mounted at {path}")
        if not (self.place.mount or self._identity.known):
            make_directory(path)
        self._identity.check()
        self._directory.prepare()
        probe = path / _PROBE
        with disk_errors("write a probe to", probe):
            with opened(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as descriptor:
                os.write(descriptor, b"works\n")
                os.fsync(descriptor)
            probe.unlink()

    def _guarded(self, work: Callable[[VolumeDirectory], _T], *, reading: bool) -> _T:
        try:
            self._directory.check()
        except UnavailableError as error:
            self.take_out(str(error))
            raise
        try:
            return work(self._directory)
        except UnavailableError as error:
            if isinstance(error.__cause__, OSError) and not _is_one_of(error, _NOT_BROKEN):
                if reading:
                    self._wake.set()
                else:
                    self.take_out(str(error))
            raise


def _is_one_of(error: UnavailableError, errors: set[int]) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in errors
