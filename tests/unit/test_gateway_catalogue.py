"""Lost entries of the catalogue are made again only for what this site took in."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.proto.wire_pb2 import StoredRecording as SaidRecording
from gateway.intake.held import HeldBatch, Offer
from gateway.services import Services
from gateway.settings import Settings
from storage.recordings.manifest import StoredRecording
from support.storage.stores import put

TRIP, DEVICE = "trip", "truck-1"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with closing(Services(Settings(data=tmp_path, site_id="site"))) as opened:
        yield opened


@pytest.fixture
def lost(services: Services, tmp_path: Path) -> StoredRecording:
    """Return a recording that was announced here, is on the ledger, and is only in the blobs."""
    stored = services.recordings.manifest(put(services.recordings, b"video"))
    assert stored is not None
    catalogue = services.recordings.places.catalogue
    catalogue.start_leaving(stored.sha256)
    catalogue.end_leaving(stored.sha256)
    (whole,) = (tmp_path / "volume").rglob(stored.sha256.hex())
    whole.unlink()
    name = f"{1:0128x}"
    held = HeldBatch(name, DEVICE, TRIP, b"wire", 0, "", name, stored.sha256)
    services.inbox.add(
        [held], [Offer(TRIP, DEVICE, stored.sha256, stored.size, stored.tree_root, name)]
    )
    action = RecordVideo(
        trip_id=TRIP, sha256=stored.sha256, size=stored.size, tree_root=stored.tree_root
    )
    services.index.add({"blocks": [(0, "block 0", b"")]})
    videos: list[tuple[object, ...]] = [
        (stored.sha256, TRIP, action.SerializeToString(), "tx", 0, 0, 1),
    ]
    services.index.add({"blocks": [(1, "block 1", b"")], "videos": videos})
    return stored


def receipt(services: Services, *recordings: StoredRecording) -> None:
    """Keep a receipt of this site for the visit, which names these recordings."""
    said = [
        SaidRecording(sha256=each.sha256, size=each.size, tree_root=each.tree_root)
        for each in recordings
    ]
    body = ReceiptBody(device_id=DEVICE, trip_id=TRIP, recordings=said)
    wire = Receipt(body=body.SerializeToString()).SerializeToString()
    services.inbox.visits.put_receipt(TRIP, DEVICE, wire, final=True)


def test_what_was_only_announced_here_stays_another_site_s(
    services: Services, lost: StoredRecording
) -> None:
    """The truck announced it here, and went on to another site of a shared blob store."""
    assert list(services.recataloguing.remade()) == []
    receipt(services)
    assert list(services.recataloguing.remade()) == []
    services.inbox.visits.put_receipt(TRIP, DEVICE, b"rotten", final=True)
    assert list(services.recataloguing.remade()) == []
    assert services.recordings.manifest(lost.sha256) is None
    assert list(services.recordings.backlog()) == []


def test_what_a_receipt_of_this_site_names_comes_back(
    services: Services, lost: StoredRecording
) -> None:
    receipt(services, lost)
    (found,) = services.recataloguing.remade()
    assert (found.recording_id, found.kind, found.repaired) == (lost.sha256, "missing", True)
    assert services.recordings.manifest(lost.sha256) is not None
