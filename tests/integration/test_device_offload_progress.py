"""An offload with a limit tells how far it is, and whether the truck may leave."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.commands.simulate import TripFiles
from support.gateways.truck_gateway import FakeGateway, mosquitto_broker
from support.machine.waiting import wait_until
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration
SLOW = "[offload]\nuploads = 3\nbytes_per_s = 8192\n"


@pytest.fixture(scope="module")
def broker_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with mosquitto_broker(tmp_path_factory.mktemp("broker")) as port:
        yield port


def test_a_slow_offload_is_told_stopped_and_ended_by_a_fast_one(
    gateway: FakeGateway, tmp_path: Path, files: TripFiles
) -> None:
    size = files.video.stat().st_size
    truck = Truck(tmp_path / "truck", SLOW + gateway.section)
    truck.must("record", "--readings", files.readings, "--video", files.video)
    assert truck.must("status")["may_leave"] is False

    def is_told() -> bool:
        told = truck.must("status")["offloading"]
        return bool(told) and told["video_bytes"] == size and 0 < told["video_bytes_sent"] < size

    with truck.start("offload") as slow:
        wait_until(is_told)
        _, text, _ = truck.run("status")
        slow.send_signal(signal.SIGTERM)
        _, said = slow.communicate(timeout=60)
    assert " of video sent" in text
    assert "must stay: 1 trip has no final receipt: 240 readings and 1 recording" in text
    assert slow.returncode != 0, said
    assert truck.must("status")["offloading"] is None
    Truck(tmp_path / "truck", gateway.section).must("offload")
    assert list(gateway.uploads.values()) == [files.video.read_bytes()]
    assert gateway.requests.count("POST") == 1
    assert truck.must("status")["may_leave"] is True


def test_video_waits_for_a_link_that_is_not_metered(
    gateway: FakeGateway, tmp_path: Path, files: TripFiles
) -> None:
    metered = Truck(tmp_path / "truck", '[offload]\nlink = "metered"\n' + gateway.section)
    metered.must("record", "--readings", files.readings, "--video", files.video)
    code, _, said = metered.run("offload")
    assert code == 1
    assert "readings are at the gateway; video waits for a link that is not metered" in said
    assert gateway.held
    assert not gateway.uploads
    status = metered.must("status")
    assert status["may_leave"] is False
    assert "video waits for a link that is not metered" in status["because"]
    Truck(tmp_path / "truck", gateway.section).must("offload")
    assert list(gateway.uploads.values()) == [files.video.read_bytes()]
