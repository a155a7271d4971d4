"""The digest of a recording that another site stored is submitted only after it was read here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.chunktree import leaf_hash
from contracts.proto.wire_pb2 import RecordingOffer
from gateway.intake.admission import admit_offer
from gateway.intake.held import State
from storage.blobs.port import Blob
from storage.recordings.manifest import StoredRecording
from support.evidence.chain import digest_of
from support.gateways.desk import Desk, open_desk
from support.network.world import Trip, reading, registrations
from support.storage.stores import open_store, put
from support.trucks.rogue import wire_of

pytestmark = pytest.mark.integration

VIDEO = b"video"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


def offered(desk: Desk) -> str:
    """Adopt a whole recording from the blob store for a truck's offer; return the digest's id."""
    made, trip = digest_of(VIDEO), Trip()
    assert desk.shelf.store.adopt(made.sha256, made.size) is not None
    *batches, digest = trip.whole([reading(0)], [made])
    offer = RecordingOffer(
        trip_id=trip.trip_id, sha256=made.sha256, size=made.size, digest_batch=wire_of(digest)
    )
    held, announced = admit_offer(offer, "truck-1")
    desk.inbox.add([held], [announced])
    desk.ledger.transactions.add(held.dependency)
    desk.ledger.extend([registrations(), batches])
    desk.follow()
    return held.batch_id


def test_its_digest_waits_until_every_byte_was_read_here(desk: Desk, tmp_path: Path) -> None:
    with open_store(tmp_path / "there", desk.shelf.store.places.blobs) as there:
        put(there, VIDEO)
    name = offered(desk)
    desk.saga.step()
    assert desk.states([name]) == [State.HELD]
    assert desk.shelf.store.fill(digest_of(VIDEO).sha256)
    desk.saga.step()
    assert desk.ledger.submitted == [[name]]


def test_a_word_that_nobody_read_puts_no_digest_aside(desk: Desk) -> None:
    """Whoever puts a false manifest there would have honest digests quarantined."""
    blobs, recording_id = desk.shelf.store.places.blobs, digest_of(VIDEO).sha256
    false = b"other"
    leaf = leaf_hash(false)
    blobs.put(recording_id, Blob(0, false, leaf))
    manifest = StoredRecording(recording_id, len(false), leaf, (leaf,), ())
    blobs.put_manifest(recording_id, manifest.encode())
    name = offered(desk)
    desk.saga.step()
    assert desk.states([name]) == [State.HELD]
    assert desk.ledger.submitted == []
