"""Tells from a camera's pictures whether something moves, and whether the lens sees anything."""

from typing import Any, Final

from contracts.errors import RejectedError
from contracts.records.reading import Tamper
from device.camera.opencv import opencv

WIDTH: Final = 320
HEIGHT: Final = 240
"""Every picture is reduced to this: MOG2's cost grows with the number of pixels."""
MOVED_SHARE: Final = 0.001
"""One moving thing covers at least this share of the picture: a person at the far end of a yard."""
FLAT_DEVIATION: Final = 6.0
"""A picture whose grey values deviate less than this, of 255, shows nothing: a hand, tape."""
LEARNED_AFTER: Final = 10
"""MOG2 takes everything for moving until it has seen the background so many times."""
_HISTORY: Final = 200
_VARIANCE: Final = 25.0
_MOVING: Final = 255
"""MOG2's mark of a moving pixel; shadows have another one."""


class Scene:
    """What one camera sees; give it every picture in turn, from one thread.

    Args:
        blocked_after: So many pictures in a row that show nothing, or that are the same to the
            last bit, are a blocked lens. A real sensor's noise changes every picture.
        dark_is_normal: Pictures that show nothing are no blocked lens: a hold without a light.

    Raises:
        RejectedError: `blocked_after` is not positive.
        UnavailableError: OpenCV is not installed.
    """

    def __init__(self, blocked_after: int = 20, *, dark_is_normal: bool = False) -> None:
        if blocked_after < 1:
            raise RejectedError(f"pictures until a lens is blocked: 1 or more, got {blocked_after}")
        self._cv2 = opencv()
        self._blocked_after = blocked_after
        self._flat_deviation = 0.0 if dark_is_normal else FLAT_DEVIATION
        self._background: Any = None
        self._seen = self._flat = self._same = 0
        self._before: Any = None

    def look(self, frame: Any) -> Tamper:  # noqa: ANN401 - numpy at the SDK edge
        """Return the signs of one picture: `MOTION`, `CAMERA_BLOCKED`, both or neither.

        Args:
            frame: (height, width, 3) uint8, BGR; its size may change.

        Raises:
            RejectedError: It is no such picture.
        """
        if getattr(frame, "ndim", 0) != 3 or frame.shape[2] != 3 or not frame.size:  # noqa: PLR2004
            raise RejectedError(f"picture: expected (height, width, 3), got {_shape(frame)}")
        cv2 = self._cv2
        small = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
        if self._is_blocked(grey):
            self._background = None  # what is behind the cover has to be learned again
            return Tamper.CAMERA_BLOCKED
        return Tamper.MOTION if self._moves(grey) else Tamper.NONE

    def _is_blocked(self, grey: Any) -> bool:  # noqa: ANN401
        self._flat = self._flat + 1 if grey.std() < self._flat_deviation else 0
        is_same = self._before is not None and bool((grey == self._before).all())
        self._same = self._same + 1 if is_same else 0
        self._before = grey
        return max(self._flat, self._same) >= self._blocked_after

    def _moves(self, grey: Any) -> bool:  # noqa: ANN401
        cv2 = self._cv2
        if self._background is None:
            self._seen = 0
            self._background = cv2.createBackgroundSubtractorMOG2(_HISTORY, _VARIANCE)
        mask = self._background.apply(grey)
        self._seen += 1
        if self._seen <= LEARNED_AFTER:
            return False
        moving = cv2.inRange(mask, _MOVING, _MOVING)
        kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))
        moving = cv2.morphologyEx(moving, cv2.MORPH_OPEN, kernel)  # single pixels are noise
        count, _, stats, _ = cv2.connectedComponentsWithStats(moving)
        if count == 1:  # the background alone
            return False
        return bool(stats[1:, cv2.CC_STAT_AREA].max() >= MOVED_SHARE * WIDTH * HEIGHT)


def _shape(frame: Any) -> str:  # noqa: ANN401
    return str(getattr(frame, "shape", type(frame).__name__))
