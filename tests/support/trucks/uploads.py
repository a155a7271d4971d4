"""Recordings on their way to a gateway: the offer, the announcement, the bytes."""

import base64
from typing import Final

import httpx

from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import RecordingOffer
from support.evidence.chain import digest_of
from support.network.world import Trip

TUS: Final = {"Tus-Resumable": "1.0.0"}
STREAM: Final = {**TUS, "Content-Type": "application/offset+octet-stream"}


def offer_of(trip: Trip, content: bytes, digest_batch: Batch) -> RecordingOffer:
    """Return the offer of a recording held in memory."""
    made = digest_of(content)
    return RecordingOffer(
        sha256=made.sha256,
        size=made.size,
        trip_id=trip.trip_id,
        digest_batch=digest_batch.SerializeToString(deterministic=True),
    )


def announce(client: httpx.Client, content: bytes, *, size: int | None = None) -> httpx.Response:
    """Announce a recording, if need be under a wrong size."""
    name = base64.b64encode(digest_of(content).sha256.hex().encode()).decode()
    length = len(content) if size is None else size
    headers = {**TUS, "Upload-Length": str(length), "Upload-Metadata": f"sha256 {name}"}
    return client.post("/v1/uploads", headers=headers)


def send(client: httpx.Client, content: bytes, instead: bytes | None = None) -> httpx.Response:
    """Announce a recording and send its bytes, or others `instead`, in one request."""
    created = announce(client, content)
    assert created.status_code == 201, created.text
    headers = {**STREAM, "Upload-Offset": "0"}
    body = content if instead is None else instead
    return client.patch(created.headers["location"], content=body, headers=headers)
