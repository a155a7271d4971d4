"""A recording from another site counts as whole only if it fits what the devices announced."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from contracts.chunktree import EMPTY_ROOT
from gateway.access import Role
from gateway.api.app import build_app
from gateway.intake.held import HeldBatch, Offer
from gateway.services import Services
from gateway.settings import Settings
from storage.blobs.port import Blob
from storage.recordings.manifest import StoredRecording
from support.storage.stores import put


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with closing(Services(Settings(data=tmp_path, site_id="site"))) as opened:
        yield opened


def elsewhere(services: Services) -> StoredRecording:
    """Return a recording that is in the blob store and not known here."""
    recording_id = put(services.recordings, b"video")
    stored = services.recordings.manifest(recording_id)
    assert stored is not None
    catalogue = services.recordings.places.catalogue
    catalogue.start_leaving(recording_id)
    catalogue.end_leaving(recording_id)
    assert services.recordings.manifest(recording_id) is None
    return stored


def announce(services: Services, stored: StoredRecording, number: int) -> None:
    device, name = f"device-{number}", f"{number:0128x}"
    held = HeldBatch(name, device, "trip", b"wire", 0, "", name, stored.sha256)
    offer = Offer("trip", device, stored.sha256, stored.size, stored.tree_root, name)
    services.inbox.add([held], [offer])


def test_a_manifest_with_the_announced_tree_is_believed(services: Services) -> None:
    stored = elsewhere(services)
    assert services.recordings.adopt(stored.sha256, stored.size) is None
    announce(services, stored, 1)
    assert services.recordings.adopt(stored.sha256, stored.size) is not None


def test_a_manifest_with_another_tree_is_not_believed(services: Services) -> None:
    """Whichever lies, the bytes of the sender show it; nobody's digest is refused for it."""
    stored = elsewhere(services)
    announce(services, stored, 1)
    announce(services, replace(stored, size=0, leaves=(), tree_root=EMPTY_ROOT), 2)
    assert services.recordings.adopt(stored.sha256, stored.size) is None
    put(services.recordings, b"video")
    assert services.recordings.fill(stored.sha256)


def test_what_holds_nowhere_is_shown_as_damaged(services: Services) -> None:
    stored = elsewhere(services)
    announce(services, stored, 1)
    assert services.recordings.adopt(stored.sha256, stored.size) is not None
    services.recordings.places.blobs.put(stored.sha256, Blob(0, b"ideov", stored.leaves[0]))
    for volume in services.volumes:
        volume.call(lambda directory: directory.delete(stored.sha256))
    services.filling.step()
    (shown,) = offloads(services)
    (recording,) = shown["recordings"]
    assert (recording["damaged"], recording["received"]) == (True, 0)


def test_what_rots_of_one_visit_does_not_hide_the_others(
    services: Services, tmp_path: Path
) -> None:
    stored = elsewhere(services)
    announce(services, stored, 1)
    put(services.recordings, b"video")
    sound = put(services.recordings, b"sound")
    announce(services, replace(stored, sha256=sound), 2)
    entry = tmp_path / "recordings" / "whole" / stored.sha256.hex()[:2] / stored.sha256.hex()
    entry.write_bytes((entry.parents[1] / sound.hex()[:2] / sound.hex()).read_bytes())
    services.inbox.visits.put_receipt("trip", "device-1", b"\xff", final=False)
    first, second = offloads(services)
    assert [each["damaged"] for each in first["recordings"]] == [True]
    assert first["lacking"] == ["the receipt is damaged"]
    assert [each["damaged"] for each in second["recordings"]] == [False]
    assert second["recordings"][0]["copies"]


def offloads(services: Services) -> list[dict[str, Any]]:
    """Return what an operator sees of all visits."""
    tokens = services.people.tokens
    headers = {"Authorization": f"Bearer {tokens.add('op', Role.OPERATOR)}"}

    async def ask() -> httpx.Response:
        through = httpx.ASGITransport(build_app(services))
        async with httpx.AsyncClient(transport=through, base_url="http://gateway") as client:
            return await client.get("/v1/offloads", headers=headers)

    response = asyncio.run(ask())
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["items"]
    return found
