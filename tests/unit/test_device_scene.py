"""A camera's pictures tell of motion, and of a lens that sees nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts.errors import RejectedError
from contracts.records.reading import Tamper
from device.camera.opencv import write_mjpeg
from device.camera.scene import LEARNED_AFTER, Scene
from device.camera.wayseal_scene import main, measure

HEIGHT, WIDTH = 240, 320
BLOCKED_AFTER = 5


def yard(count: int, *, walker: bool = False) -> Iterator[Any]:
    """Yield pictures of a still yard with noise; a walker of 12 x 36 pixels crosses it."""
    dice = np.random.default_rng(3)
    ground = dice.integers(60, 180, (HEIGHT // 8, WIDTH // 8, 3)).repeat(8, 0).repeat(8, 1)
    for number in range(count):
        frame = ground + dice.integers(-3, 4, ground.shape)
        if walker:
            left = number * 5 % (WIDTH - 12)
            frame[100:136, left : left + 12] = (20, 20, 20)
        yield np.clip(frame, 0, 255).astype(np.uint8)


def covered(count: int) -> Iterator[Any]:
    """Yield what a sensor gives behind tape: dark, with noise."""
    dice = np.random.default_rng(4)
    for _ in range(count):
        yield dice.integers(0, 8, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def test_a_walker_is_motion_in_every_picture() -> None:
    found = measure(yard(60, walker=True))

    assert (found.marked, found.frames, found.blocked) == (50, 50, 0)


def test_noise_alone_is_no_motion() -> None:
    found = measure(yard(60))

    assert (found.marked, found.blocked) == (0, 0)


def test_a_covered_lens_is_blocked_until_it_sees_again() -> None:
    scene = Scene(BLOCKED_AFTER)
    for frame in yard(20):
        scene.look(frame)

    under = [scene.look(frame) for frame in covered(20)]
    after = [scene.look(frame) for frame in yard(20)]

    assert not any(Tamper.CAMERA_BLOCKED in each for each in under[: BLOCKED_AFTER - 1])
    assert set(under[BLOCKED_AFTER - 1 :]) == {Tamper.CAMERA_BLOCKED}
    assert set(after) == {Tamper.NONE}


def test_the_cover_itself_is_motion_at_first() -> None:
    scene = Scene(BLOCKED_AFTER)
    for frame in yard(20):
        scene.look(frame)

    assert scene.look(next(covered(1))) == Tamper.MOTION


def test_a_picture_that_never_changes_is_a_blocked_lens() -> None:
    scene, frame = Scene(BLOCKED_AFTER), next(yard(1))

    signs = [scene.look(frame) for _ in range(BLOCKED_AFTER + 2)]

    assert signs[:BLOCKED_AFTER] == [Tamper.NONE] * BLOCKED_AFTER
    assert signs[BLOCKED_AFTER:] == [Tamper.CAMERA_BLOCKED] * 2


def test_the_size_of_the_picture_may_change() -> None:
    scene = Scene()
    for frame in yard(LEARNED_AFTER + 5):
        scene.look(frame)
    large = next(yard(1)).repeat(2, 0).repeat(2, 1)

    assert scene.look(large) == Tamper.NONE


@pytest.mark.parametrize(
    ("frame", "came"),
    [
        (None, "NoneType"),
        (np.zeros((4, 4), np.uint8), r"\(4, 4\)"),
        (np.zeros((0, 4, 3), np.uint8), r"\(0, 4, 3\)"),
    ],
)
def test_no_picture_is_refused(frame: object, came: str) -> None:
    with pytest.raises(RejectedError, match=rf"picture: expected .*, got .*{came}"):
        Scene().look(frame)


def test_a_lens_is_never_blocked_after_no_picture() -> None:
    with pytest.raises(RejectedError, match="1 or more, got 0"):
        Scene(0)


def test_the_measurement_ends_with_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film = tmp_path / "walk.avi"
    write_mjpeg(film, yard(60, walker=True), fps=10, width=WIDTH, height=HEIGHT)

    assert main([str(film)]) == 0

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["people_marked_share"], found["still_marked_share"]) == (1.0, 0.0)
    assert found["scene_cpu_ms"] > 0


def test_what_is_no_film_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "walk.avi"
    file.write_bytes(b"no film")

    assert main([str(file)]) == 1

    assert "expected a video file" in capsys.readouterr().err


def test_a_film_of_few_pictures_is_one_error() -> None:
    with pytest.raises(RejectedError, match=r"expected over 10 pictures, got 3"):
        measure(yard(3))
