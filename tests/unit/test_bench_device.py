"""What `make bench-device` counts, and which keys its JSON object has."""

from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UnavailableError
from storage.bench.goals.device.figures import FIGURES, PUBLISHED, figures_of, observations
from storage.bench.goals.device.quota import PERIOD_US, quota
from storage.bench.goals.device.truckfiles import TruckFiles
from storage.bench.goals.device.watching import syncs
from storage.bench.goals.goals import DEVICE_GOALS
from support.trucks.truck import Truck

TRACE = """\
24060 1700000000.100000 fdatasync(10)                     = 0
24060 1700000001.100000 fdatasync(10 <unfinished ...>
24061 1700000001.200000 fsync(8)                          = 0
24060 1700000001.300000 <... fdatasync resumed>)          = 0
24060 1700000009.100000 fdatasync(10)                     = 0
24025 1700000009.200000 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
24025 1700000009.300000 +++ exited with 0 +++
"""
DOCUMENT: dict[str, Any] = {
    "figures": [
        {"workload": "live", "metric": "rss-mb", "median": 51e6},
        {"workload": "hour", "metric": "card-mb-per-day", "median": 1e6},
        {"workload": "long-trip", "metric": "ratio-to-slower-alone", "median": 1.25},
        {"workload": "long-trip", "metric": "offload-p95", "median": 7.0},
        {"workload": "fleet", "metric": "ratio-to-slower-alone", "median": 9.0},
        {"workload": "fleet", "metric": "offload-p95", "median": 26.0},
        {"workload": "fleet", "metric": "errors", "median": 1.0},
    ]
}


def test_calls_that_wait_for_the_card_are_counted_once_and_only_while_it_is_watched() -> None:
    assert syncs(TRACE, 1700000001.0, 1700000009.0) == 2


def test_figures_have_the_units_of_their_names() -> None:
    assert figures_of(DOCUMENT, trucks=50) == {
        "rss_mb": 51,
        "card_mb_per_day": 86_400,
        "offload_ratio": 0.8,
        "fleet_p95_s": 26,
        "fleet_receipts": 49,
    }
    (kept,) = observations({"cpu_percent_at_1hz": 2})
    assert (kept.metric.name, kept.value) == ("cpu-percent-at-1hz", 0.02)


def test_the_keys_are_those_that_are_published() -> None:
    assert (
        *("rss_mb", "cpu_percent_at_1hz", "fsyncs_per_s", "card_mb_per_day"),
        *("journal_readings_per_s", "offload_ratio", "people_marked_share"),
        *("fleet_p95_s", "fleet_receipts"),
    ) == PUBLISHED
    known = {*FIGURES, "offload_ratio", "fleet_p95_s", "fleet_receipts"}
    assert known >= {*PUBLISHED, *DEVICE_GOALS}


def test_a_quota_is_a_share_of_one_core(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    with quota(0.1, tmp_path) as group:
        assert (group / "cpu.max").read_text() == f"{PERIOD_US // 10} {PERIOD_US}"


def test_a_machine_without_control_groups_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no control group for cpu"), quota(0.1, tmp_path):
        pytest.fail("a quota was set")


def test_the_measured_truck_s_settings_are_sound(tmp_path: Path) -> None:
    files = TruckFiles(tmp_path / "truck", tmp_path / "truck" / "card")
    truck = Truck(tmp_path / "other")
    files.replaying(10, "20")
    assert truck.run("--config", files.settings, "init")[0] == 0
    code, out, err = truck.run(
        "--config", files.settings, "record", "--readings", files.log, "--speed", "max"
    )
    assert (code, "10 readings" in out) == (0, True), err
