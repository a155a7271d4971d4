"""The tus routes over real sockets, used by a plain client and by a third-party client."""

import hashlib
import resource
import socket
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from tusclient.client import TusClient

from contracts.chunktree import BLOB_BYTES
from gateway.uploads.status import UPLOAD_BYTES_MAX
from support.gateways.tus import (
    STREAM,
    TUS,
    UploadServer,
    announce,
    announced_as,
    b64,
    client_of,
    content,
    create,
    half_open_patch,
    id_of,
    offset,
    patch,
    problem,
    running_uploads,
)
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

RECEIVE_BUFFER_BYTES = 512 * 1024


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[UploadServer]:
    with running_uploads(tmp_path) as made:
        yield made


@pytest.fixture
def client(gateway: UploadServer) -> Iterator[httpx.Client]:
    with client_of(gateway) as client:
        yield client


@pytest.mark.parametrize("size", [0, 1, BLOB_BYTES, 3 * BLOB_BYTES + 1])
def test_an_upload_becomes_a_recording(
    gateway: UploadServer, client: httpx.Client, size: int
) -> None:
    data = content(size)
    url = create(client, data)
    assert url == f"/v1/uploads/{id_of(data)}"
    if data:
        assert offset(client, url) == 0
        answer = patch(client, url, 0, data)
        assert (answer.status_code, answer.headers["upload-offset"]) == (204, str(size))
    head = client.head(url, headers=TUS)
    assert head.headers["upload-offset"] == head.headers["upload-length"] == str(size)
    assert head.headers["cache-control"] == "no-store"
    assert head.headers["upload-metadata"] == announced_as(id_of(data))
    recording_id = bytes.fromhex(id_of(data))
    assert gateway.finished == [recording_id]
    assert b"".join(gateway.store.read(recording_id)) == data
    assert gateway.store.verify(recording_id).holds


def test_a_foreign_client_uploads_in_pieces(gateway: UploadServer) -> None:
    data = content(2 * BLOB_BYTES + 99)
    client = TusClient(f"http://127.0.0.1:{gateway.port}/v1/uploads", headers=TUS)
    uploader = client.uploader(
        file_stream=BytesIO(data),
        chunk_size=700_000,
        metadata={"sha256": id_of(data)},
        upload_checksum=True,
    )
    uploader.upload()
    assert uploader.offset == len(data)
    assert b"".join(gateway.store.read(bytes.fromhex(id_of(data)))) == data


def test_announcing_twice_is_harmless(gateway: UploadServer, client: httpx.Client) -> None:
    data = content(10)
    url = create(client, data)
    patch(client, url, 0, data[:4])
    assert create(client, data) == url
    assert offset(client, url) == 4
    patch(client, url, 4, data[4:])
    assert create(client, data) == url
    assert offset(client, url) == 10
    assert set(gateway.finished) == {bytes.fromhex(id_of(data))}
    document = problem(announce(client, id_of(data), 11), 409)
    assert (document["expected"], document["actual"]) == (10, 11)


def test_a_wrong_offset_names_both(client: httpx.Client) -> None:
    data = content(10)
    url = create(client, data)
    patch(client, url, 0, data[:4])
    for wrong in (0, 3, 5, 10):
        document = problem(patch(client, url, wrong, data[wrong:]), 409)
        assert (document["expected"], document["actual"]) == (4, wrong)
    assert offset(client, url) == 4
    patch(client, url, 4, data[4:])
    assert problem(patch(client, url, 4, data[4:]), 409)["expected"] == 10
    assert patch(client, url, 10, b"").status_code == 204


def test_too_many_bytes_are_refused(client: httpx.Client) -> None:
    data = content(10)
    url = create(client, data)
    problem(patch(client, url, 0, data + b"+"), 413)

    def endless() -> Iterator[bytes]:
        yield data
        yield b"+"

    headers = {**STREAM, "Upload-Offset": "0"}
    problem(client.patch(url, headers=headers, content=endless()), 413)
    assert offset(client, url) == 0
    problem(announce(client, id_of(b"?"), UPLOAD_BYTES_MAX + 1), 413)


@pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
def test_a_wrong_checksum_does_not_advance_the_offset(
    gateway: UploadServer, client: httpx.Client, algorithm: str
) -> None:
    data = content(2 * BLOB_BYTES)
    url = create(client, data)

    def checksum(of: bytes) -> str:
        return f"{algorithm} {b64(hashlib.new(algorithm, of).digest())}"

    first, rest = data[:BLOB_BYTES], data[BLOB_BYTES:]
    assert patch(client, url, 0, first, Upload_Checksum=checksum(first)).status_code == 204
    document = problem(patch(client, url, BLOB_BYTES, rest, Upload_Checksum=checksum(first)), 460)
    assert hashlib.new(algorithm, rest).hexdigest() in str(document["detail"])
    assert offset(client, url) == BLOB_BYTES
    assert patch(client, url, BLOB_BYTES, rest, Upload_Checksum=checksum(rest)).status_code == 204
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_a_forged_recording_starts_over(gateway: UploadServer, client: httpx.Client) -> None:
    data, forged = content(BLOB_BYTES + 1), content(BLOB_BYTES + 1, seed=1)
    url = create(client, data)
    document = problem(patch(client, url, 0, forged), 422)
    assert (document["expected"], document["actual"]) == (id_of(data), id_of(forged))
    assert offset(client, url) == 0
    assert gateway.finished == []
    assert patch(client, url, 0, data).status_code == 204
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds
    document = problem(announce(client, id_of(data[:-1]), 0), 422)
    assert document["actual"] == hashlib.sha256().hexdigest()


@pytest.mark.parametrize("sent", [BLOB_BYTES, 2 * BLOB_BYTES + 3, 3 * BLOB_BYTES - 1])
def test_what_came_before_the_link_broke_is_kept(
    gateway: UploadServer, client: httpx.Client, sent: int
) -> None:
    data = content(3 * BLOB_BYTES)
    url = create(client, data)
    with half_open_patch(gateway, url, len(data)) as link:
        link.sendall(data[:sent])
    # What sat in the server's receive buffer when the link broke was never handed to us.
    wait_until(lambda: sent - RECEIVE_BUFFER_BYTES <= offset(client, url) <= sent)
    kept = offset(client, url)
    gateway.stop()
    gateway.start()
    assert offset(client, url) == kept
    assert patch(client, url, kept, data[kept:]).status_code == 204
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_a_newer_request_takes_over_from_a_silent_one(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = content(BLOB_BYTES)
    url = create(client, data)
    with half_open_patch(gateway, url, len(data)) as dead:
        dead.sendall(data[:1000])
        answers: list[httpx.Response] = []

        def advanced() -> bool:
            at = offset(client, url)
            answers.append(patch(client, url, at, data[at:]))
            return answers[-1].status_code == 204

        wait_until(advanced)
        assert dead.recv(100).startswith(b"HTTP/1.1 408")
    for answer in answers[:-1]:
        assert problem(answer, answer.status_code)["status"] in (409, 423)
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_a_silent_request_is_ended_and_what_came_is_kept(tmp_path: Path) -> None:
    data = content(BLOB_BYTES)
    gateway = UploadServer(tmp_path, idle_limit_s=0.1)
    gateway.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{gateway.port}") as client:
        url = create(client, data)
        with half_open_patch(gateway, url, len(data)) as link:
            link.sendall(data[:1000])
            assert link.recv(100).startswith(b"HTTP/1.1 408")
        assert offset(client, url) == 1000
    gateway.stop()


def test_a_medium_that_takes_no_more_is_a_problem_that_passes(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = content(3 * BLOB_BYTES)
    url = create(client, data)
    patch(client, url, 0, data[:1000])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * BLOB_BYTES, hard))
    try:
        answer = patch(client, url, 1000, data[1000:])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "(EFBIG)" in str(problem(answer, 503)["detail"])
    assert answer.headers["retry-after"] == "5"
    assert offset(client, url) == 1000
    assert patch(client, url, 1000, data[1000:]).status_code == 204
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_uploads_at_once_are_bounded(gateway: UploadServer, client: httpx.Client) -> None:
    first, second, third = (content(BLOB_BYTES, seed) for seed in range(3))
    urls = [create(client, data) for data in (first, second)]
    with (
        half_open_patch(gateway, urls[0], BLOB_BYTES) as one,
        half_open_patch(gateway, urls[1], BLOB_BYTES) as two,
    ):
        answer = announce(client, id_of(third), len(third))
        assert "2 uploads of truck-1 are under way" in str(problem(answer, 503)["detail"])
        assert answer.headers["retry-after"] == "5"
        for link, data in ((one, first), (two, second)):
            link.sendall(data)
            assert link.recv(100).startswith(b"HTTP/1.1 204")
    assert patch(client, create(client, third), 0, third).status_code == 204
    assert len(gateway.finished) == 3


