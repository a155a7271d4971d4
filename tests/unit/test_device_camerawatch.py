"""The watch of a camera: what a hanging, covered or failing camera does to film and signs."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, repeat
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from contracts.errors import UnavailableError
from contracts.records.reading import Tamper
from contracts.runtime.files import PART_PREFIX
from device.camera.filming import pyav
from device.camera.filming.plan import CameraPlan
from device.camera.filming.port import Piece
from device.camera.filming.pyav import OpenSegment, times_of
from device.camera.filming.reel import Reel
from device.live import camerawatch
from device.live.camerawatch import CameraWatch
from device.live.health import Finding, Health

DEADLINE_S = 20.0
ROOM = 1 << 30
PLAN = CameraPlan("dock", width=64, height=48, pictures_per_s=60, still_pictures_per_s=60)
DICE = np.random.default_rng(1)


def noise() -> Any:  # noqa: ANN401 - PyAV has no types for it
    return DICE.integers(0, 256, (48, 64, 3), dtype=np.uint8)


def walker(number: int) -> Any:  # noqa: ANN401
    """Return a grey hold, through which something white goes from the 12th picture on."""
    shot = np.full((48, 64, 3), 100 + number % 2, np.uint8)
    if number > 11:
        at = number * 7 % 48
        shot[8:40, at : at + 16] = 255
    return shot


def black() -> Any:  # noqa: ANN401
    return np.zeros((48, 64, 3), np.uint8)


class Scripted:
    """A camera that gives what `script` yields."""

    copied = None

    def __init__(self, script: Iterator[Any]) -> None:
        self._script = script

    def pieces(self) -> Iterator[Piece]:
        for shot in self._script:
            yield Piece(None, [av.VideoFrame.from_ndarray(shot, format="bgr24")])

    def close(self) -> None:
        pass


class Findings:
    """What a watch has found; a test may wait for it."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._changed = threading.Condition()

    def __call__(self, finding: Finding) -> None:
        with self._changed:
            self._found.append(finding)
            self._changed.notify_all()

    def wait_for(self, health: Health) -> str:
        """Return the detail of the next finding of that health; forget it and those before."""

        def has_come() -> bool:
            return health in [each.health for each in self._found]

        with self._changed:
            assert self._changed.wait_for(has_come, DEADLINE_S), self._found
            at = [each.health for each in self._found].index(health)
            detail = self._found[at].detail
            del self._found[: at + 1]
        return detail


@pytest.fixture
def found() -> Findings:
    return Findings()


@pytest.fixture
def reel(tmp_path: Path) -> Reel:
    made = Reel(tmp_path / "trip", 1, [], times_of)
    made.has_free(ROOM, ROOM)
    return made


@pytest.fixture
def start(
    reel: Reel, found: Findings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Iterator[Any]], tuple[CameraWatch, threading.Thread, threading.Event]]]:
    monkeypatch.setattr(camerawatch, "LATE_S", 0.2)
    monkeypatch.setattr(camerawatch, "BEFORE_S", 0.0)
    monkeypatch.setattr(camerawatch, "LOOKS_PER_S", 1_000.0)
    monkeypatch.setattr(camerawatch, "BLOCKED_S", 0.01)
    over = threading.Event()

    def start(script: Iterator[Any]) -> tuple[CameraWatch, threading.Thread, threading.Event]:
        watch = CameraWatch(PLAN, lambda _: Scripted(script), reel, found)
        thread = threading.Thread(target=watch.run, args=[over], daemon=True)
        thread.start()
        return watch, thread, over

    yield start
    over.set()


def test_a_camera_that_hangs_at_the_end_leaves_its_film_and_adds_nothing_later(
    reel: Reel,
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
    tmp_path: Path,
) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def script() -> Iterator[Any]:
        for _ in range(20):
            yield noise()
            goes_on.wait(0.02)
        hangs.set()
        goes_on.wait(DEADLINE_S)
        yield from repeat(noise(), 3)

    watch, thread, over = start(script())
    found.wait_for(Health.WORKS)
    assert hangs.wait(DEADLINE_S)
    over.set()
    watch.end(thread)
    (segment,) = reel.take()
    assert segment.duration_ms > 0
    goes_on.set()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()
    assert reel.take() == []
    assert [each.name for each in (tmp_path / "trip").iterdir()] == [segment.name]


