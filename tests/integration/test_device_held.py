"""An offload whose data are held but not yet receipted ends in a way of its own."""

import re
from pathlib import Path

import pytest

from contracts.runtime.commands import FAILED, HELD
from device.commands.simulate import TripFiles
from support.gateways.truck_gateway import FakeGateway
from support.trucks.truck import Truck, sealed_truck

pytestmark = pytest.mark.integration


@pytest.fixture
def truck(gateway: FakeGateway, files: TripFiles, tmp_path: Path) -> Truck:
    return sealed_truck(tmp_path / "truck", gateway.section, files)


def test_what_is_held_and_not_receipted_has_an_exit_status_of_its_own(
    truck: Truck, gateway: FakeGateway
) -> None:
    gateway.receipts, gateway.committed, gateway.out = False, 2, ["ledger"]
    status, _, errors = truck.run("offload", "--wait-s", "1")
    assert status == HELD, errors
    assert re.search(r"^wayseal-device: 2 of \d+ batches are committed$", errors, re.MULTILINE)
    assert "the gateway holds everything, and has committed 2 of the batches here" in errors
    assert "offload again, with --wait-s above 1 if the ledger's blocks are further apart" in errors
    assert "1 trip has no final receipt; the gateway is without: ledger; kept here" in errors
    assert truck.batches()
    gateway.receipts = True
    assert len(truck.must("offload")["receipted"]) == 1


def test_a_video_that_is_not_whole_there_is_not_held(truck: Truck, gateway: FakeGateway) -> None:
    gateway.http_failures = [500] * 1000
    status, _, errors = truck.run("offload", "--wait-s", "1")
    assert status == FAILED, errors
    assert "last upload problem" in errors


def test_an_upload_problem_that_was_overcome_is_not_named(
    truck: Truck, gateway: FakeGateway
) -> None:
    gateway.receipts, gateway.http_failures = False, [500]
    status, _, errors = truck.run("offload", "--wait-s", "3")
    assert status == HELD, errors
    assert gateway.http_failures == []
    assert "last upload problem" not in errors