def test_terminating_forgets_a_part_but_no_recording(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = content(10)
    url = create(client, data)
    patch(client, url, 0, data[:4])
    assert client.delete(url, headers=TUS).status_code == 204
    assert list(gateway.store.partial()) == []
    assert client.head(url, headers=TUS).status_code == 404
    problem(client.delete(url, headers=TUS), 404)
    problem(patch(client, url, 0, data), 404)
    create(client, data)
    headers = {**STREAM, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    assert client.post(url, headers=headers, content=data).status_code == 204
    problem(client.delete(url, headers=TUS), 403)
    problem(client.post(url, headers={**TUS, "X-HTTP-Method-Override": "PUT"}), 405)
    assert gateway.store.verify(bytes.fromhex(id_of(data))).holds


def test_the_gate_refuses_what_was_not_offered(gateway: UploadServer, client: httpx.Client) -> None:
    data = content(10)
    gateway.refused.add(bytes.fromhex(id_of(data)))
    document = problem(announce(client, id_of(data), 10), 403)
    assert "truck-1 did not offer" in str(document["detail"])
    assert list(gateway.store.partial()) == []


def test_a_caller_is_known_before_a_byte_is_read(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = content(10)
    url = create(client, data)
    lines = [
        f"PATCH {url} HTTP/1.1",
        "Host: g",
        "Tus-Resumable: 1.0.0",
        "Content-Type: application/offset+octet-stream",
        "Content-Length: 10",
        "Upload-Offset: 0",
        "Expect: 100-continue",
        "",
        "",
    ]
    with socket.create_connection(("127.0.0.1", gateway.port)) as link:
        link.sendall("\r\n".join(lines).encode())
        assert link.recv(100).startswith(b"HTTP/1.1 401")  # and no 100 Continue before
    assert offset(client, url) == 0


def test_an_upload_that_has_all_its_bytes_is_brought_to_an_end(
    gateway: UploadServer, client: httpx.Client
) -> None:
    data = content(10)
    recording_id = bytes.fromhex(id_of(data))
    with gateway.store.begin(recording_id, len(data)) as writer:
        writer.write(data)
        writer.sync()  # the kill is here
    assert offset(client, f"/v1/uploads/{id_of(data)}") == 10
    assert gateway.finished == [recording_id]
    status = gateway.uploads.known.status(recording_id, "truck-1")
    assert status is not None
    assert (status.whole, status.offset, status.size) == (True, 10, 10)
    assert gateway.uploads.known.status(bytes(32), "truck-1") is None


def test_malformed_requests_are_named(client: httpx.Client) -> None:
    data = content(10)
    url = create(client, data)
    problem(client.post("/v1/uploads", headers=TUS), 400)
    problem(announce(client, "no digest", 10), 400)
    problem(client.post("/v1/uploads", headers={**TUS, "Upload-Length": "10"}), 400)
    problem(patch(client, url, 0, data, Content_Type="video/mp4"), 415)
    problem(patch(client, url, 0, data, Upload_Offset="zero"), 400)
    problem(patch(client, url, 0, data, Upload_Checksum="md5 AAAA"), 400)
    answer = patch(client, url, 0, data, Tus_Resumable="0.2.2")
    assert problem(answer, 412)["detail"] == "Tus-Resumable must be 1.0.0, got '0.2.2'"
    assert answer.headers["tus-version"] == "1.0.0"
    problem(client.delete("/v1/uploads/passwd", headers=TUS), 404)
    assert offset(client, url) == 0


def test_the_routes_are_described(client: httpx.Client) -> None:
    options = client.options("/v1/uploads")
    assert options.status_code == 204
    assert options.headers["tus-version"] == "1.0.0"
    assert options.headers["tus-extension"] == "creation,expiration,checksum,termination"
    assert options.headers["tus-max-size"] == str(UPLOAD_BYTES_MAX)
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths["/v1/uploads/{recording}"]) == {"head", "patch", "delete", "options"}
    names = {each["name"] for each in paths["/v1/uploads/{recording}"]["patch"]["parameters"]}
    assert {"upload-offset", "upload-checksum", "tus-resumable"} <= names
    assert "460" in paths["/v1/uploads/{recording}"]["patch"]["responses"]
