"""What a fleet's visit is made into: a truck without its receipt makes every figure invalid."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import RejectedError, UnavailableError
from storage.bench.commands.offload import Offload, outcome_of
from storage.bench.offload.sizes import Trucks
from storage.bench.offload.visit import Visit
from storage.bench.run.flags import Flag
from storage.bench.run.part import Setup
from storage.bench.run.volumetarget import volume_targets
from storage.stages import Stage

TRUCKS = Trucks(4, 10, 1_000_000)


def visit(**said: Any) -> Visit:  # noqa: ANN401 - JSON
    fleet: dict[str, Any] = {
        "trucks": 4,
        "receipted": 4,
        "errors": [],
        "offload_p50_s": 1.0,
        "offload_p95_s": 2.0,
        "readings_per_s": 20.0,
        "bytes_per_s": 2_000_000,
        **said,
    }
    return Visit(fleet, dict.fromkeys(Stage, 8.0), 3.0, 1.0, 100_000_000, [[1.0] * 5])


def test_stages_are_seconds_of_each_truck() -> None:
    figures = {each.metric.name: each for each in outcome_of(TRUCKS, visit()).observations}
    assert figures["stage-hash"].value == 2.0
    assert not any(each.flags for each in figures.values())


def test_a_truck_without_a_receipt_makes_all_figures_invalid() -> None:
    errors = [{"device_id": "fleet-1", "why": "the gateway refuses it"}]
    outcome = outcome_of(TRUCKS, visit(receipted=3, errors=errors))
    for each in outcome.observations:
        (raised,) = each.flags
        assert raised.flag is Flag.INVALID
        assert raised.why == "expected 4 trucks with a receipt, got 3: the gateway refuses it"


def test_a_fleet_that_got_no_receipt_has_no_rates() -> None:
    none = dict.fromkeys(("offload_p50_s", "offload_p95_s", "readings_per_s", "bytes_per_s"))
    outcome = outcome_of(TRUCKS, visit(receipted=0, errors=[{"why": "no"}], **none))
    names = {each.metric.name for each in outcome.observations}
    assert "errors" in names
    assert "offload-p50" not in names


def test_the_room_is_asked_for_before_anything_is_written(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    part = Offload()
    part.add_options(parser)
    with volume_targets([("here", tmp_path)]) as volumes, ExitStack() as stack:
        setup = Setup(volumes, quick=True, repetitions=1, seed=1, work=tmp_path)
        much = parser.parse_args(["--trucks", "1000000", "--truck-video-mb", "1000000"])
        with pytest.raises(UnavailableError, match="MB free"):
            part.prepare(much, setup, stack)
        with pytest.raises(RejectedError, match="--trucks: expected a whole number from 1, got 0"):
            part.prepare(parser.parse_args(["--trucks", "0"]), setup, stack)
        prepared = part.prepare(parser.parse_args([]), setup, stack)
        assert prepared.settings["fleet"]["count"] == 4
        with prepared.groups[0].opened() as steps:
            assert {(step.workload, step.target) for step in steps} == {
                ("fleet", "here"),
                ("long-trip", "here"),
            }
