"""The storage benchmark's own parts: ratios, medians, what is shown, what a kill leaves."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.records.recording import RecordingDigest
from storage.bench.disk import require_room
from storage.bench.inflight import keep_in_flight
from storage.bench.leftovers import end_leftovers
from storage.bench.ours.storage.chart import chart
from storage.bench.ours.storage.curve import QUESTIONS, table_of
from storage.bench.ours.storage.media import MIB, dd_twice, random_file, sparse_file
from storage.bench.ours.storage.pairs import Pair, interleaved, ratio_of, summary
from storage.bench.ours.storage.sizes import QUICK, SMALLEST, WHOLE
from storage.bench.ours.storage.targets import TARGETS
from storage.bench.ours.targets import missed, row, written

ROWS = [
    {"question": "blob size", "choice": "64 KiB", "write_mib_per_s": 50.0, "read_mib_per_s": 110.4},
    {"question": "a < b", "choice": "both", "write_mib_per_s": 1.0, "read_mib_per_s": 0.4},
]


def test_the_slower_limit_counts_and_who_was_first_is_second_next_time() -> None:
    order: list[str] = []

    def ours(number: int) -> float:
        order.append(f"ours {number}")
        return 2.0 + number

    def limit(number: int) -> dict[str, float]:
        order.append(f"limit {number}")
        return {"dd": 1.0, "hash": 4.0 - number}

    pairs = interleaved(3, ours, limit)
    assert order == ["ours 0", "limit 0", "limit 1", "ours 1", "ours 2", "limit 2"]
    assert [pair.ratio for pair in pairs] == [2.0, 1.0, 0.5]
    assert ratio_of(pairs) == 1.0


def test_a_summary_has_medians_in_mib_per_s_and_every_run() -> None:
    pairs = [Pair(2.0, 4.0, {"dd": 4.0}), Pair(4.0, 1.0, {"dd": 1.0}), Pair(8.0, 8.0, {"dd": 8.0})]
    assert summary(pairs, 64) == {
        "mib": 64,
        "ratio": 1.0,
        "ours_mib_per_s": 16.0,
        "dd_mib_per_s": 16.0,
        "runs": [
            {"ratio": 2.0, "ours_s": 2.0, "dd_s": 4.0},
            {"ratio": 0.25, "ours_s": 4.0, "dd_s": 1.0},
            {"ratio": 1.0, "ours_s": 8.0, "dd_s": 8.0},
        ],
    }


def test_what_must_be_reached_is_what_was_asked_for() -> None:
    bounds = {name: target.bound for name, target in TARGETS.items()}
    assert bounds == {
        "upload_ratio": 0.8,
        "cassandra_write_ratio": 0.9,
        "cassandra_read_ratio": 0.9,
        "volume_read_ratio": 0.9,
        "rss_mb": 300,
    }
    assert missed(bounds, TARGETS) == []
    assert missed({"rss_mb": 301.0, "upload_ratio": 0.79}, TARGETS) == ["upload_ratio", "rss_mb"]
    assert "MISSED" in row("rss_mb", 301.0, TARGETS)
    assert "at least" not in row("upload_mib_per_s", 3.0, TARGETS)


def test_figures_are_one_line_and_one_file(tmp_path: Path) -> None:
    path = tmp_path / "storage.json"
    text = written({"upload_ratio": 0.9, "runs": [1, 2]}, path)
    assert path.read_text() == f"{text}\n"
    assert json.loads(text) == {"upload_ratio": 0.9, "runs": [1, 2]}
    assert list(tmp_path.iterdir()) == [path]


def test_the_curve_is_shown_as_a_table_and_as_a_picture() -> None:
    assert "| blob size | 64 KiB | 50 | 110 |" in table_of(ROWS).splitlines()
    drawn = ET.fromstring(chart(ROWS))  # noqa: S314 - our own
    words = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"blob size", "a < b", "50", "110"} <= set(words)
    assert chart([]).endswith("</svg>\n")


def test_every_choice_of_a_question_has_a_name_of_its_own_and_fits_a_point() -> None:
    for choices in QUESTIONS.values():
        assert len({choice.name for choice in choices}) == len(choices)
        for sizes in (WHOLE, QUICK, SMALLEST):
            assert all(sizes.curve_mib * MIB % choice.size == 0 for choice in choices)


def test_room_is_asked_for_first(tmp_path: Path) -> None:
    require_room(tmp_path, 1)
    with pytest.raises(RejectedError, match=r"1048576\.0 GiB of disk needed"):
        require_room(tmp_path, 1 << 50)
    assert QUICK.room < WHOLE.room
    assert WHOLE.room >= 2 * 20 * 1024 * MIB


def test_payloads_are_as_long_as_asked_for_and_dd_leaves_nothing(tmp_path: Path) -> None:
    payload = random_file(tmp_path / "payload", 3 * MIB + 1)
    assert payload.stat().st_size == 3 * MIB + 1
    dd_twice(payload, tmp_path / "dd")
    assert list(tmp_path.iterdir()) == [payload]
    sparse = sparse_file(tmp_path / "sparse", 5 * MIB)
    assert (sparse.stat().st_blocks, RecordingDigest.of_file(sparse).size) == (0, 5 * MIB)


class FakeFuture:
    """Answers at once, or fails."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def add_callbacks(self, done: object, failed: object) -> None:
        callback, argument = (failed, self._error) if self._error else (done, None)
        assert callable(callback)
        callback(argument)


def test_a_bare_loop_sends_each_number_once_and_says_what_failed() -> None:
    sent: list[int] = []

    def send(number: int) -> FakeFuture:
        sent.append(number)
        return FakeFuture(OSError("gone") if number == 7 else None)

    assert keep_in_flight(5, 2, send) >= 0
    assert sent == [0, 1, 2, 3, 4]
    with pytest.raises(UnavailableError, match="gone"):
        keep_in_flight(9, 4, send)


def test_what_a_kill_left_is_ended_and_nothing_else(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "others"
    wait = "import signal; print(); signal.pause()"
    started = [
        subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-uc", wait, *words], stdout=subprocess.PIPE
        )
        for words in (
            ["wayseal-gateway", f"{ours}/gateway.toml"],
            ["wayseal-gateway", f"{others}/gateway.toml"],
            ["an editor", f"{ours}/gateway.toml"],
        )
    ]
    try:
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        # The kernel keeps a killed child until its parent has waited: here, this test.
        assert end_leftovers(ours) == [started[0].pid]
        assert started[0].wait(10) == -9
        assert [process.poll() for process in started[1:]] == [None, None]
    finally:
        for process in started:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
