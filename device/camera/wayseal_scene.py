"""Measures motion detection on a film in which people walk, and on the same scene without them.

    python -m device.camera.wayseal_scene FILM

The still scene is the film's median picture, in which nobody is left, with noise and a slow change
of light. The last line is JSON.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, WaysealError
from contracts.records.reading import Tamper
from device.camera.opencv import opencv
from device.camera.scene import LEARNED_AFTER, Scene

NOISE: Final = 3.0
"""Standard deviation of the still scene's noise, of 255: a small sensor by day."""
DRIFT: Final = 10.0
"""By so much, of 255, the still scene gets brighter from its beginning to its end."""
STEP: Final = 15
"""Every so many pictures of the film count for the median."""
PICTURES_MAX: Final = 2_000


@dataclass(frozen=True, slots=True)
class Marks:
    """How a film was marked.

    Attributes:
        frames: Pictures that count: those after the background is learned.
        marked: Of them, those with `MOTION`.
        blocked: Of them, those with `CAMERA_BLOCKED`.
        cpu_ms: CPU time of this process for one picture, milliseconds; decoding not included.
    """

    frames: int
    marked: int
    blocked: int
    cpu_ms: float

    @property
    def share(self) -> float:
        """Marked pictures of those that count."""
        return self.marked / self.frames


def measure(frames: Iterable[Any]) -> Marks:
    """Look at every picture.

    Raises:
        RejectedError: There are too few pictures.
    """
    scene, signs, cpu_s = Scene(), [], 0.0
    for frame in frames:
        began_s = time.process_time()
        signs.append(scene.look(frame))
        cpu_s += time.process_time() - began_s
    counted = signs[LEARNED_AFTER:]
    if not counted:
        raise RejectedError(f"film: expected over {LEARNED_AFTER} pictures, got {len(signs)}")
    marked = sum(Tamper.MOTION in each for each in counted)
    blocked = sum(Tamper.CAMERA_BLOCKED in each for each in counted)
    return Marks(len(counted), marked, blocked, cpu_s * 1000 / len(signs))


def pictures(film: Path) -> Iterator[Any]:
    """Yield the pictures of a film, at most `PICTURES_MAX`: (height, width, 3) uint8, BGR.

    Raises:
        RejectedError: It cannot be opened.
    """
    cv2 = opencv()
    capture = cv2.VideoCapture(str(film.resolve()), cv2.CAP_FFMPEG)
    try:
        if not capture.isOpened():
            raise RejectedError(f"film {film}: expected a video file, OpenCV cannot open it")
        for _ in range(PICTURES_MAX):
            is_there, frame = capture.read()
            if not is_there:
                return
            yield frame
    finally:
        capture.release()


def still(frames: Sequence[Any], count: int) -> Iterator[Any]:
    """Yield `count` pictures of the scene that `frames` show, without what moves in it."""
    import numpy as np  # noqa: PLC0415 - installed together with OpenCV

    empty = np.median(np.stack(frames), axis=0).astype(np.float32)
    dice = np.random.default_rng(1)
    for number in range(count):
        noise = dice.standard_normal(empty.shape, dtype=np.float32) * np.float32(NOISE)
        light = np.float32(DRIFT * number / count)
        yield np.clip(empty + noise + light, 0, 255).astype(np.uint8)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table and JSON; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure motion detection on a film.")
    parser.add_argument("film", type=Path, help="a film in which people walk all the time")
    film = parser.parse_args(argv).film
    try:
        opencv().setNumThreads(1)
        people = measure(pictures(film))
        some = [frame for number, frame in enumerate(pictures(film)) if number % STEP == 0]
        empty = measure(still(some, people.frames + LEARNED_AFTER))
    except WaysealError as error:
        print(f"wayseal_scene: {error}", file=sys.stderr)
        return 1
    for name, found in (("people", people), ("still", empty)):
        print(
            f"{name:7} {found.marked} of {found.frames} pictures marked ({found.share:.1%}), "
            f"{found.blocked} blocked, {found.cpu_ms:.2f} ms CPU each"
        )
    print(
        json.dumps(
            {
                "people_marked_share": round(people.share, 4),
                "still_marked_share": round(empty.share, 4),
                "scene_cpu_ms": round(people.cpu_ms, 2),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
