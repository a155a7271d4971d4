"""Watches one camera: films its pictures, and reports signs and troubles."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.records.reading import Tamper
from device.camera.filming.plan import LATE_S, CameraPlan, segment_length_s
from device.camera.filming.port import Feed, Piece
from device.camera.filming.pyav import OpenSegment, encoder_of, small
from device.camera.filming.reel import NoRoomForFilmError, Reel
from device.camera.filming.segments import name_of
from device.camera.scene import HEIGHT, WIDTH, Scene
from device.live.health import BAD, Finding, Health, Watch
from device.live.port import Measured

LOOKS_PER_S: Final = 5.0
"""How often a picture is looked at for motion; MOG2 costs more than keeping it."""
BLOCKED_S: Final = 4.0
"""A lens that shows nothing for so long is covered."""
BEFORE_S: Final = 3.0
"""Pictures of this time before a motion are kept too; until then they wait in memory."""
SPARED_PART: Final = 4
"""With little room left the encoder aims at a quarter (1/4) of the bits."""
STUCK_S: Final = 30.0
"""So long nothing is done with a picture, and an encoder hangs."""
AFTER_S: Final = 5.0
"""So long after the last motion all pictures are kept."""
_LOOK_S: Final = 0.05
_log: Final = logging.getLogger(__name__)


class CameraWatch(Watch):
    """Films one camera in segments until it is over; another thread takes its signs.

    Args:
        plan: How it films.
        connect: Opens the camera; raises UnavailableError.
        reel: Takes the segments.
        found: Told of each change of its health, in any thread.
        spares: Told, with its name, that its film takes less room from now on, or no longer.
    """

    def __init__(
        self,
        plan: CameraPlan,
        connect: Callable[[threading.Event], Feed],
        reel: Reel,
        found: Callable[[Finding], None],
        spares: Callable[[str, bool], None] = lambda _name, _spares: None,
    ) -> None:
        super().__init__(plan.name, "camera", 1.0, found)
        self.plan = plan
        self._connect = connect
        self._reel = reel
        self._spares = spares
        self._signs = Tamper.NONE
        self._latest_s = time.monotonic()
        self._seen = self._is_waiting = False
        self._segment: OpenSegment | None = None
        self._part = Path()
        self._note = ""
        self._number = self._counted = 0
        self._is_sparing = self._is_over = self._is_finishing = False
        self._again_s = float("-inf")
        self._closing = threading.RLock()  # held while film is written or closed

    def take(self) -> Measured:
        """See `Watch.take`. A camera that worked and is lost sees as little as a covered one."""
        with self._lock:
            signs, self._signs = self._signs, Tamper.NONE
            age_s = time.monotonic() - self._latest_s
        if self._health not in BAD:
            if self._is_waiting and age_s > LATE_S:
                self._say(Health.SILENT, f"no picture for {age_s:.0f} s")
            elif age_s > STUCK_S:
                self._say(Health.SILENT, f"its film does not go on for {age_s:.0f} s")
        if self._seen and self._health in (*BAD, Health.COVERED):
            signs |= Tamper.CAMERA_BLOCKED
        return Measured(tamper=signs)

    def end(self, thread: threading.Thread) -> None:
        """See `Watch.end`: the last segment is finished, by us if camera or encoder hangs."""
        began_s = time.monotonic()
        while thread.is_alive() and (self._is_finishing or not self._hangs_since(began_s)):
            thread.join(_LOOK_S)
        if thread.is_alive():
            _log.error("camera %s hangs: its last segment ends where it began to hang", self.name)
            self._give_up()
        while thread.is_alive() and self._is_finishing:  # it went on at the last moment
            thread.join(_LOOK_S)
        super().end(thread)

    def _hangs_since(self, began_s: float) -> bool:
        return time.monotonic() - began_s >= (LATE_S if self._is_waiting else STUCK_S)

    def _give_up(self) -> None:
        """End the film of a thread that hangs."""
        self._is_over = True
        if self._closing.acquire(timeout=_LOOK_S):
            try:
                self._finish()
            finally:
                self._closing.release()
            return
        with self._lock:
            segment, self._segment = self._segment, None
        if segment is not None:  # the encoder is busy: only its file can be closed
            segment.file.close()
            self._hand_over(self._reel.leave)

    def _work(self, over: threading.Event) -> None:
        self._is_waiting, self._latest_s = True, time.monotonic()
        feed = self._connect(over)
        try:
            self._film(feed, over)
        except Exception:  # its last pictures may show why, and nobody may have asked since
            self._reel.mark(self._latest_s, self.name)
            raise
        finally:
            self._is_waiting = False
            self._finish()
            feed.close()

    def _film(self, feed: Feed, over: threading.Event) -> None:
        self._choose_encoder(feed)
        eye = _Eye(self.plan)
        thinner = _Thinner(self.plan)
        try:
            for piece in feed.pieces():
                self._is_waiting = False
                if over.is_set():
                    break
                now_s = time.monotonic()
                with self._lock:
                    self._latest_s, self._seen = now_s, True
                moves = False
                for picture in piece.pictures:
                    moves |= self._look(eye, picture, now_s)
                keeps_all = moves and not self._is_sparing
                if self._put_in(partial(self._add, feed, piece, thinner, moves=keeps_all)):
                    self._say_seen(eye)
                self._is_waiting = True
        finally:  # the last pictures of a camera that is torn off are worth the most
            if rest := thinner.rest():
                self._put_in(partial(self._add_pictures, rest))

    def _choose_encoder(self, feed: Feed) -> None:
        """Take the encoder of the plan, or the one that works everywhere; the latter is told."""
        if feed.copied is not None:
            return
        encoder, why = encoder_of(self.plan)
        self.plan = replace(self.plan, encoder=encoder)
        if why:
            self._note = why
            _log.warning("camera %s: %s", self.name, why)

    def _add(self, feed: Feed, piece: Piece, thinner: "_Thinner", *, moves: bool) -> None:
        if feed.copied is not None:
            self._add_packet(feed.copied, piece.packet)
            return
        for picture in piece.pictures:
            self._add_pictures(thinner.add(time.monotonic(), picture, moves=moves))

    def _put_in(self, add: Callable[[], None]) -> bool:
        """Put something into the film; say what keeps it out, and try again later."""
        with self._closing:
            if self._is_over or time.monotonic() < self._again_s:
                return False
            try:
                add()
            except UnavailableError as error:
                self._again_s = time.monotonic() + self._backoff.next_s()
                is_whole = isinstance(error, NoRoomForFilmError)
                self._close(self._reel.finish if is_whole else self._reel.leave)
                self._say(Health.STOPPED, str(error))
                return False
        return True

    def _say_seen(self, eye: "_Eye") -> None:
        if eye.is_blocked:
            self._say(Health.COVERED, "covered, in the dark, or the same picture all the time")
        else:
            self._backoff.reset()
            self._say(Health.WORKS, self._note)

    def _look(self, eye: "_Eye", picture: Any, now_s: float) -> bool:  # noqa: ANN401
        signs, before = eye.look(picture, now_s), eye.moved
        with self._lock:
            self._signs |= signs
        eye.moved = bool(signs & Tamper.MOTION)
        if eye.moved and not before:
            _log.info("camera %s: something moves", self.name)
        return eye.moved

    def _add_packet(self, copied: Any, packet: Any) -> None:  # noqa: ANN401
        if packet is None:
            return
        now_s = time.monotonic()
        if packet.is_keyframe and self._is_long_enough(now_s):
            self._finish()
        if self._segment is None and packet.is_keyframe:
            self._begin(copied, now_s)
        if self._segment is not None:
            self._segment.add_packet(packet)
            self._count(self._segment)

    def _add_pictures(self, pictures: list[tuple[float, Any]]) -> None:
        for at_s, picture in pictures:
            if self._is_long_enough(at_s):
                self._finish()
            segment = self._segment or self._begin(None, at_s)
            segment.add_picture(picture, at_s)
            self._count(segment)

    def _is_long_enough(self, at_s: float) -> bool:
        if self._segment is None:
            return False
        length_s = segment_length_s(self.plan.segment_s, self._number, self._reel.share)
        return self._segment.lasts_s(at_s) >= length_s

    def _begin(self, copied: Any, began_s: float) -> OpenSegment:  # noqa: ANN401
        if self._is_over:
            raise UnavailableError(f"camera {self.name} films no more: it hung")
        self._part, self._number = self._reel.begin(self.name, began_s)
        title = name_of(self.name, self._number)
        self._spare()
        plan = self.plan
        if self._is_sparing:
            plan = replace(plan, bits_per_s=plan.bits_per_s // SPARED_PART)
        try:
            segment = OpenSegment(self._part, title, plan, copied, began_s, self._reel.utc_ms)
        except UnavailableError:
            self._reel.drop(self._part)
            raise
        self._segment, self._counted = segment, 0
        return segment

    def _spare(self) -> None:
        """Look whether film has to take less room from now on; say each change."""
        before, self._is_sparing = self._is_sparing, self._reel.is_low
        if before is not self._is_sparing:
            self._spares(self.name, self._is_sparing)
        if self._is_sparing and not before:
            _log.warning("camera %s: little room is left, so fewer pictures are kept", self.name)
        elif before and not self._is_sparing:
            _log.info("camera %s: there is room again for all pictures of a motion", self.name)

    def _count(self, segment: OpenSegment) -> None:
        """Tell what the film shows, and count what was written against the room that there is."""
        more, self._counted = segment.file.size - self._counted, segment.file.size
        self._reel.shows(self._part, segment.length_ms)
        self._reel.wrote(more)

    def _finish(self) -> None:
        """Close the segment that is open, if any, and hand it to the recorder; in any thread."""
        self._close(self._reel.finish)

    def _close(self, give: Callable[[Path], object]) -> None:
        """Close the segment that is open, if any, and give it to the reel; in any thread.

        `_give_up` takes it away from a thread whose encoder hangs in here.
        """
        with self._closing:
            segment = self._segment
            if segment is None:
                return
            try:
                segment.close()
            except UnavailableError:  # its end is lost
                give = self._reel.leave
            with self._lock:
                if self._segment is not segment:
                    return
                self._segment, self._is_finishing = None, True
            try:
                self._hand_over(give)
            finally:
                self._is_finishing = False

    def _hand_over(self, give: Callable[[Path], object]) -> None:
        try:
            kept = give(self._part)
        except UnavailableError as error:
            _log.error("camera %s: its segment waits for the next start: %s", self.name, error)
        else:
            if not kept:
                _log.warning("camera %s: a segment of no whole fragment is dropped", self.name)


class _Eye:
    """Looks at some of the pictures."""

    def __init__(self, plan: CameraPlan) -> None:
        self._scene = Scene(round(BLOCKED_S * LOOKS_PER_S), dark_is_normal=plan.in_the_dark)
        self._looked_s = float("-inf")
        self._signs = Tamper.NONE
        self.moved = False

    @property
    def is_blocked(self) -> bool:
        """Whether the latest picture showed a blocked lens."""
        return bool(self._signs & Tamper.CAMERA_BLOCKED)

    def look(self, picture: Any, now_s: float) -> Tamper:  # noqa: ANN401
        """Return the signs of the latest picture that was looked at."""
        if now_s - self._looked_s >= 1 / LOOKS_PER_S:
            self._looked_s = now_s
            self._signs = self._scene.look(small(picture, WIDTH, HEIGHT))
        return self._signs


class _Thinner:
    """Leaves out pictures of a still scene, but none shortly before and after a motion.

    The first picture does not wait, so that there is film from then on.
    """

    def __init__(self, plan: CameraPlan) -> None:
        self._still_s = 1 / plan.still_pictures_per_s
        self._moving_s = 1 / plan.pictures_per_s
        self._waiting: deque[tuple[float, Any]] = deque()
        self._moved_s = self._taken_s = self._kept_s = float("-inf")

    def add(self, now_s: float, picture: Any, *, moves: bool) -> list[tuple[float, Any]]:  # noqa: ANN401
        """Take a picture in; return those that are to be kept now, with their times."""
        if now_s - self._taken_s >= 0.9 * self._moving_s:  # a camera's pace is not exact
            self._taken_s = now_s
            self._waiting.append((now_s, picture))
        self._moved_s = now_s if moves else self._moved_s
        kept = []
        is_first = self._kept_s == float("-inf")
        while self._waiting and (
            is_first or now_s - self._moved_s <= AFTER_S or now_s - self._waiting[0][0] >= BEFORE_S
        ):
            at_s, old = self._waiting.popleft()
            if now_s - self._moved_s <= AFTER_S or at_s - self._kept_s >= 0.9 * self._still_s:
                self._kept_s = at_s
                kept.append((at_s, old))
        return kept

    def rest(self) -> list[tuple[float, Any]]:
        """Return the pictures that still wait, at the end."""
        rest, self._waiting = list(self._waiting), deque()
        return rest
