"""Live changes by server-sent events: one line says what is new, and pages ask for the rest.

Source: HTML Living Standard, 9.2. A stream that is not read is ended by the server's bounds.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import StreamingResponse

from gateway.access import Caller
from gateway.api.parts import AllParts
from gateway.api.problems import errors
from gateway.api.security import may_read
from gateway.services import Services

STREAMS_MAX: Final = 100
STREAMS_OF_ONE_MAX: Final = 8
"""Streams of one token or person: as many tabs."""
STREAM_LASTS_MAX_S: Final = 900.0
"""Then the client asks again, and its token or session is looked at again."""
LOOK_EVERY_S: Final = 1.0
BEAT_EVERY_S: Final = 15.0
"""How often a stream says that it is alive when nothing is new."""
_MEDIA: Final = "text/event-stream"
_AGAIN_MS: Final = 3000

router = APIRouter(prefix="/v1", tags=["changes"])


class Streams:
    """Counts the open streams; for one event loop."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @contextmanager
    def place(self, name: str) -> Iterator[None]:
        """Hold a place for a stream; raises HTTPException, 429, if no place is free."""
        self.check(name)
        self._open[name] += 1
        try:
            yield
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]

    def check(self, name: str) -> None:
        """Check that one more stream has a place.

        Raises:
            HTTPException: 429: all places are taken.
        """
        own, every = self._open[name], self._open.total()
        if own >= STREAMS_OF_ONE_MAX or every >= STREAMS_MAX:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"expected at most {STREAMS_OF_ONE_MAX} streams of {name} and {STREAMS_MAX} of "
                f"all, got one more: close another",
                {"Retry-After": "10"},
            )


@router.get(
    "/changes",
    response_class=StreamingResponse,
    responses=errors(429) | {200: {"content": {_MEDIA: {"schema": {"type": "string"}}}}},
)
async def changes(
    request: Request, services: AllParts, caller: Annotated[Caller, Depends(may_read)]
) -> StreamingResponse:
    """Stream an event whenever something is new, until the client leaves or a quarter hour is over.

    The event `block` has `block_num` and `block_id` of the newest block: ask for trips, deliveries
    and lots again. For operators, `offloads` says that a visit's progress changed, and `health` has
    `ready` and what does not work. A comment comes every 15 s. Give `Last-Event-ID` to hear only of
    newer blocks.
    """
    streams: Streams = request.app.state.streams
    streams.check(caller.name)
    known = request.headers.get("last-event-id", "")
    lines = _lines(services, streams, caller, known)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines, headers=headers, media_type=_MEDIA)


async def _lines(
    services: Services, streams: Streams, caller: Caller, known: str
) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    with streams.place(caller.name):
        yield f"retry: {_AGAIN_MS}\n\n"
        told: dict[str, object] = {"block": known}
        end_s = loop.time() + STREAM_LASTS_MAX_S
        beat_s = loop.time() + BEAT_EVERY_S
        while loop.time() < end_s:
            for name, (mark, data) in (await asyncio.to_thread(_news, services, caller)).items():
                if told.get(name) != mark:
                    told[name] = mark
                    head = f"id: {mark}\n" if name == "block" else ""
                    yield f"{head}event: {name}\ndata: {json.dumps(data)}\n\n"
                    beat_s = loop.time() + BEAT_EVERY_S
            if loop.time() >= beat_s:
                yield ": still here\n\n"
                beat_s = loop.time() + BEAT_EVERY_S
            await asyncio.sleep(LOOK_EVERY_S)


def _news(services: Services, caller: Caller) -> dict[str, tuple[object, dict[str, object]]]:
    """Return what a caller is told of, by event: a mark that changes, and the event's data."""
    head = services.index.head()
    found: dict[str, tuple[object, dict[str, object]]] = {}
    if head is not None:
        block = {"block_num": head.block_num, "block_id": head.block_id}
        found["block"] = head.block_id, block
    if caller.grants is None:
        standings = services.dependencies.standings().items()
        out = sorted(name for name, standing in standings if standing.reason)
        health = {"ready": services.dependencies.ready(), "out": out}
        found["health"] = json.dumps(health), health
        visits = services.inbox.changes()
        found["offloads"] = visits, {"change": visits}
    return found
