"""The storage benchmark's own parts: ratios, medians, what is shown, what a kill leaves."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.records.recording import RecordingDigest
from storage.bench.disk import MIB, dd_twice, random_file, require_room, sparse_file
from storage.bench.goals.goals import STORAGE_GOALS, missed, row, written
from storage.bench.goals.storage.curve import QUESTIONS, chart, curve_of, table_of, workload
from storage.bench.goals.storage.pairs import Turns, summary
from storage.bench.goals.storage.sizes import QUICK, SMALLEST, WHOLE
from storage.bench.io.inflight import keep_in_flight
from storage.bench.run.directories import end_leftovers
from storage.bench.run.document import Document
from storage.bench.run.folder import Folder
from storage.bench.run.plan import Part, Step, StepGroup
from storage.bench.run.runner import Runner
from storage.bench.run.savedrun import opened
from support.bench.results import HEADING, Quiet

Limits = Mapping[str, float]
ROWS = [
    {"question": "blob size", "choice": "64 KiB", "write_mib_per_s": 50.0, "read_mib_per_s": 110.4},
    {"question": "a < b", "choice": "both", "write_mib_per_s": 1.0, "read_mib_per_s": 0.4},
]


def turns(tmp_path: Path, ours: Sequence[float], limits: Sequence[Limits]) -> Document:
    """Measure made-up seconds by turns, through the benchmark's own runner."""
    order: list[str] = []

    def our_side() -> float:
        order.append("ours")
        return ours[order.count("ours") - 1]

    def limit() -> Limits:
        order.append("limit")
        return limits[order.count("limit") - 1]

    measured = Turns(our_side, limit)

    @contextmanager
    def one_step() -> Iterator[Sequence[Step]]:
        yield [Step("upload", "here", measured.execute)]

    group = StepGroup(Part.IO, "made up", 1.0, one_step, len(ours))
    Runner(Folder(tmp_path), HEADING, Quiet()).run([group])
    assert order == ["ours", "limit", "limit", "ours", "ours", "limit"]
    return opened(tmp_path).result


def test_the_slower_limit_counts_and_who_was_first_is_second_next_time(tmp_path: Path) -> None:
    limits = [{"dd": 1.0, "hash": 4.0 - number} for number in range(3)]
    result = turns(tmp_path, [2.0, 3.0, 4.0], limits)
    (ratio,) = [each for each in result["figures"] if each["metric"] == "ratio"]
    assert ratio["values"] == [2.0, 1.0, 0.5]
    assert summary(result, "upload", 1)["ratio"] == 1.0


def test_a_summary_has_medians_in_mib_per_s_and_every_run(tmp_path: Path) -> None:
    result = turns(tmp_path, [2.0, 4.0, 8.0], [{"dd_twice": each} for each in (4.0, 1.0, 8.0)])
    assert summary(result, "upload", 64) == {
        "mib": 64,
        "ratio": 1.0,
        "ours_mib_per_s": 16.0,
        "dd_twice_mib_per_s": 16.0,
        "runs": [
            {"ratio": 2.0, "ours_s": 2.0, "dd_twice_s": 4.0},
            {"ratio": 0.25, "ours_s": 4.0, "dd_twice_s": 1.0},
            {"ratio": 1.0, "ours_s": 8.0, "dd_twice_s": 8.0},
        ],
    }


def test_what_must_be_reached_is_what_was_asked_for() -> None:
    bounds = {name: goal.bound for name, goal in STORAGE_GOALS.items()}
    assert bounds == {
        "upload_ratio": 1.2,
        "upload_cpu_s_per_gb": 2.2,
        "cassandra_write_ratio": 0.95,
        "cassandra_read_ratio": 0.95,
        "volume_read_ratio": 0.9,
        "rss_mb": 300,
    }
    assert missed(bounds, STORAGE_GOALS) == []
    assert missed({"rss_mb": 301.0, "upload_ratio": 1.19}, STORAGE_GOALS) == [
        "upload_ratio",
        "rss_mb",
    ]
    assert "MISSED" in row("rss_mb", 301.0, STORAGE_GOALS)
    assert "at least" not in row("upload_mib_per_s", 3.0, STORAGE_GOALS)


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


def test_the_curve_has_a_row_for_each_choice_that_was_measured() -> None:
    name = workload("protocol and driver's buffers", "v4, 4 KiB (stock)")
    assert name == "protocol-and-driver-s-buffers-v4-4-kib-stock"
    figures = [
        {"workload": name, "metric": f"{way}-rate", "values": [each * MIB for each in values]}
        for way, values in {"write": (10.0, 30.06, 20.0), "read": (5.0, 7.0, 6.0)}.items()
    ]
    assert curve_of({"figures": figures}) == [
        {
            "question": "protocol and driver's buffers",
            "choice": "v4, 4 KiB (stock)",
            "write_mib_per_s": 20.0,
            "read_mib_per_s": 6.0,
            "write_runs": [10.0, 30.1, 20.0],
            "read_runs": [5.0, 7.0, 6.0],
        }
    ]


def test_every_choice_of_a_question_has_a_name_of_its_own_and_fits_a_point() -> None:
    names = [workload(name, each.name) for name, choices in QUESTIONS.items() for each in choices]
    assert len(set(names)) == len(names)
    for choices in QUESTIONS.values():
        for sizes in (WHOLE, QUICK, SMALLEST):
            assert all(sizes.curve_mib * MIB % choice.size == 0 for choice in choices)


def test_room_is_asked_for_first(tmp_path: Path) -> None:
    require_room(tmp_path, 1)
    with pytest.raises(RejectedError, match=r"expected 1048576\.0 GiB free"):
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
