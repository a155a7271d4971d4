"""1,000 connections are lost during one offload, each at another moment: all of it arrives once."""

import random
from pathlib import Path

import pytest

from contracts.records.recording import RecordingDigest
from device.backoff import Backoff
from device.journal.trip import Recording
from device.offload import uploads
from device.offload.progress import Progress
from device.offload.upload import TusClient
from device.settings_file import load
from support.gateways.truck_gateway import FakeGateway, amqtt_broker
from support.life.walk import Life, folder_in_memory
from support.trucks.rogue import until
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration

CONNECTS = 1_000
PIECE_BYTES = 4_096
READINGS = 60
DEADLINE_S = 240.0
MESSAGES_MAX = 1
"""An offer and one message of records: the rest of each visit is lost."""


def test_readings_arrive_once_over_a_thousand_lost_connections() -> None:
    chance = random.Random(11)
    with folder_in_memory() as folder:
        life = Life(folder, seed=11)
        with life.lived():
            life.drive(READINGS)
            for _ in range(CONNECTS):
                life.meet(life.sites[0], messages=chance.randint(0, MESSAGES_MAX))
            assert life.checks.waiting() == 1
            life.meet(life.sites[0])
            life.checks.nothing_waits()
            life.checks.all_is_well()
    assert len(life.checks.durable) >= READINGS - 2  # until presence has lasted


def test_a_recording_arrives_whole_over_a_thousand_lost_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "Backoff", lambda _: Backoff(0.0, 0.0))
    content = random.Random(12).randbytes(CONNECTS * PIECE_BYTES)
    (tmp_path / "trip").mkdir()
    path = tmp_path / "trip" / "film.mp4"
    path.write_bytes(content)
    digest = RecordingDigest.of_file(path)
    recording = Recording("trip", digest, path.name, "video/mp4", 1_000, b"")
    with amqtt_broker(tmp_path) as port, FakeGateway(port) as gateway:
        gateway.announced[digest.sha256.hex()] = digest.size
        gateway.cut_after = [PIECE_BYTES] * (CONNECTS - 1)
        settings = load(Truck(tmp_path / "truck", gateway.section).config, {})
        with (
            TusClient(settings.need_sites(None)[0], "truck-1") as client,
            uploads.Uploads([client], tmp_path, Progress()) as running,
        ):
            running.add([recording])
            until("the recording is there", lambda: running.left == 0, DEADLINE_S)
    assert bytes(gateway.uploads[digest.sha256.hex()]) == content
    assert gateway.requests.count("PATCH") >= CONNECTS
