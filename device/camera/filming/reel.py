"""The films of one trip: cameras put segments in, the recorder takes whole ones out."""

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from contracts.actions.form import RECORDINGS_MAX
from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import now_ms
from contracts.records.recording import RecordingDigest
from contracts.runtime.files import PART_PREFIX, disk_errors, make_directory, remove_file
from device.camera.filming.segments import (
    Segment,
    cut_to_whole,
    is_segment,
    keep,
    name_of,
    part_of,
    place_of,
)

TimesOf = Callable[[Path], tuple[int, int]]
ROOM_LEAST: Final = 4 << 20
"""With less room left in the video buffer nothing is filmed."""
CARD_KEPT: Final = 64 << 20
"""With less room left on the card nothing is filmed: readings need it, and the seal."""
CARD_LOW: Final = 512 << 20
"""With less room left on the card fewer pictures are kept."""
BUFFER_LOW_PART: Final = 5
"""With less than a fifth (1/5) of the video buffer left fewer pictures are kept."""
FRESH_S: Final = 10.0
"""A picture that was taken so long before a sign is heard of does not show it. Pictures wait 3 s in
memory, and a camera that gives none is found after 5 s."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A segment that was open when its recorder was killed: its end is lost.

    Attributes:
        name: Its file name.
        ended_at_ms: When what is left of it ends, UTC, milliseconds; None if nothing is left.
        went_on_at_ms: When the camera's next segment began, likewise; None if it was the last.
    """

    name: str
    ended_at_ms: int | None
    went_on_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class _Shown:
    """The newest picture of a camera's film.

    Attributes:
        name: Of the segment.
        offset_ms: How far it is from the segment's first picture, milliseconds.
        at_s: When it was taken, by the monotonic clock, seconds.
    """

    name: str
    offset_ms: int
    at_s: float


class NoRoomForFilmError(UnavailableError):
    """A trip takes no more film now; readings go on."""