def test_a_covered_lens_is_a_sign_until_it_sees_again(
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
) -> None:
    uncovered, pause = threading.Event(), threading.Event()

    def script() -> Iterator[Any]:
        while True:
            yield noise() if uncovered.is_set() else black()
            pause.wait(0.01)

    watch, _, _ = start(script())
    found.wait_for(Health.COVERED)
    assert watch.take().tamper & Tamper.CAMERA_BLOCKED
    uncovered.set()
    found.wait_for(Health.WORKS)
    watch.take()
    assert not watch.take().tamper & Tamper.CAMERA_BLOCKED


def test_a_camera_that_ends_is_lost_and_its_film_is_kept(
    reel: Reel,
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
) -> None:
    def script() -> Iterator[Any]:
        yield noise()
        raise UnavailableError("somebody cut the cable")

    watch, _, _ = start(script())
    assert found.wait_for(Health.LOST) == "somebody cut the cable"
    assert watch.take().tamper is Tamper.CAMERA_BLOCKED
    assert len(reel.take()) == 1


def test_the_pictures_before_a_camera_is_torn_off_are_kept(
    reel: Reel,
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(camerawatch, "BEFORE_S", DEADLINE_S)

    def script() -> Iterator[Any]:
        yield from repeat(black(), 2)
        raise UnavailableError("somebody cut the cable")

    start(script())
    found.wait_for(Health.LOST)
    (segment,) = reel.take()
    with av.open(str(tmp_path / "trip" / segment.name)) as film:
        assert any(film.decode(video=0))


class FourTries(threading.Event):
    """Is over at the fourth try; notes how long each wait was to be."""

    def __init__(self) -> None:
        super().__init__()
        self.waits_s = list[float]()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits_s.append(timeout or 0.0)
        if len(self.waits_s) == 4:
            self.set()
        return self.is_set()


def test_a_camera_that_gives_no_picture_does_not_work_and_is_tried_ever_more_rarely(
    reel: Reel,
) -> None:
    def script() -> Iterator[Any]:
        yield from ()
        raise UnavailableError("no such device")

    found, over = list[Finding](), FourTries()
    CameraWatch(PLAN, lambda _: Scripted(script()), reel, found.append).run(over)
    assert [each.health for each in found] == [Health.LOST]
    assert over.waits_s == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("where", ["add_picture", "close"])
def test_an_encoder_that_hangs_is_found_ends_with_the_trip_and_writes_nothing_later(
    where: str,
    reel: Reel,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(camerawatch, "STUCK_S", 0.3)
    if where == "close":
        pictures = count()  # one more for each question
        enough = lambda *_: 0.0 if next(pictures) > 4 else float("inf")  # noqa: E731
        monkeypatch.setattr(camerawatch, "segment_length_s", enough)
    hangs, goes_on = threading.Event(), threading.Event()
    does, left = getattr(OpenSegment, where), iter(range(5 if where == "add_picture" else 0))

    def hanging(segment: OpenSegment, *given: Any) -> None:  # noqa: ANN401
        if next(left, None) is None:
            hangs.set()
            goes_on.wait(DEADLINE_S)
        does(segment, *given)

    monkeypatch.setattr(OpenSegment, where, hanging)
    monkeypatch.setattr(pyav, "FRAGMENT_S", 0.0)
    watch, thread, over = start(repeat(noise()))
    assert hangs.wait(DEADLINE_S)
    while watch.health is not Health.SILENT:
        watch.take()
        assert not over.wait(0.01)
    over.set()
    watch.end(thread)
    kept = {each.name: each.read_bytes() for each in (tmp_path / "trip").iterdir()}
    assert list(kept) == [f"{PART_PREFIX}dock-000000.mp4"]
    goes_on.set()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()
    assert {each.name: each.read_bytes() for each in (tmp_path / "trip").iterdir()} == kept
    assert reel.moments() == []


def test_film_that_cannot_be_begun_uses_no_recording_of_the_trip_up(
    reel: Reel,
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise UnavailableError("read-only")

    with monkeypatch.context() as patch:
        patch.setattr(camerawatch, "OpenSegment", refused)
        _, _, over = start(repeat(noise()))
        assert found.wait_for(Health.STOPPED) == "read-only"
        assert reel.moments() == []
        over.set()
    assert reel.begin("dock")[1] == 0


def test_a_camera_that_never_worked_is_no_sign(
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
) -> None:
    def refused() -> Any:  # noqa: ANN401
        raise UnavailableError("not plugged in")

    watch, _, _ = start(iter(refused, None))
    found.wait_for(Health.LOST)
    assert watch.take().tamper is Tamper.NONE


def test_film_goes_on_once_there_is_room_again(
    reel: Reel,
    found: Findings,
    start: Callable[..., tuple[CameraWatch, threading.Thread, threading.Event]],
) -> None:
    pause = threading.Event()

    def script() -> Iterator[Any]:
        while True:
            yield noise()
            pause.wait(0.01)

    reel.has_free(0, ROOM)
    start(script())
    assert "bytes left; offload" in found.wait_for(Health.STOPPED)
    reel.has_free(ROOM, ROOM)
    found.wait_for(Health.WORKS)


def kept(thinner: Any, seconds: range, *, moves: bool) -> list[float]:  # noqa: ANN401
    """Show a thinner 20 pictures a second; return the times of those that it lets through."""
    ticks = range(seconds.start * 20, seconds.stop * 20)
    return [at_s for tick in ticks for at_s, _ in thinner.add(tick / 20, None, moves=moves)]


def test_before_and_after_a_motion_all_pictures_are_kept_and_few_of_a_still_scene() -> None:
    plan = CameraPlan("dock", pictures_per_s=20, still_pictures_per_s=2)
    thinner = camerawatch._Thinner(plan)  # noqa: SLF001 - its clock is the caller's
    times_s = kept(thinner, range(30), moves=False) + kept(thinner, range(30, 31), moves=True)
    times_s += kept(thinner, range(31, 60), moves=False)
    assert times_s == sorted(set(times_s))
    counts = [sum(int(each) == second for each in times_s) for second in range(57)]
    assert 2 * 26 - 2 <= sum(counts[:26]) <= 2 * 26 + 4
    assert counts[27:35] == [20] * 8  # from 3 s before the motion to 4 s after its second
    assert 2 * 20 - 2 <= sum(counts[37:57]) <= 2 * 20 + 4


@pytest.mark.parametrize("is_low", [False, True])
def test_with_little_room_left_film_takes_a_quarter_and_a_motion_no_more_pictures(
    reel: Reel, found: Findings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_low: bool
) -> None:
    plan = replace(PLAN, still_pictures_per_s=1)
    opened, told, over = list[CameraPlan](), list[tuple[str, bool]](), threading.Event()

    def opens(part: Path, title: str, plan: CameraPlan, *rest: Any) -> OpenSegment:  # noqa: ANN401
        opened.append(plan)
        return OpenSegment(part, title, plan, *rest)

    def script() -> Iterator[Any]:
        pause = threading.Event()
        for number in range(60):
            yield walker(number)
            pause.wait(0.01)
        over.set()
        yield walker(0)

    monkeypatch.setattr(camerawatch, "OpenSegment", opens)
    monkeypatch.setattr(camerawatch, "BEFORE_S", 0.0)
    monkeypatch.setattr(camerawatch, "LOOKS_PER_S", 1_000.0)
    reel.has_free(ROOM // 8 if is_low else ROOM, ROOM)
    watch = CameraWatch(
        plan, lambda _: Scripted(script()), reel, found, lambda *now: told.append(now)
    )
    watch.run(over)
    (segment,) = reel.take()
    with av.open(str(tmp_path / "trip" / segment.name)) as film:
        pictures = sum(1 for _ in film.decode(video=0))
    assert (pictures < 20) is is_low, pictures  # of 60, of which the first ten teach the scene
    (used,) = opened
    assert used.bits_per_s == PLAN.bits_per_s // (camerawatch.SPARED_PART if is_low else 1)
    assert told == ([("dock", True)] if is_low else [])
