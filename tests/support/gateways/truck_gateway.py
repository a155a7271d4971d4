"""A small gateway for the truck's tests: holds batches, takes uploads, signs receipts.

It keeps the words of the wire, over a real broker and a real HTTP server, and
can be told to misbehave.
"""

import contextlib
import hashlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from contracts.actions.payload import decode
from contracts.chunktree import BLOB_BYTES, leaf_hash, root_hash
from contracts.encoding import parse
from contracts.passwords import mosquitto_hash
from contracts.proto.payload_pb2 import SealTrip
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import (
    Held,
    Offer,
    ReceiptBody,
    Records,
    Refusal,
    StoredRecording,
)
from contracts.receipt import sign_receipt
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import check_batch
from contracts.wire import QOS, Topic, parse_message, parse_topic, topic
from gateway.mosquitto.text import CONFIGURATION
from gateway.settings_file import load_settings
from support.machine.mosquitto import PASSWORD, Mosquitto, tables
from support.machine.private import write_private
from support.machine.waiting import wait_until
from support.network.world import key
from support.trucks.truck import records_in

TOKEN = "a-token"  # noqa: S105 - of a gateway that lives as long as a test
SIGNER = key("gateway-buyer")
GENESIS = "9" * 128
"""The ledger that it says it works on."""
COPIES = ("volume:main:fsync", "blobs:files:fsync")
DEADLINE_S = 30


@contextlib.contextmanager
def amqtt_broker(folder: Path) -> Iterator[int]:
    """Run amqtt in its own process, because it leaks after killed clients; yield its port."""
    port, config = free_port(), folder / "amqtt.yaml"
    config.write_text(
        f"listeners:\n  default:\n    type: tcp\n    bind: 127.0.0.1:{port}\n"
        "plugins:\n  amqtt.plugins.authentication.AnonymousAuthPlugin:\n"
        "    allow_anonymous: true\n"
    )
    with _running([Path(sys.executable).with_name("amqtt"), "-c", config], port):
        yield port


@contextlib.contextmanager
def mosquitto_broker(folder: Path, *, retains: bool = True) -> Iterator[int]:
    """Run mosquitto as a site does, for the gateway and truck-1; yield the trucks' port.

    Without `retains` as a site of version 0.1 did.
    """
    port = free_port()
    text = f'data = "{folder}/data"\nsite_id = "b"\n' + tables(folder, free_port(), port)
    settings = load_settings(write_private(folder / "gateway.toml", text))
    known = {
        "role": "device",
        "sha256": hashlib.sha256(TOKEN.encode()).hexdigest(),
        "mosquitto": mosquitto_hash(TOKEN),
    }
    settings.data.mkdir()
    write_private(settings.tokens_file, json.dumps({"truck-1": known}))
    broker = Mosquitto(settings)
    if not retains:
        assert settings.mosquitto.folder is not None
        written = settings.mosquitto.folder / CONFIGURATION
        text = written.read_text().replace("retain_available true", "retain_available false")
        written.write_text(text)
    broker.start()
    try:
        yield port
    finally:
        broker.stop()


