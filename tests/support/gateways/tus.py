"""The tus routes of a gateway without the rest of it, and the requests of a plain client."""

import asyncio
import base64
import hashlib
import random
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
from fastapi import FastAPI, Header, HTTPException

from contracts.errors import RejectedError
from contracts.runtime.clienttls import usual_trust
from contracts.runtime.serving.server import Server
from gateway.access import Caller, Role
from gateway.api import problems
from gateway.api.security import may_upload
from gateway.api.tusgate import TusGate
from gateway.api.uploads import PREFIX, router
from gateway.uploads.claims import Claims
from gateway.uploads.limits import Places
from gateway.uploads.service import Uploads
from gateway.uploads.status import UPLOAD_BYTES_MAX, UploadLimits
from support.machine.waiting import wait_until
from support.storage.stores import open_store

DEADLINE_S = 20.0
QUIET_S = 0.2
TUS = {"Tus-Resumable": "1.0.0", "Authorization": "Bearer truck-1"}
STREAM = {**TUS, "Content-Type": "application/offset+octet-stream"}


def require_device(authorization: Annotated[str, Header()] = "") -> Caller:
    scheme, _, name = authorization.partition(" ")
    if scheme != "Bearer" or not name:
        raise HTTPException(401, "no token")
    return Caller(name, Role.DEVICE)


@dataclass
class UploadServer:
    """A server on a free port, and what it has."""

    root: Path
    finished: list[bytes] = field(default_factory=list)
    refused: set[bytes] = field(default_factory=set)
    port: int = 0
    idle_limit_s: float = DEADLINE_S
    bytes_max: int = UPLOAD_BYTES_MAX
    kept_s: float | None = None

    def start(self) -> None:
        self.opened = ExitStack()
        self.store = self.opened.enter_context(open_store(self.root))
        claims = Claims(self.root / "uploads.db", lambda _: True)
        self.uploads = Uploads(
            self.store,
            self.opened.enter_context(claims),
            self.finished.append,
            self.accept,
            places=Places(open_max=2, of_device=2, quiet_s=QUIET_S),
            limits=UploadLimits(self.bytes_max, self.idle_limit_s, left_s=self.left_s),
        )
        app = FastAPI(lifespan=self.serving, redirect_slashes=False)
        app.state.services = self
        app.dependency_overrides[may_upload] = require_device
        app.include_router(router)
        problems.install(app)
        app.add_middleware(TusGate, prefix=PREFIX)
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self.server = Server(app, lifespan=True)
        serving = self.server.serve(sockets=[listener])
        self.thread = threading.Thread(target=asyncio.run, args=(serving,))
        self.thread.start()
        wait_until(lambda: self.server.started)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.opened.close()

    @asynccontextmanager
    async def serving(self, _: FastAPI) -> AsyncIterator[None]:
        yield
        await self.uploads.close()

    def left_s(self, *_: object) -> float | None:
        return self.kept_s

    def expire(self, data: bytes) -> None:
        """Delete a partial upload as retention does it once the upload is too old."""
        recording_id = hashlib.sha256(data).digest()
        self.uploads.let_go(recording_id)
        self.store.delete(recording_id)

    def accept(self, recording_id: bytes, size: int, caller: Caller) -> None:
        if recording_id in self.refused:
            raise RejectedError(f"{caller.name} did not offer {recording_id.hex()} of {size} bytes")


@contextmanager
def running_uploads(folder: Path) -> Iterator[UploadServer]:
    """Run a server of uploads in a folder."""
    server = UploadServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def client_of(server: UploadServer) -> httpx.Client:
    """Return a client of that server."""
    url = f"http://127.0.0.1:{server.port}"
    return httpx.Client(base_url=url, timeout=DEADLINE_S, verify=usual_trust(url))


def content(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def id_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def announced_as(name: str) -> str:
    return f"sha256 {b64(name.encode())},device {b64(b'truck-1')}"


def announce(client: httpx.Client, name: str, size: int) -> httpx.Response:
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": announced_as(name)}
    return client.post("/v1/uploads", headers=headers)


def create(client: httpx.Client, data: bytes) -> str:
    answer = announce(client, id_of(data), len(data))
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def patch(client: httpx.Client, url: str, offset: int, data: bytes, **more: str) -> httpx.Response:
    extra = {name.replace("_", "-"): value for name, value in more.items()}
    headers = {**STREAM, "Upload-Offset": str(offset), **extra}
    return client.patch(url, headers=headers, content=data)


def offset(client: httpx.Client, url: str) -> int:
    answer = client.head(url, headers=TUS)
    assert answer.status_code == 200
    return int(answer.headers["upload-offset"])


def problem(answer: httpx.Response, status: int) -> dict[str, str | int]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["tus-resumable"] == "1.0.0"
    document: dict[str, str | int] = answer.json()
    assert document["status"] == status
    assert document["type"]
    assert document["title"]
    assert document["detail"]
    return document


@contextmanager
def half_open_patch(gateway: UploadServer, url: str, length: int) -> Iterator[socket.socket]:
    """A PATCH from 0 over a bare socket, which can fall silent or break."""
    headers = {**STREAM, "Upload-Offset": 0, "Content-Length": length, "Host": "gateway"}
    headers["Expect"] = "100-continue"
    lines = [f"PATCH {url} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with socket.create_connection(("127.0.0.1", gateway.port)) as link:
        link.settimeout(DEADLINE_S)
        link.sendall("\r\n".join([*lines, "", ""]).encode())
        assert link.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        yield link
