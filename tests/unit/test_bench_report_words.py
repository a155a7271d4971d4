"""Numbers, rates, flags and points of a sweep, as a report words them."""

from math import nan
from typing import Any

import pytest

from contracts.errors import RejectedError
from storage.bench.report.charts.overtime import Traced, over_time
from storage.bench.report.charts.style import looks
from storage.bench.report.flagged import MEANINGS
from storage.bench.report.latencies import distribution
from storage.bench.report.numbers import digits, text, unit_of
from storage.bench.report.page import figures
from storage.bench.report.sweeps import PlottedPoint, point_of
from storage.bench.run.flags import Flag
from storage.bench.run.savedrun import Table
from support.bench.results import (
    hdr,
)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.109e9, "B/s", "1.11 GB/s"),
        (999.6e6, "B/s", "1.00 GB/s"),
        (20e6, "B/s", "20.0 MB/s"),
        (0.000123, "s", "123 µs"),
        (10800.0, "s", "10,800 s"),
        (20500.0, "1/s", "20.5 k/s"),
        (1.2, "1/s", "1.20 /s"),
        (20500.0, "tx/s", "20.5 k tx/s"),
        (1.2, "tx/s", "1.20 tx/s"),
        (0.5, "tx/s", "0.500 tx/s"),
        (0.09, "1", "0.0900"),
        (0.00418, "USD/h", "0.00418 USD/h"),
        (1.43, "s/GB", "1.43 s/GB"),
        (0.0, "J", "0 J"),
        (float("inf"), "s", "inf s"),
    ],
)
def test_figures_have_three_digits_and_a_prefix(value: float, unit: str, words: str) -> None:
    assert text(value, unit) == words


def test_large_numbers_have_thousands_apart_and_tiny_ones_an_exponent() -> None:
    assert [digits(each) for each in (212345, 0.0000123)] == ["212,000", "1.23e-05"]


def test_percentiles_come_from_all_samples_and_say_when_these_are_few() -> None:
    found = distribution([hdr([0.001] * 900), hdr([0.001] * 90 + [0.5] * 10)])
    assert found.samples == 1000
    assert found.at(50.0) == pytest.approx(0.001, rel=2e-3)
    assert found.at(99.0) == pytest.approx(0.001, rel=2e-3)
    assert (found.at(99.7), found.most_s) == pytest.approx((0.5, 0.5), rel=2e-3)
    assert (found.suffices(99.0), found.suffices(99.7)) == (True, False)
    with pytest.raises(RejectedError, match="expected an HdrHistogram"):
        distribution(["AAAA"])


@pytest.mark.parametrize(
    ("metric", "unit", "words"),
    [
        ("committed-rate", "1/s", "tx/s"),
        ("committed-rate-per-joule-rapl", "1/J", "tx/J"),
        ("fsyncs", "1/s", "1/s"),
        ("readings-rate", "B/s", "B/s"),
    ],
)
def test_a_rate_says_what_it_counts(metric: str, unit: str, words: str) -> None:
    assert unit_of({"metric": metric, "unit": unit}) == words


def test_a_flag_that_most_of_a_table_have_stands_below_it_and_others_beside() -> None:
    common = {"flag": "NOT PRECONDITIONED", "why": "as it is"}
    own = [{"flag": "FEW SAMPLES", "why": f"got {count}"} for count in (3, 4)]
    figure: dict[str, Any] = {"workload": "w", "target": "a", "unit": "s", "ceiling": None}
    figure |= {"low": 1.0, "values": [1.0], "median": 1.0, "high": 1.0}
    found = figures(
        [
            {**figure, "metric": "cpu-busy", "flags": []},
            *({**figure, "metric": f"m{each}", "flags": [common]} for each in range(4)),
            {**figure, "metric": "p99", "flags": [common, *own]},
        ]
    )
    assert found.notes == [("NOT PRECONDITIONED", "as it is", "all but cpu-busy")]
    assert [row.flags for row in found.rows[:-1]] == [[]] * 5
    assert found.rows[-1].flags == [("FEW SAMPLES", "got 3; got 4")]


@pytest.mark.parametrize(
    ("name", "found"),
    [("sequential-128k-qd8-read0", PlottedPoint("sweep: sequential, writes", 131072, "128k", 8)),
     ("random-1m-qd32-read100", PlottedPoint("sweep: random, reads", 1048576, "1m", 32)),
     ("random-access", None)],
)  # fmt: skip
def test_points_of_a_sweep_are_known_by_name(name: str, found: PlottedPoint | None) -> None:
    assert point_of(name) == found


def test_columns_of_zeros_and_what_the_machine_cannot_tell_are_not_drawn() -> None:
    rows = [(0.0, 0.0, nan, 5.0), (1.0, 0.0, nan, nan), (2.0, 0.0, nan, 6.0)]
    table = Table(("s", "idle_per_s", "watts", "read_bytes_per_s"), rows)
    with looks():
        (drawn,) = over_time("w", [Traced("a", table)], {"a": 0})
        assert not list(over_time("w", [Traced("a", Table(("s", "idle"), [(0, 0)]))], {"a": 0}))
    assert ">read<" in drawn.svg
    assert "idle" not in drawn.svg
    assert "watts" not in drawn.svg


@pytest.mark.parametrize("flag", Flag)
def test_every_flag_has_a_meaning(flag: Flag) -> None:
    assert MEANINGS[flag]