@contextlib.contextmanager
def _running(command: list[Path | str], port: int) -> Iterator[None]:
    process = subprocess.Popen(  # noqa: S603 - a broker that the tests bring along
        tied(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: _accepts(port))
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class FakeGateway:
    """What a gateway does for one truck, without ledger or disk.

    Attributes:
        held: Batches by id, in the order of arrival.
        uploads: Bytes by recording id.
        announced: Size of each announced recording, by id.
        refuse: Returns why a batch is refused, or nothing.
        deaf: Number of offers that get no answer.
        first: SHA-256 of the recordings that it wants before others.
        receipts: Whether to send them.
        committed: How many batches it says are committed.
        alter: Changes a receipt before it is signed.
        copies: What it says of every recording.
        out: What `GET /health` says that it is without.
        http_failures: Status codes that the next uploads' requests get instead of an answer.
    """

    def __init__(self, broker_port: int) -> None:
        self.held: dict[str, Batch] = {}
        self.uploads: dict[str, bytearray] = {}
        self.announced: dict[str, int] = {}
        self.refuse: Callable[[str], str] = lambda _: ""
        self.deaf = 0
        self.first: set[bytes] = set()
        self.receipts = True
        self.committed = 0
        self.alter: Callable[[ReceiptBody], None] = lambda _: None
        self.copies = list(COPIES)
        self.http_failures: list[int] = []
        self.out: list[str] = []
        self.cut_after: list[int] = []
        self.requests: list[str] = []
        self.offers = 0
        self.broker_port = broker_port
        self._lock = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))
        self._client = Client(CallbackAPIVersion.VERSION2, client_id="fake-gateway")
        self._client.username_pw_set("gateway", PASSWORD)
        self._client.on_message = self._on_message

    @property
    def section(self) -> str:
        """The [gateway] section of a truck that offloads here."""
        return (
            f'[gateway]\nmqtt = "127.0.0.1:{self.broker_port}"\n'
            f'rest = "http://127.0.0.1:{self._http.server_port}"\ntoken = "{TOKEN}"\n'
            f'public_keys = ["{SIGNER.public_key}"]\ngenesis_block_id = "{GENESIS}"\n'
            "timeout_s = 5\n"
        )

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._client.on_subscribe = lambda *_: ready.set()
        self._client.connect("127.0.0.1", self.broker_port)
        self._client.loop_start()
        self._client.subscribe([(topic("+", Topic.RECORDS), QOS), (topic("+", Topic.OFFERS), QOS)])
        assert ready.wait(15)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def trip(self, trip_id: str) -> list[Batch]:
        """Return the held batches of a trip, in the order of their dependencies."""
        first = {batch.transactions[0].header_signature: batch for batch in self.held.values()}
        of_trip = [
            batch
            for batch in first.values()
            if getattr(decode(batch.transactions[0].payload), "trip_id", "") == trip_id
        ]
        return sorted(of_trip, key=_order)

    def say(self, device_id: str, kind: Topic, wire: bytes) -> None:
        """Publish one message to a truck."""
        self._client.publish(topic(device_id, kind), wire, qos=QOS)

    def _on_message(self, _client: Client, _userdata: object, message: MQTTMessage) -> None:
        device_id, kind = parse_topic(message.topic)
        with self._lock:
            if kind is Topic.RECORDS:
                held = Held()
                for wire in parse_message(Records, bytes(message.payload)).batches:
                    self._take(wire, held)
                self.say(device_id, Topic.HELD, held.SerializeToString())
            else:
                self._answer(device_id, parse_message(Offer, bytes(message.payload)))
            self._issue(device_id)

    def _take(self, wire: bytes, held: Held) -> None:
        batch = parse(Batch, wire)
        check_batch(batch)
        reason = self.refuse(batch.header_signature)
        if reason:
            held.refused.append(Refusal(id=batch.header_signature, reason=reason))
        else:
            self.held.setdefault(batch.header_signature, batch)
            held.batch_ids.append(batch.header_signature)

    def _answer(self, device_id: str, offer: Offer) -> None:
        self.offers += 1
        if self.deaf:
            self.deaf -= 1
            return
        held = Held(session=offer.session, committed=self.committed)
        held.batch_ids.extend(name for name in offer.batch_ids if name in self.held)
        for recording in offer.recordings:
            self._take(recording.digest_batch, held)
            self.announced[recording.sha256.hex()] = recording.size
        held.first.extend(self.first & {each.sha256 for each in offer.recordings})
        self.say(device_id, Topic.HELD, held.SerializeToString())

    def _issue(self, device_id: str) -> None:
        """Send the receipt of every complete trip, repeatedly."""
        if not self.receipts:
            return
        for batch in list(self.held.values()):
            seal = decode(batch.transactions[-1].payload)
            if isinstance(seal, SealTrip):
                body = self._receipt(seal, batch.transactions[-1].header_signature)
                if body:
                    self.alter(body)
                    self.say(
                        device_id,
                        Topic.RECEIPTS,
                        sign_receipt(SIGNER, body).SerializeToString(),
                    )

    def _receipt(self, seal: SealTrip, seal_id: str) -> ReceiptBody | None:
        readings = sum(
            record.device_id == seal.device_id
            for batch in self.trip(seal.trip_id)
            for item in batch.transactions
            for record in records_in(decode(item.payload))
        )
        stored = [self._stored(item.sha256, item.size) for item in seal.recordings]
        if readings != seal.reading_count or None in stored:
            return None
        return ReceiptBody(
            device_id=seal.device_id,
            trip_id=seal.trip_id,
            reading_count=seal.reading_count,
            head_sha256=seal.head_sha256,
            seal_transaction_id=seal_id,
            recordings=[item for item in stored if item],
            block_num=7,
            genesis_id=GENESIS,
            site_id="site-buyer",
        )

    def _stored(self, sha256: bytes, size: int) -> StoredRecording | None:
        content = bytes(self.uploads.get(sha256.hex(), b""))
        if hashlib.sha256(content).digest() != sha256:
            return None
        blobs = [content[at : at + BLOB_BYTES] for at in range(0, size, BLOB_BYTES)]
        root = root_hash([leaf_hash(blob) for blob in blobs])
        return StoredRecording(sha256=sha256, size=size, tree_root=root, copies=self.copies)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                gateway.serve(self)

            do_POST = do_PATCH = do_HEAD  # noqa: N815 - names given by http.server

            def do_GET(self) -> None:
                body = json.dumps({"site_id": "b", "out": gateway.out}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request of an upload."""
        name, length = request.path.rpartition("/")[2], request.headers.get("Upload-Length")
        self.requests.append(request.command)
        status, offset = self._judge(request, name)
        if status == 201 and length:
            self.uploads[self._named(request)] = bytearray()
        elif status == 204:
            status = self._append(request, name)
            offset = len(self.uploads[name])
        request.send_response(status)
        if status >= 300:  # what is left of the request's body must not be read as the next one
            request.send_header("Connection", "close")
        request.send_header("Upload-Offset", str(offset))
        request.send_header("Content-Length", "0")
        request.end_headers()

    def _judge(self, request: BaseHTTPRequestHandler, name: str) -> tuple[int, int]:
        if request.headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, 0
        if self.http_failures:
            return self.http_failures.pop(0), 0
        if request.command == "POST":
            return (201 if self._named(request) in self.announced else 403), 0
        if name not in self.uploads:
            return 404, 0
        offset = len(self.uploads[name])
        if request.command == "HEAD":
            return 200, offset
        return (204 if request.headers["Upload-Offset"] == str(offset) else 409), offset

    def _named(self, request: BaseHTTPRequestHandler) -> str:
        import base64  # noqa: PLC0415

        pairs = dict(pair.split(" ") for pair in request.headers["Upload-Metadata"].split(","))
        return base64.b64decode(pairs["sha256"]).decode()

    def _append(self, request: BaseHTTPRequestHandler, name: str) -> int:
        left = int(request.headers["Content-Length"])
        limit = self.cut_after.pop(0) if self.cut_after else left
        while left and limit > 0:
            part = request.rfile.read(min(left, 65_536, limit))
            if not part:
                break
            self.uploads[name] += part
            left, limit = left - len(part), limit - len(part)
        if left:
            return 503
        if len(self.uploads[name]) == self.announced[name]:
            if hashlib.sha256(self.uploads[name]).hexdigest() != name:
                self.uploads[name].clear()
                return 422
            with self._lock:
                self._issue("truck-1")
        return 204


def _order(batch: Batch) -> tuple[int, int]:
    action = decode(batch.transactions[0].payload)
    records = records_in(action)
    kinds = ["StartTrip", "Records", "SealTrip", "RecordVideo"]
    kind = "Records" if records else type(action).__name__
    return kinds.index(kind), records[0].sequence if records else 0
