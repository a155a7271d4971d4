"""A ledger that the test controls: it replaces blocks, is busy, refuses, forgets."""

import json
import threading
from base64 import b64encode
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from contracts.proto.sawtooth_pb2 import (
    Batch,
    BatchHeader,
    BatchList,
    Block,
    BlockHeader,
    TransactionHeader,
)
from contracts.proto.state_pb2 import Key
from contracts.sawtooth.blocks import NULL_BLOCK_ID, build_block
from support.network.world import key


class FakeLedger:
    """Sawtooth's REST answers over blocks held in memory; every key is a device's.

    Attributes:
        blocks: The chain.
        statuses: What it says of a batch, by id; of others PENDING.
        failures: HTTP status and body that the next requests get instead of an answer.
        busy: How many of the next lists of batches are turned away with HTTP 429.
        state: What lies at an address, other than a device's key.
        transactions: Ids that it says are committed.
        submitted: Ids of the batches that came, list by list.
        asked: The number of the first block that each question for blocks names.
        waits: For each time that somebody waited for a status, how many lists had come.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.statuses: dict[str, str] = {}
        self.failures: list[tuple[int, str]] = []
        self.busy = 0
        self.state: dict[str, bytes] = {}
        self.transactions: set[str] = set()
        self.submitted: list[list[str]] = []
        self.asked: list[int] = []
        self.waits: list[int] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def extend(self, groups: Sequence[Sequence[Batch]], salt: str = "") -> None:
        """Append one block per group of batches."""
        for group in groups:
            before = self.blocks[-1].header_signature if self.blocks else NULL_BLOCK_ID
            number = len(self.blocks)
            block = build_block(
                key("node"),
                group,
                block_num=number,
                previous_block_id=before,
                consensus=salt.encode(),
                state_root_hash=f"{number:064x}",
            )
            self.blocks.append(block)

    def answer(  # noqa: PLR0911 - one for each route
        self, method: str, target: str, body: bytes
    ) -> tuple[int, Any]:
        """Return status and JSON of one request."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        match method, path.split("/")[1:]:
            case "GET", ["state"]:
                return 200, {"head": self.blocks[-1].header_signature, "data": []}
            case "GET", ["state", place]:
                entry = self.state.get(place, Key(owner=Key.DEVICE).SerializeToString())
                return 200, {"data": b64encode(entry).decode()}
            case "GET", ["transactions", name] if name in self.transactions:
                return 200, {"data": {"header_signature": name}}
            case "GET", ["blocks"]:
                newest = f"0x{len(self.blocks) - 1:016x}"
                first = int(query.get("start", [newest])[0], 16)
                self.asked.append(first)
                if first >= len(self.blocks):
                    return 503, {"error": {"title": "Validator Timed Out", "message": ""}}
                data = [_block(block) for block in self.blocks[first:]]
                return 200, {"data": data, "paging": {}}
            case "POST", ["receipts"]:
                empty: dict[str, list[Any]] = {"events": [], "state_changes": []}
                return 200, {"data": [{"id": name, **empty} for name in json.loads(body)]}
            case "POST", ["batch_statuses"]:
                self.waits += [len(self.submitted)] * ("wait" in query)
                return 200, {"data": [self._status(name) for name in json.loads(body)]}
            case "POST", ["batches"] if self.busy:
                self.busy -= 1
                return 429, {"error": {"title": "Unable to Accept Batches", "message": ""}}
            case "POST", ["batches"]:
                batches = BatchList.FromString(body).batches
                self.submitted.append([batch.header_signature for batch in batches])
                return 202, {"link": ""}
        return 404, {"error": {"title": "Not Found", "message": path}}

    def _status(self, name: str) -> dict[str, Any]:
        status = self.statuses.get(name, "PENDING")
        reasons = [{"id": name, "message": "told so"}] if status == "INVALID" else []
        return {"id": name, "status": status, "invalid_transactions": reasons}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ledger = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if ledger.failures:
                    status, text = ledger.failures.pop(0)
                else:
                    status, document = ledger.answer(self.command, self.path, body)
                    text = json.dumps(document)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_GET  # noqa: N815 - names given by http.server

        return Handler


def _block(block: Block) -> dict[str, Any]:
    return {
        "header": _plain(BlockHeader.FromString(block.header)),
        "header_signature": block.header_signature,
        "batches": [_batch(batch) for batch in block.batches],
    }


def _batch(batch: Batch) -> dict[str, Any]:
    transactions = [
        {
            "header": _plain(TransactionHeader.FromString(item.header)),
            "header_signature": item.header_signature,
            "payload": b64encode(item.payload).decode(),
        }
        for item in batch.transactions
    ]
    return {
        "header": _plain(BatchHeader.FromString(batch.header)),
        "header_signature": batch.header_signature,
        "trace": False,
        "transactions": transactions,
    }


def _plain(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return found
