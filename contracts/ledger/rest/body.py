"""Reading request bodies: bounded in size and time."""

import asyncio
import re
from collections.abc import Callable
from typing import Final

from starlette.requests import ClientDisconnect, Request

from contracts.ledger.rest import errors

BODY_S: Final = 30.0
"""Time, seconds, for a body to arrive."""
_LENGTH: Final = re.compile(r"[0-9]{1,18}")


def announced_length(request: Request) -> int | None:
    """Return the length in bytes that the header announces, if any."""
    digits = request.headers.get("content-length", "")
    return int(digits) if _LENGTH.fullmatch(digits) else None


async def read_body(
    request: Request, limit: int, hold: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return the body of `request`.

    Args:
        request: The request.
        limit: Most bytes it may have.
        hold: Called with the number of bytes that arrived; may refuse them.

    Raises:
        ApiError: The body is larger than `limit`, or does not arrive in time.
    """
    if (announced_length(request) or 0) > limit:
        raise errors.BODY_TOO_LARGE.error(str(limit))
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                hold(len(chunk))
                body += chunk
                if len(body) > limit:
                    raise errors.BODY_TOO_LARGE.error(str(limit))
    except (TimeoutError, ClientDisconnect) as error:
        raise errors.BODY_TOO_SLOW.error(str(BODY_S)) from error
    return bytes(body)
