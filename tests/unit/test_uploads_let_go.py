"""An idle upload stays open for its sender until something else needs it closed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from gateway.access import Caller, Role
from gateway.uploads.service import Uploads
from storage.recordings.store import RecordingStore
from support.gateways.uploads import uploads_to
from support.storage.stores import open_store

DATA = b"half and half"
ONE = hashlib.sha256(DATA).digest()
OPERATOR = Caller("operator", Role.OPERATOR)


async def half() -> AsyncIterator[bytes]:
    yield DATA[:5]


async def begin(uploads: Uploads) -> None:
    await uploads.create(ONE, len(DATA), OPERATOR)
    await uploads.append(ONE, 0, half(), OPERATOR, length=5)


def test_an_upload_between_two_requests_is_closed(tmp_path: Path) -> None:
    async def course(store: RecordingStore, uploads: Uploads) -> None:
        await begin(uploads)
        with pytest.raises(UnavailableError, match="is being written"):
            store.delete(ONE)
        await asyncio.to_thread(uploads.let_go, ONE)
        store.delete(ONE)
        assert store.progress(ONE) is None
        await uploads.close()

    with open_store(tmp_path) as store, uploads_to(store) as uploads:
        asyncio.run(course(store, uploads))


def test_an_upload_in_the_middle_of_a_request_is_not(tmp_path: Path) -> None:
    async def course(_: RecordingStore, uploads: Uploads) -> None:
        await begin(uploads)
        arrived, more = asyncio.Event(), asyncio.Event()

        async def rest() -> AsyncIterator[bytes]:
            arrived.set()
            await more.wait()
            yield DATA[5:]

        request = asyncio.create_task(uploads.append(ONE, 5, rest(), OPERATOR))
        await arrived.wait()
        with pytest.raises(UnavailableError, match="is being written by a request"):
            await asyncio.to_thread(uploads.let_go, ONE)
        more.set()
        assert (await request).whole
        await uploads.close()

    with open_store(tmp_path) as store, uploads_to(store) as uploads:
        asyncio.run(course(store, uploads))


def test_nothing_is_open_before_a_loop_ran_or_after(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, uploads_to(store) as uploads:
        uploads.let_go(ONE)

        async def course() -> None:
            await begin(uploads)
            await uploads.close()

        asyncio.run(course())
        uploads.let_go(ONE)
