"""A gateway with its blobs in a real Cassandra, which it loses while a truck uploads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from contracts.actions.payload import decode
from contracts.chunktree import BLOB_BYTES
from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.wire_pb2 import RecordingOffer
from storage.bench.servers.cassandra.cluster import Cluster
from storage.blobs.cassandra.config import CassandraConfig
from storage.recordings.splitter import GROUP_BLOBS
from support.evidence.chain import blobs_of, digest_of
from support.machine.wire import Wire, wire_to
from support.storage.blobsuite import blob
from support.storage.cassandras import config_of, opened
from support.trucks.rogue import DEADLINE_S, Rogue, Site, until
from support.trucks.truck import Truck
from support.trucks.uploads import TUS, announce
from support.trucks.visits import copies_of, loaded, meet, offload_provisionally

pytestmark = pytest.mark.integration
LEAVE_S: Final = 240
KEYSPACE: Final = "gateway"
VOLUME, BLOBS = "volume:volume:fsync", "blobs:cassandra:QUORUM"
ACKNOWLEDGED: Final = (GROUP_BLOBS + 4) * BLOB_BYTES + 777
"""Bytes of the first request: a group of blobs goes to the cluster, more wait at the gateway."""


@pytest.fixture
def wire(cassandra: Cluster) -> Iterator[Wire]:
    """Return the gateway's way to the cluster."""
    with wire_to(cassandra.ports.native) as made:
        yield made


@pytest.fixture
def site(wire: Wire, tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    made.appliance.variables |= {
        "WAYSEAL_STORAGE__BLOB_STORE": "cassandra",
        "WAYSEAL_CASSANDRA__PORT": str(wire.port),
        "WAYSEAL_CASSANDRA__KEYSPACE": KEYSPACE,
        "WAYSEAL_CASSANDRA__TIMEOUT_S": "5",
        "WAYSEAL_RECEIPTS__REQUIRES": '["volume:fsync", "blobs:QUORUM"]',
    }
    try:
        yield made
    finally:
        made.stop()


def patch(client: httpx.Client, url: str, at: int, size: int, body: Iterator[bytes]) -> int:
    """Send bytes of an upload in one request; return the offset that is acknowledged."""
    headers = {
        **TUS,
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(size),
        "Upload-Offset": str(at),
    }
    answer = client.patch(url, content=body, headers=headers)
    assert answer.status_code == 204, answer.text
    return int(answer.headers["Upload-Offset"])


class Upload:
    """A truck's video on its way, sent by the test in the truck's name, piece by piece."""

    def __init__(self, site: Site, truck: Truck, trip_id: str) -> None:
        (video,) = (truck.data / "videos").rglob("*.avi")
        self.content = video.read_bytes()
        self.recording_id = digest_of(self.content).sha256
        (digest,) = (
            batch
            for batch in truck.batches()
            if isinstance(decode(batch.transactions[0].payload), RecordVideo)
        )
        offer = RecordingOffer(
            sha256=self.recording_id,
            size=len(self.content),
            trip_id=trip_id,
            digest_batch=digest.SerializeToString(deterministic=True),
        )
        token = truck.environment["WAYSEAL_GATEWAY__TOKEN"]
        with Rogue(site.appliance.mqtt, truck.device_id, token) as device:
            assert not device.ask(recordings=[offer]).refused
        self._client = httpx.Client(
            base_url=site.appliance.rest,
            headers={"Authorization": f"Bearer {token}"},
            timeout=DEADLINE_S,
            trust_env=False,
        )
        site.clients.append(self._client)
        self._url = announce(self._client, self.content).headers["location"]

    def begin(self, config: CassandraConfig) -> None:
        """Send until an offset is acknowledged and the cluster has the blobs of a group."""
        first = self.content[:ACKNOWLEDGED]
        assert patch(self._client, self._url, 0, len(first), iter([first])) == ACKNOWLEDGED
        with opened(config) as blobs:
            until(
                "a group", lambda: set(blobs.leaves(self.recording_id)) == set(range(GROUP_BLOBS))
            )

    def end_while_it_is_lost(self, wire: Wire) -> None:
        """Send the rest in one request; the cluster is lost in the middle of it."""
        rest = self.content[ACKNOWLEDGED:]

        def body() -> Iterator[bytes]:
            yield rest[:BLOB_BYTES]
            wire.cut()
            yield rest[BLOB_BYTES:]

        end = patch(self._client, self._url, ACKNOWLEDGED, len(rest), body())
        assert end == len(self.content)

    def is_kept(self, config: CassandraConfig) -> bool:
        """Say whether the cluster itself has every blob."""
        kept = [blob(index, data) for index, data in enumerate(blobs_of(self.content))]
        with opened(config) as blobs:
            return [blobs.get(self.recording_id, each.index) for each in kept] == kept


def test_a_cluster_that_is_lost_in_the_middle_of_an_upload_gets_its_blobs_later(
    cassandra: Cluster, wire: Wire, site: Site, tmp_path: Path
) -> None:
    """The upload ends on the volume; nothing is reported as kept in the cluster before it is."""
    site.start()
    truck, trip_id = loaded(tmp_path, more_bytes=4 * GROUP_BLOBS * BLOB_BYTES)
    meet(truck, site)
    upload = Upload(site, truck, trip_id)
    upload.begin(config_of(cassandra, KEYSPACE))
    upload.end_while_it_is_lost(wire)
    (item,) = site.ask("/v1/backlog")
    assert (item["recording_id"], item["lacks"]) == (upload.recording_id.hex(), ["blobs"])
    offload_provisionally(truck)
    assert copies_of(site, trip_id) == [VOLUME]
    visit = site.offload(trip_id)
    assert (visit["receipted"], visit["provisional"]) == (False, True)
    (lacks,) = visit["lacking"]
    assert lacks.endswith("has no copy blobs:QUORUM")
    assert len(truck.batches()) > 0
    wire.mend()
    until("a copy more", lambda: copies_of(site, trip_id) == [BLOBS, VOLUME], LEAVE_S)
    assert upload.is_kept(config_of(cassandra, KEYSPACE))
    code, _, err = truck.run("offload", "--wait-s", str(LEAVE_S))
    assert code == 0, err
    assert truck.batches() == []
    assert site.offload(trip_id)["receipted"]
    assert site.ask("/v1/backlog") == []
