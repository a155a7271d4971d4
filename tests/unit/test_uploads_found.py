"""Announcing a recording whose bytes are on a volume, although no catalogue lists it."""

import asyncio
import hashlib
import shutil
from pathlib import Path

from gateway.access import Caller, Role
from support.gateways.uploads import uploads_to
from support.storage.stores import open_store, put, volume_file

DATA = b"whole before"
ONE = hashlib.sha256(DATA).digest()


def test_an_announcement_is_enough_after_the_catalogue_was_lost(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        put(store, DATA)
    for lost in ("b", "c"):
        shutil.rmtree(tmp_path / lost)
    finished: list[bytes] = []

    with open_store(tmp_path) as store:

        async def announced() -> bool:
            with uploads_to(store, finished) as uploads:
                status = await uploads.create(ONE, len(DATA), Caller("operator", Role.OPERATOR))
                await uploads.close()
                return status.whole

        assert asyncio.run(announced())
        assert finished == [ONE]
        assert store.verify(ONE).holds
    assert volume_file(tmp_path, ONE).read_bytes() == DATA
