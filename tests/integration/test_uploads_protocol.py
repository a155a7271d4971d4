"""tus 1.0.0 to the letter, a test for each clause; docs/tus.md names them."""

import hashlib
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from itertools import count
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from contracts.chunktree import BLOB_BYTES
from support.gateways.tus import (
    STREAM,
    TUS,
    UploadServer,
    announce,
    b64,
    client_of,
    content,
    create,
    half_open_patch,
    id_of,
    offset,
    patch,
    problem,
)

pytestmark = pytest.mark.integration

VERSION = {"Tus-Resumable": "1.0.0"}
_SEEDS = count()
URL = f"/v1/uploads/{'0' * 64}"


@pytest.fixture(scope="module")
def gateway(uploads: UploadServer) -> UploadServer:
    return uploads


@pytest.fixture(scope="module")
def client(gateway: UploadServer) -> Iterator[httpx.Client]:
    with client_of(gateway) as client:
        yield client


def film(size: int) -> bytes:
    """Return bytes that no other test sends: all tests have one gateway."""
    return content(size, next(_SEEDS))


def said(client: httpx.Client, data: bytes, metadata: str) -> httpx.Response:
    headers = {**TUS, "Upload-Length": str(len(data)), "Upload-Metadata": metadata}
    return client.post("/v1/uploads", headers=headers)


def name_of(data: bytes) -> str:
    return f"sha256 {b64(id_of(data).encode())}"


