"""The published tus clients, unmodified: tuspy, tus-js-client, tus-java-client."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from support.gateways.tus import UploadServer, id_of
from support.machine.waiting import wait_until
from support.machine.wire import Wire, wire_to
from support.tusclients.clients import CLIENTS, Client, Errand, tuspy

pytestmark = pytest.mark.integration

FILM_BYTES = 3 << 20
CUT_BYTES = 1_600_000
"""In the second request: each has 1 MiB."""
SEEDS = count(1)


@pytest.fixture(scope="module")
def gateway(uploads: UploadServer) -> UploadServer:
    return uploads


@pytest.fixture(scope="module")
def wire(gateway: UploadServer) -> Iterator[Wire]:
    with wire_to(gateway.port) as opened:
        yield opened


@pytest.fixture(params=CLIENTS)
def upload(request: pytest.FixtureRequest) -> Client:
    client, commands, fetch = CLIENTS[request.param]
    missing = [each for each in commands if shutil.which(each) is None]
    if missing:
        pytest.skip(f"{request.param} needs {' and '.join(missing)}")
    try:
        fetch()
    except UnavailableError as error:
        pytest.skip(f"{request.param}: {error}")
    return client


@pytest.fixture
def errand(wire: Wire, tmp_path: Path) -> Errand:
    wire.mend()
    film = random.Random(next(SEEDS)).randbytes(FILM_BYTES)
    (tmp_path / "film").write_bytes(film)
    endpoint = f"http://127.0.0.1:{wire.port}/v1/uploads"
    return Errand(endpoint, "truck-1", tmp_path / "film", id_of(film), tmp_path / "urls")


def recording(errand: Errand) -> bytes:
    return bytes.fromhex(errand.sha256)


def break_off(gateway: UploadServer, wire: Wire, upload: Client, errand: Errand) -> int:
    """Have the connection break in the middle; return how many bytes the gateway has."""
    wire.cut_after = CUT_BYTES
    assert upload(errand)
    wait_until(lambda: wire.is_quiet and not gateway.server.server_state.tasks)
    wire.mend()
    progress = gateway.store.progress(recording(errand))
    assert progress is not None
    assert 0 < progress.offset < FILM_BYTES
    return progress.offset


def test_a_whole_upload(gateway: UploadServer, upload: Client, errand: Errand) -> None:
    assert upload(errand) == ""
    assert gateway.store.verify(recording(errand)).holds


@pytest.mark.parametrize("restarts", [False, True], ids=["", "restart"])
def test_an_upload_that_broke_off_continues(
    gateway: UploadServer, wire: Wire, upload: Client, errand: Errand, *, restarts: bool
) -> None:
    kept = break_off(gateway, wire, upload, errand)
    if restarts:
        gateway.stop()
        gateway.start()
    assert upload(errand) == ""
    assert gateway.store.verify(recording(errand)).holds
    assert FILM_BYTES - kept < wire.sent < FILM_BYTES


def test_the_answer_to_a_post_was_lost(
    gateway: UploadServer, wire: Wire, upload: Client, errand: Errand
) -> None:
    wire.is_mute = True
    assert upload(errand)
    wait_until(lambda: wire.is_quiet and not gateway.server.server_state.tasks)
    assert gateway.store.progress(recording(errand)) is not None
    wire.mend()
    assert upload(errand) == ""
    assert gateway.store.verify(recording(errand)).holds


def test_a_client_that_forgot_the_url_posts_again(
    gateway: UploadServer, wire: Wire, upload: Client, errand: Errand
) -> None:
    forgetful = replace(errand, store=None)
    break_off(gateway, wire, upload, forgetful)
    assert upload(forgetful) == ""
    assert gateway.store.verify(recording(errand)).holds
    assert upload(forgetful) == ""  # also of a recording that is whole


def test_an_unknown_token(gateway: UploadServer, upload: Client, errand: Errand) -> None:
    assert "401" in upload(replace(errand, token=""))
    assert gateway.store.progress(recording(errand)) is None


def test_an_expired_upload_begins_again(
    gateway: UploadServer, wire: Wire, upload: Client, errand: Errand
) -> None:
    break_off(gateway, wire, upload, errand)
    gateway.expire(errand.file.read_bytes())
    if upload is tuspy:  # 1.1.0 reports the 404, and its user forgets the URL
        assert "404" in upload(errand)
        errand = replace(errand, store=None)
    assert upload(errand) == ""
    assert gateway.store.verify(recording(errand)).holds
    assert wire.sent > FILM_BYTES
