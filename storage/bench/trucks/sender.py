"""The truck's side of an upload over public interfaces: MQTT, then tus over REST."""

import base64
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection
from io import FileIO
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from contracts.errors import RejectedError, UnavailableError
from contracts.proto.wire_pb2 import Held, Offer, RecordingOffer
from contracts.records.recording import RecordingDigest
from contracts.wire import QOS, Topic, parse_message, topic
from storage.bench.trucks.filmed import DEVICE, FilmedTrip

PIECE_BYTES: Final = 64 << 20
"""Size of one request of a truck; the gateway syncs at its end."""
READ_BYTES: Final = 1 << 20
ANSWER_TIMEOUT_S: Final = 300
_SESSION_BYTES: Final = 16


def announce(mqtt: str, token: str, digest: RecordingDigest, trip: FilmedTrip) -> None:
    """Offer a recording with its signed digest; return once the gateway holds the offer.

    The gateway accepts bytes before it commits anything of the trip.

    Raises:
        RejectedError: The gateway refuses it.
        UnavailableError: The gateway does not answer.
    """
    heard: list[Held] = []
    listening, answered = threading.Event(), threading.Event()

    def on_message(_client: object, _data: object, message: MQTTMessage) -> None:
        heard.append(parse_message(Held, bytes(message.payload)))
        answered.set()

    def subscribe(*_: object) -> None:
        client.subscribe(topic(DEVICE, Topic.HELD), QOS)

    client = Client(CallbackAPIVersion.VERSION2, client_id=DEVICE)
    client.username_pw_set(DEVICE, token)
    client.on_message = on_message
    client.on_subscribe = lambda *_: listening.set()
    client.on_connect = subscribe
    host, _, port = mqtt.rpartition(":")
    client.connect(host, int(port))
    client.loop_start()
    try:
        _wait(listening, "subscribe at the broker")
        client.publish(topic(DEVICE, Topic.OFFERS), _offer(digest, trip), QOS)
        _wait(answered, "hold the offer")
    finally:
        client.disconnect()
        client.loop_stop()
    if heard[0].refused:
        raise RejectedError(f"the gateway refuses the offer: {heard[0].refused[0].reason}")


def send(rest: str, token: str, path: Path, digest: RecordingDigest) -> float:
    """Upload an announced recording; return seconds from the first request to the last answer.

    The last answer comes once the digest holds and both copies are durable. The sender reads the
    file into its own memory, as trucks do. With `sendfile` over the loopback the gateway would be
    the first to touch pages that the kernel has just read, and pay for what a virtual machine does
    at a page's first use: 0.2 to 1.7 s of CPU for a GB, where 0.2 are its own.

    Raises:
        RejectedError: The gateway does not take it.
    """
    place = urlsplit(rest)
    url = f"/v1/uploads/{digest.sha256.hex()}"
    common = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"}
    name = base64.b64encode(digest.sha256.hex().encode()).decode()
    created = {"Upload-Length": str(digest.size), "Upload-Metadata": f"sha256 {name}"}
    link = HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_TIMEOUT_S)
    with closing(link), path.open("rb", buffering=0) as file:
        start_s = time.monotonic()
        link.request("POST", "/v1/uploads", headers=common | created)
        _check(link, 201)
        for offset in range(0, digest.size, PIECE_BYTES):
            size = min(PIECE_BYTES, digest.size - offset)
            _begin_piece(link, url, common, offset, size)
            _send_piece(link, file, size)
            _check(link, 204)
        return time.monotonic() - start_s


def _offer(digest: RecordingDigest, trip: FilmedTrip) -> bytes:
    offer = RecordingOffer(
        sha256=digest.sha256,
        size=digest.size,
        trip_id=trip.trip_id,
        digest_batch=trip.digest.SerializeToString(deterministic=True),
    )
    return Offer(session=digest.sha256[:_SESSION_BYTES], recordings=[offer]).SerializeToString()


def _begin_piece(
    link: HTTPConnection, url: str, common: Mapping[str, str], offset: int, size: int
) -> None:
    link.putrequest("PATCH", url)
    headers = {
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(size),
        "Upload-Offset": str(offset),
    }
    for name, text in {**common, **headers}.items():
        link.putheader(name, text)
    link.endheaders()


def _send_piece(link: HTTPConnection, file: FileIO, size: int) -> None:
    memory = memoryview(bytearray(READ_BYTES))
    while size:
        count = file.readinto(memory[:size])
        if not count:
            raise RejectedError(f"upload: expected {size} more bytes in the file, got its end")
        link.sock.sendall(memory[:count])
        size -= count


def _check(link: HTTPConnection, expected: int) -> None:
    answer = link.getresponse()
    said = answer.read()
    if answer.status != expected:
        raise RejectedError(
            f"upload: expected HTTP {expected}, got {answer.status}: {said[:300]!r}"
        )


def _wait(event: threading.Event, what: str) -> None:
    if not event.wait(ANSWER_TIMEOUT_S):
        raise UnavailableError(f"the gateway did not {what} within {ANSWER_TIMEOUT_S} s")