class Reel:
    """Hands out the files of segments, and knows how much room there is. For any thread.

    Args:
        folder: Of the trip's recordings.
        cameras: How many cameras share the recordings that a trip may have.
        known: Names of the recordings that the journal has of the trip.
        times_of: Returns when a segment was begun, and its duration, milliseconds.
        utc_ms: Returns what time it is, milliseconds UTC.
        late_ms: How late a sign is heard of, milliseconds.
    """

    def __init__(
        self,
        folder: Path,
        cameras: int,
        known: Iterable[str],
        times_of: TimesOf,
        utc_ms: Callable[[], int] = now_ms,
        late_ms: int = 0,
    ) -> None:
        self.utc_ms = utc_ms
        self._late_s = late_ms / 1000
        self.share = RECORDINGS_MAX // max(1, cameras)
        self._folder = folder
        self._times_of = times_of
        self._lock = threading.Lock()
        self._known = set(known)
        self._begun = len(self._known)
        self._numbers: Counter[str] = Counter()
        for name in filter(is_segment, self._known):
            camera, number = place_of(name)
            self._numbers[camera] = max(self._numbers[camera], number + 1)
        self._whole: list[Segment] = []
        self._free = self._unkept = self._whole_buffer = 0
        self._signs: defaultdict[str, list[float]] = defaultdict(list)
        self._named: set[str] = set()
        self._open: dict[str, float] = {}
        self._shown: dict[str, _Shown] = {}

    def begin(self, camera: str, began_s: float | None = None) -> tuple[Path, int]:
        """Return the file for a camera's next segment, and the segment's number.

        Args:
            camera: Its name.
            began_s: When the first picture was taken, by the monotonic clock; None: now.

        Raises:
            NoRoomForFilmError: The video buffer is full, or the trip has all recordings that it
                may have.
            UnavailableError: The disk failed.
        """
        with self._lock:
            make_directory(self._folder)
            self._check_room()
            number = self._numbers[camera]
            if number >= self.share or self._begun >= RECORDINGS_MAX:
                raise NoRoomForFilmError(
                    f"it has the {number} recordings that it may have on one trip; a trip has up "
                    f"to {RECORDINGS_MAX}"
                )
            self._numbers[camera] += 1
            self._begun += 1
            name = name_of(camera, number)
            self._open[name] = time.monotonic() if began_s is None else began_s
        return part_of(self._folder / name), number

    def shows(self, part: Path, offset_ms: int) -> None:
        """Hear that an open segment has a picture, so far from its first one, milliseconds."""
        name = part.name.removeprefix(PART_PREFIX)
        with self._lock:
            at_s = self._open.get(name, float("-inf")) + offset_ms / 1000
            self._shown[place_of(name)[0]] = _Shown(name, offset_ms, at_s)

    def moments(self) -> list[tuple[str, int]]:
        """Return where the films are now: a segment, and a moment that is in it, milliseconds.

        The moment is that of the newest picture, which may be some seconds old. A camera that has
        filmed nothing since a sign could have begun is left out: there is no film of it.
        """
        with self._lock:
            return [(each.name, each.offset_ms) for each in self._fresh().values()]

    def wrote(self, count: int) -> None:
        """Count bytes of an open segment.

        Raises:
            NoRoomForFilmError: The video buffer is full.
        """
        with self._lock:
            self._unkept += count
            self._check_room()

    @property
    def is_low(self) -> bool:
        """Whether there is so little room that film has to take less of it."""
        with self._lock:
            left, whole = self._free - self._unkept, self._whole_buffer
        return left * BUFFER_LOW_PART < whole or self._card_left() < CARD_LOW

    def mark(self, at_s: float, camera: str = "") -> None:
        """Hear of a tamper sign at that time, by the monotonic clock, seconds.

        Args:
            at_s: The time.
            camera: The camera that alone saw it; empty: film of all cameras may show it.
        """
        with self._lock:
            self._signs[camera].append(at_s)
            self._named |= {
                shown.name for name, shown in self._fresh().items() if camera in ("", name)
            }

    def is_marked(self, segment: Segment) -> bool:
        """Say whether a sign of its camera or of the truck falls into a segment, or nobody knows.

        No clock that is set in between moves a sign out of its segment. A segment that had the
        newest picture at a sign is marked too, since the sign's reading names it.
        """
        if segment.filmed_s is None or segment.name in self._named:
            return True
        began_s, ended_s = segment.filmed_s
        with self._lock:
            signs = (*self._signs[""], *self._signs[place_of(segment.name)[0]])
        return any(began_s <= each <= ended_s + self._late_s for each in signs)

    def finish(
        self, part: Path, is_cut: Callable[[int, int], None] = lambda _began_ms, _duration_ms: None
    ) -> Segment | None:
        """Make a closed segment whole and hand it to the recorder; None if nothing of it is whole.

        Args:
            part: Its file.
            is_cut: Told when what is whole of it began, UTC, and how long it is, both in
                milliseconds and 0 if nothing is, before the file is renamed or removed.

        Raises:
            UnavailableError: The disk failed; the next start of the recorder finds the file.
        """
        with self._lock:
            began_s = self._open.pop(part.name.removeprefix(PART_PREFIX), None)
        lost = cut_to_whole(part)
        with disk_errors("look at film", part):
            size = part.stat().st_size
        started_ms, duration_ms = self._times_of(part) if size else (0, 0)
        is_cut(started_ms, duration_ms)
        if not size:
            self.drop(part)
            return None
        path = keep(part)
        try:
            digest = RecordingDigest.of_file(path)
        except RejectedError as error:
            raise UnavailableError(str(error)) from error
        # Film whose file tells no time may have been there at any sign.
        filmed_s = None
        if began_s is not None and duration_ms:
            filmed_s = began_s, began_s + duration_ms / 1000
        segment = Segment(path.name, digest, started_ms, duration_ms, lost, filmed_s)
        with self._lock:
            self._whole.append(segment)
            self._keep_within(segment)
        return segment

    def leave(self, part: Path) -> bool:
        """Leave a closed segment whose end is lost to the next start, or to the end of the trip.

        Both tell of it. One of no whole fragment is dropped.

        Returns:
            Whether something of it is whole.

        Raises:
            UnavailableError: The disk failed.
        """
        self._forget(part)
        cut_to_whole(part)
        with disk_errors("look at film", part):
            is_whole = part.stat().st_size > 0
        if not is_whole:
            self.drop(part)
        return is_whole

    def drop(self, part: Path) -> None:
        """Forget a segment of which there is nothing, so that another try uses nothing up.

        Raises:
            UnavailableError: The disk failed.
        """
        self._forget(part)
        self._give_back(part.name)
        remove_file(part)

    def left_behind(self, is_cut: Callable[[LeftBehind], None]) -> list[Segment]:
        """Finish the segments that a recorder left behind which was killed, oldest first.

        Args:
            is_cut: Told of each that was open, while it still has the name of an open one. If it
                raises, or the power is cut here, the next start finds it open again.

        Raises:
            UnavailableError: The disk failed, or `is_cut` did.
        """
        if not self._folder.is_dir():
            return []
        left = [
            each
            for each in self._folder.iterdir()
            if is_segment(each.name) and each.name.removeprefix(PART_PREFIX) not in self._known
        ]
        left.sort(key=lambda each: place_of(each.name))
        with self._lock:
            self._begun += len(left)
            for each in left:
                camera, number = place_of(each.name)
                self._numbers[camera] = max(self._numbers[camera], number + 1)
        return [segment for each in left if (segment := self._finish_left(each, is_cut))]

    def _finish_left(self, part: Path, is_cut: Callable[[LeftBehind], None]) -> Segment | None:
        name = part.name.removeprefix(PART_PREFIX)
        if part.name == name:  # a whole one was only not in the journal yet
            return self.finish(part)

        def cut(began_ms: int, duration_ms: int) -> None:
            ended_ms = began_ms + duration_ms if began_ms else None
            is_cut(LeftBehind(name, ended_ms, self._went_on_at_ms(name)))

        return self.finish(part, cut)

    def _went_on_at_ms(self, name: str) -> int | None:
        camera, number = place_of(name)
        following = self._folder / name_of(camera, number + 1)
        found = next((each for each in (following, part_of(following)) if each.exists()), None)
        return (found and self._times_of(found)[0]) or None

    def take(self) -> list[Segment]:
        """Return the whole segments that nobody has taken yet, oldest first."""
        with self._lock:
            whole, self._whole = self._whole, []
        return whole

    def kept(self, size: int) -> None:
        """Hear that the journal has a segment of that many bytes: it counts there now."""
        with self._lock:
            self._unkept = max(0, self._unkept - size)

    def has_free(self, size: int, whole: int) -> None:
        """Hear how many bytes of the journal's video buffer are free, and how large it is."""
        with self._lock:
            self._free, self._whole_buffer = size, whole

    def _fresh(self) -> dict[str, _Shown]:
        """Return by camera what its film shows, if that may show a sign of which we hear now."""
        since_s = time.monotonic() - FRESH_S - self._late_s
        return {camera: each for camera, each in self._shown.items() if each.at_s >= since_s}

    def _forget(self, part: Path) -> None:
        """Forget that a segment is open, and what it shows: nobody knows yet what is left of it."""
        name = part.name.removeprefix(PART_PREFIX)
        camera, _ = place_of(name)
        with self._lock:
            self._open.pop(name, None)
            if camera in self._shown and self._shown[camera].name == name:
                del self._shown[camera]

    def _keep_within(self, segment: Segment) -> None:
        """Have no moment lie in what was cut from the end of a segment."""
        camera, _ = place_of(segment.name)
        shown = self._shown.get(camera)
        if shown is not None and shown.name == segment.name:
            within_ms = min(shown.offset_ms, segment.duration_ms)
            self._shown[camera] = replace(shown, offset_ms=within_ms)

    def _give_back(self, name: str) -> None:
        """Count a segment that came to nothing as not begun, so that retries use nothing up."""
        camera, number = place_of(name)
        with self._lock:
            if self._numbers[camera] == number + 1:
                self._numbers[camera] = number
                self._begun -= 1

    def _check_room(self) -> None:
        left = self._free - self._unkept
        if left < ROOM_LEAST:
            raise NoRoomForFilmError(
                f"the video buffer has {max(0, left)} bytes left; offload, or set a larger "
                f"buffer.video_bytes_max"
            )
        left = self._card_left()
        if left < CARD_KEPT:
            raise NoRoomForFilmError(
                f"the card has {left} bytes left, and {CARD_KEPT} are kept for readings; offload, "
                f"or remove other files"
            )

    def _card_left(self) -> int:
        with disk_errors("look at the card of", self._folder):
            card = os.statvfs(self._folder)
        return card.f_bavail * card.f_frsize
