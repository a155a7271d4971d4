"""Work for a client that may leave before it is done: then nobody needs it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

_T = TypeVar("_T")


async def while_there(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """Return what `work` returns; give it up as soon as the client leaves.

    Args:
        receive: The request's messages; its body must have been read.
        work: May be cancelled at any time.

    Raises:
        ClientDisconnect: The client left.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