def expires_s(answer: httpx.Response) -> float:
    """Return in how many seconds Upload-Expires lies."""
    return parsedate_to_datetime(answer.headers["upload-expires"]).timestamp() - time.time()


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("OPTIONS", "/v1/uploads", {}, 204),
        ("OPTIONS", URL, {}, 204),
        ("GET", "/v1/uploads", TUS, 405),
        ("PUT", URL, TUS, 405),
        ("HEAD", f"{URL}/more", TUS, 404),
        ("HEAD", URL, VERSION, 401),
        ("HEAD", URL, TUS, 404),
        ("PATCH", URL, TUS, 415),
        ("PATCH", URL, STREAM, 400),
        ("POST", "/v1/uploads", TUS, 400),
        ("POST", "/v1/uploads/", TUS, 404),
        ("DELETE", URL, {"Authorization": "Bearer truck-1"}, 412),
    ],
)
def test_every_answer_names_the_version(
    client: httpx.Client, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers["tus-resumable"] == "1.0.0"
    assert answer.headers["cache-control"] == "no-store"
    if status >= 400 and method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json"
        assert "upload-offset" not in answer.headers


def test_also_an_answer_to_what_fails_here_names_the_version(
    gateway: UploadServer, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(gateway.uploads, "terminate", fail)
    answer = client.delete(URL, headers=TUS)
    problem(answer, 500)
    assert "a fault of ours" not in answer.text


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer truck-1"}])
@pytest.mark.parametrize("method", ["POST", "HEAD", "PATCH", "DELETE"])
def test_another_version_is_not_processed(
    client: httpx.Client, method: str, headers: dict[str, str]
) -> None:
    data = film(10)
    url = create(client, data)
    path = "/v1/uploads" if method == "POST" else url
    for version in ("0.2.2", "1.0", ""):
        answer = client.request(method, path, headers={**headers, "Tus-Resumable": version})
        assert (answer.status_code, answer.headers["tus-version"]) == (412, "1.0.0")
        if method != "HEAD":
            problem(answer, 412)
    assert offset(client, url) == 0


def test_the_server_tells_what_it_speaks(tmp_path: Path) -> None:
    gateway = UploadServer(tmp_path, bytes_max=1_000)
    gateway.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{gateway.port}") as client:
        for path in ("/v1/uploads", URL):
            answer = client.options(path, headers={"Tus-Resumable": "0.2.2"})
            assert answer.headers["tus-version"] == "1.0.0"
            extensions = answer.headers["tus-extension"].split(",")
            assert sorted(extensions) == ["checksum", "creation", "expiration", "termination"]
            assert answer.headers["tus-max-size"] == "1000"
            assert "sha1" in answer.headers["tus-checksum-algorithm"].split(",")
        assert announce(client, id_of(b"1"), 1_000).status_code == 201
        for size in (1_001, 10**18, 10**30):
            problem(announce(client, id_of(b"2"), size), 413)
    gateway.stop()


@pytest.mark.parametrize("actual", ["GET", "POST", "PUT", "OPTIONS", "DELETE", "HEAD"])
def test_a_request_has_the_method_that_it_says(
    gateway: UploadServer, client: httpx.Client, actual: str
) -> None:
    data = film(10)
    url = create(client, data)

    def ask(method: str, status: int, body: bytes = b"") -> httpx.Response:
        headers = {**STREAM, "X-HTTP-Method-Override": method, "Upload-Offset": "0"}
        answer = client.request(actual, url, headers=headers, content=body)
        assert answer.status_code == status
        return answer

    assert ask("PATCH", 204, data[:4]).headers["upload-offset"] == "4"
    assert ask("HEAD", 200).headers["upload-offset"] == "4"
    assert "tus-version" in ask("OPTIONS", 204).headers
    for method in ("PUT", "", "patch", "TRACE"):
        ask(method, 405)
    ask("DELETE", 204)
    ask("HEAD", 404)
    override = {"X-HTTP-Method-Override": "POST", "Upload-Length": "10"}
    headers = {**TUS, **override, "Upload-Metadata": name_of(data)}
    assert client.request(actual, "/v1/uploads", headers=headers).headers["location"] == url
    assert gateway.store.progress(bytes.fromhex(id_of(data))) is not None


def test_metadata_come_back_as_they_were_sent(gateway: UploadServer, client: httpx.Client) -> None:
    data = film(BLOB_BYTES)
    metadata = f"filename {b64(b'trip 7.mp4')},{name_of(data)},raw {b64(bytes([0, 255, 10]))},flag"
    url = said(client, data, metadata).headers["location"]

    def echoed() -> str:
        return client.head(url, headers=TUS).headers["upload-metadata"]

    assert echoed() == metadata
    patch(client, url, 0, data[:1000])
    gateway.stop()
    gateway.start()
    assert echoed() == metadata
    metadata = f"{name_of(data)},filename {b64(b'again.mp4')}"
    said(client, data, metadata)
    assert echoed() == metadata
    assert patch(client, url, 1000, data[1000:]).status_code == 204
    assert echoed() == metadata
    other = {**TUS, "Authorization": "Bearer truck-2"}
    assert client.head(url, headers=other).headers["upload-metadata"] == name_of(data)
    gateway.stop()
    gateway.start()
    assert echoed() == metadata


@pytest.mark.parametrize(
    "metadata", ["", ",", "a b c", "k QUJ,", "k QUI=,k QUI=", "k QUJD=", "name dHJpcA=="]
)
def test_malformed_metadata_are_refused(client: httpx.Client, metadata: str) -> None:
    problem(said(client, b"?", metadata), 400)


@pytest.mark.parametrize(
    ("header", "value"),
    [("Upload-Defer-Length", "1"), ("Upload-Defer-Length", "2"), ("Upload-Concat", "partial")],
)
def test_what_the_server_does_not_offer_is_refused_by_name(
    gateway: UploadServer, client: httpx.Client, header: str, value: str
) -> None:
    headers = {**TUS, "Upload-Metadata": name_of(b"film"), header: value, "Upload-Length": "4"}
    answer = client.post("/v1/uploads", headers=headers)
    assert header in str(problem(answer, 400)["detail"])
    assert gateway.store.progress(bytes.fromhex(id_of(b"film"))) is None


def test_a_body_of_an_announcement_is_dropped(client: httpx.Client) -> None:
    data = film(10)
    headers = {**STREAM, "Upload-Length": "10", "Upload-Metadata": name_of(data)}
    answer = client.post("/v1/uploads", headers=headers, content=data)
    assert (answer.status_code, answer.headers["upload-offset"]) == (201, "0")
    assert patch(client, answer.headers["location"], 0, data).status_code == 204


def test_an_unfinished_upload_says_when_it_expires(tmp_path: Path) -> None:
    gateway = UploadServer(tmp_path, kept_s=3_600)
    gateway.start()
    data = film(10)
    with httpx.Client(base_url=f"http://127.0.0.1:{gateway.port}") as client:
        announced = announce(client, id_of(data), 10)
        url = announced.headers["location"]
        begun = patch(client, url, 0, data[:4])
        for answer in (announced, begun, client.head(url, headers=TUS)):
            assert answer.headers["upload-expires"].endswith(" GMT")
            assert 3_500 < expires_s(answer) <= 3_600
        failed = [
            patch(client, url, 9, b"?"),
            patch(client, url, 4, b"?", Content_Type="text/plain"),
            patch(client, url, 4, b"?", Upload_Checksum=f"sha1 {b64(bytes(20))}"),
        ]
        assert [answer.status_code for answer in failed] == [409, 415, 460]
        assert all(expires_s(answer) > 3_500 for answer in failed)
        whole = patch(client, url, 4, data[4:])
        assert whole.status_code == 204
        for answer in (whole, patch(client, url, 0, data), client.head(url, headers=TUS)):
            assert "upload-expires" not in answer.headers
    gateway.stop()


def test_an_upload_that_stays_has_no_expiry(client: httpx.Client) -> None:
    data = film(10)
    announced = announce(client, id_of(data), 10)
    begun = patch(client, announced.headers["location"], 0, data[:4])
    assert not {"upload-expires"} & {*announced.headers, *begun.headers}


def test_an_expired_upload_is_not_found_and_begins_again(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = film(10)
    url = create(client, data)
    patch(client, url, 0, data[:4])
    gateway.expire(data)
    assert client.head(url, headers=TUS).status_code == 404
    problem(patch(client, url, 4, data[4:]), 404)
    problem(client.delete(url, headers=TUS), 404)
    assert create(client, data) == url
    assert patch(client, url, 0, data).status_code == 204
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("kept", [1, BLOB_BYTES + 7])
def test_an_upload_that_is_announced_again_may_begin_at_0(
    gateway: UploadServer, client: httpx.Client, kept: int, *, checksum: bool
) -> None:
    data = film(2 * BLOB_BYTES)
    url = create(client, data)
    patch(client, url, 0, data[:kept])
    assert create(client, data) == url
    at, piece = 0, 700_000
    while at < len(data):
        part = data[at : at + piece]
        more = {"Upload_Checksum": f"sha1 {b64(sha1(part))}"} if checksum else {}
        answer = patch(client, url, at, part, **more)
        assert answer.status_code == 204, answer.text
        reached = int(answer.headers["upload-offset"])
        assert reached == at + len(part) or (checksum and reached == kept)
        at = reached
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def test_a_whole_recording_may_be_sent_again(gateway: UploadServer, client: httpx.Client) -> None:
    data = film(100_000)
    url = create(client, data)
    patch(client, url, 0, data)

    def endless() -> Iterator[bytes]:
        yield data
        yield b"+"

    assert create(client, data) == url
    problem(patch(client, url, 0, data + b"+"), 413)
    problem(client.patch(url, headers={**STREAM, "Upload-Offset": "0"}, content=endless()), 413)
    assert patch(client, url, 0, data[:100]).headers["upload-offset"] == "100"
    wrong = patch(client, url, 100, data[100:], Upload_Checksum=f"sha1 {b64(bytes(20))}")
    problem(wrong, 460)
    assert problem(patch(client, url, 0, data), 409)["expected"] == len(data)
    answer = patch(client, url, 100, data[100:])
    assert (answer.status_code, answer.headers["upload-offset"]) == (204, str(len(data)))
    assert offset(client, url) == len(data)
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_a_sender_that_asks_for_the_offset_continues_there(client: httpx.Client) -> None:
    data = film(10)
    url = create(client, data)
    patch(client, url, 0, data[:4])
    create(client, data)
    assert offset(client, url) == 4
    assert problem(patch(client, url, 0, data), 409)["expected"] == 4
    create(client, data)
    assert problem(patch(client, url, 1, data[1:]), 409)["expected"] == 4
    assert patch(client, url, 4, data[4:]).status_code == 204


def test_what_came_again_before_the_link_broke_is_not_asked_for_twice(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = film(BLOB_BYTES)
    url = create(client, data)
    patch(client, url, 0, data[:1000])
    create(client, data)
    with half_open_patch(gateway, url, len(data)) as link:
        link.sendall(data[:100])
    assert offset(client, url) == 1000
    assert patch(client, url, 1000, data[1000:]).status_code == 204


def test_terminating_ends_a_request_that_is_under_way(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = film(BLOB_BYTES)
    url = create(client, data)
    with half_open_patch(gateway, url, len(data)) as link:
        link.sendall(data[:1000])
        assert client.delete(url, headers=TUS).status_code == 204
        assert link.recv(100).startswith(b"HTTP/1.1 408")
    assert client.head(url, headers=TUS).status_code == 404
    assert gateway.store.progress(bytes.fromhex(id_of(data))) is None
