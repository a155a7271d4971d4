"""How far an offload is: rate and time left, the limit of bytes a second, what a driver reads."""

import fcntl
import json
import logging
import threading
from pathlib import Path

import pytest

from contracts.chunktree import BLOB_BYTES
from device.journal.offloading import NAME, Offloading, offloading
from device.journal.status import BatchCounts, Status, TripStatus, Use
from device.journal.trip import TripState
from device.offload.progress import Progress
from device.offload.report import OffloadReport
from device.offload.throttle import Throttle

ONE, OTHER = b"\1" * 32, b"\2" * 32
MB = 1_000_000


class Clock:
    """A clock that moves when it is told to, or when somebody waits."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_the_gateway_had_before_counts_as_sent_but_not_as_speed(clock: Clock) -> None:
    progress = Progress(clock)
    progress.expect(ONE, 10 * MB)
    progress.expect(OTHER, 10 * MB)
    progress.note_offset(ONE, 8 * MB)
    clock.wait(5)
    assert (progress.video.sent, progress.video.bytes_per_s, progress.video.left_s) == (
        8 * MB,
        None,
        None,
    )
    assert progress.idle_s == 5.0
    progress.note_offset(ONE, 9 * MB)
    clock.wait(2)
    assert progress.video.bytes_per_s == MB / 2
    assert progress.video.left_s == 22.0


def test_the_rate_follows_a_link_that_gets_slower(clock: Clock) -> None:
    progress = Progress(clock)
    progress.expect(ONE, 1_000 * MB)
    progress.note_offset(ONE, 0)
    for second in range(1, 61):
        clock.wait(1)
        progress.note_offset(ONE, min(second, 30) * 10 * MB + max(0, second - 30) * MB)
    rate = progress.video.bytes_per_s
    assert rate is not None
    assert abs(rate - MB) < MB / 10


def test_bytes_that_the_gateway_lost_are_sent_again_and_counted_once(clock: Clock) -> None:
    progress = Progress(clock)
    progress.expect(ONE, 4 * MB)
    for offset in (0, 3 * MB, MB, 4 * MB):
        progress.note_offset(ONE, offset)
    assert progress.video.sent == 4 * MB
    assert progress.video.left_s == 0.0


def test_a_limit_holds_over_all_threads(clock: Clock) -> None:
    throttle = Throttle(MB, clock.wait, clock)
    began_s = clock.now_s
    for _ in range(40):
        throttle.take(throttle.piece_bytes)
    assert clock.now_s - began_s == pytest.approx(39 * throttle.piece_bytes / MB)
    assert throttle.piece_bytes == MB // 4
    assert Throttle(8_192, clock.wait, clock).piece_bytes == 4_096


def test_without_a_limit_nobody_waits() -> None:
    throttle = Throttle(None, threading.Event().wait)
    throttle.take(1 << 60)
    assert throttle.piece_bytes == BLOB_BYTES


def test_the_report_tells_from_time_to_time(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    progress = Progress(clock)
    report = OffloadReport(tmp_path, "dock-a", progress, clock=clock)
    progress.expect(ONE, 4_000 * MB)
    progress.note_offset(ONE, 0)
    for _ in range(100):
        clock.wait(0.2)
        progress.note_offset(ONE, round((clock.now_s - 100) * 10 * MB))
        report.tell(lambda: 3)
    lines = [each.getMessage() for each in caplog.records]
    assert len(lines) in (2, 3), lines
    assert lines[-1].startswith("offload: 3 batches to send, ")
    assert " of 4.0 GB of video sent, 10 MB/s, about 6 min left" in lines[-1]
    told = json.loads((tmp_path / NAME).read_text())
    assert told["site"] == "dock-a"
    assert told["video_bytes_sent"] <= 200 * MB


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Offloading("a", 0, 0, 0, None, None), "all is sent, waiting for receipts"),
        (Offloading("a", 1, 0, 0, None, None), "1 batch to send"),
        (Offloading("a", 0, 5 * MB, MB, None, None), "1.0 MB of 5.0 MB of video sent"),
        (
            Offloading("a", 0, 5 * MB, MB, MB, 4),
            "1.0 MB of 5.0 MB of video sent, 1.0 MB/s, about 4 s left",
        ),
    ],
)
def test_progress_in_words(found: Offloading, words: str) -> None:
    assert str(found) == words


def test_what_an_earlier_offload_left_is_not_told(tmp_path: Path) -> None:
    lock = tmp_path / "offload.lock"
    OffloadReport(tmp_path, None, Progress(), clock=Clock()).tell(lambda: 0)
    assert offloading(tmp_path, lock) is None
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert offloading(tmp_path, lock) == Offloading(None, 0, 0, 0, None, 0)
        (tmp_path / NAME).write_text('{"site": 1}')
        assert offloading(tmp_path, lock) is None
    assert offloading(tmp_path, lock) is None


def test_a_full_card_does_not_end_an_offload(tmp_path: Path) -> None:
    OffloadReport(tmp_path / "missing", None, Progress(), clock=Clock()).tell(lambda: 0)
    assert not (tmp_path / "missing").exists()


def test_may_leave_and_must_stay() -> None:
    def status(*states: TripState) -> Status:
        trips = (
            TripStatus("a" * 32, 1, state, 7, BatchCounts(0, 0, 0, 0, 0), (), {}, None, ())
            for state in states
        )
        return Status("truck-1", "02", 1, False, tuple(trips), Use(0, 1), Use(0, 1))  # noqa: FBT003

    free = status(TripState.RECEIPTED)
    assert free.document()["may_leave"] is True
    assert "may leave: nothing waits here" in free.text()
    held = status(TripState.RECEIPTED, TripState.SEALED, TripState.SEALED)
    assert held.document()["may_leave"] is False
    why = "2 trips have no final receipt: 14 readings and 0 recordings"
    assert held.document()["because"] == why
    assert f"must stay: {why}" in held.text()
