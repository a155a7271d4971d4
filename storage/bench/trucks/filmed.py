"""A trip with one video and nothing else: the least that lets a gateway show the video."""

from dataclasses import dataclass
from typing import Final

from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.ids import trip_id_of
from contracts.proto.payload_pb2 import (
    RecordVideo,
    RegisterDevice,
    SealedRecording,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import Clock, ClockOrigin
from contracts.records.recording import RecordingDigest, pseudo_file_id
from contracts.sawtooth.batches import build_batch
from storage.bench.trucks.fleet import START_MS, key, network

DEVICE: Final = "truck-bench"
_NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class FilmedTrip:
    """The batches that its device signs.

    Attributes:
        before: Start and seal, in order; both must be committed before the digest.
        digest: Of the video.
    """

    trip_id: str
    before: tuple[Batch, ...]
    digest: Batch


def registrations() -> list[Batch]:
    """Return the registrations that such a trip needs: network and device."""
    device = RegisterDevice(
        device_id=DEVICE, party_id="carrier", public_keys=[key(DEVICE).public_key]
    )
    carrier = key("carrier")
    return [*network(), build_batch(carrier, [build(carrier, device)])]


def filmed_trip(video: RecordingDigest) -> FilmedTrip:
    """Return the trip of a video; each video has its own trip."""
    nonce = video.sha256[:_NONCE_BYTES]
    trip_id = trip_id_of(DEVICE, nonce)
    start, start_id = _signed(
        StartTrip(
            trip_id=trip_id,
            nonce=nonce,
            device_id=DEVICE,
            origin_site_id="site-a",
            destination_site_id="site-b",
            started_at_ms=START_MS,
        )
    )
    seal, seal_id = _signed(
        SealTrip(
            trip_id=trip_id,
            device_id=DEVICE,
            recordings=[SealedRecording(sha256=video.sha256, size=video.size)],
            clock=Clock(START_MS, 0, nonce, ClockOrigin.GNSS).message(),
        ),
        start_id,
    )
    digest, _ = _signed(
        RecordVideo(
            trip_id=trip_id,
            device_id=DEVICE,
            sha256=video.sha256,
            size=video.size,
            tree_root=video.tree_root,
            pseudo_file_id=pseudo_file_id(DEVICE, "video.mp4"),
            media_type="video/mp4",
            started_at_ms=START_MS,
            seal_transaction_id=seal_id,
        ),
        seal_id,
    )
    return FilmedTrip(trip_id, (start, seal), digest)


def _signed(action: Action, *dependencies: str) -> tuple[Batch, str]:
    """Return an action alone in its batch, and its transaction's id."""
    signer = key(DEVICE)
    transaction = build(signer, action, dependencies=dependencies)
    return build_batch(signer, [transaction]), transaction.header_signature
