"""HTTP as little as a loader needs it, so that its own CPU stays out of the way."""

import asyncio
import json
from collections.abc import Sequence
from typing import Final, Self
from urllib.parse import urlsplit

from contracts.errors import RejectedError, UnavailableError

OCTETS: Final = "application/octet-stream"
JSON: Final = "application/json"
BUSY: Final = 429
ACCEPTED: Final = 202
OK: Final = 200
BUSY_S: Final = 0.02
"""Pause, seconds, before a busy node is asked again."""
WAIT_S: Final = 60
"""How long, seconds, the node may let a question for statuses wait."""
_ANSWER_BYTES: Final = 64 << 20
_LIST_ITEM: Final = b"\x0a"
_MORE: Final = 0x80


class Connection:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the node at `url`."""
        place = urlsplit(url)
        reader, writer = await asyncio.open_connection(
            place.hostname, place.port, limit=_ANSWER_BYTES
        )
        return cls(reader, writer)

    def close(self) -> None:
        """End the connection."""
        self._writer.close()

    async def post(self, batches: Sequence[bytes]) -> None:
        """Submit serialised batches; while the node is busy, try again.

        Raises:
            RejectedError: The node refuses them.
        """
        body = batch_list(batches)
        while True:
            status, answer = await self._ask("/batches", OCTETS, body)
            if status == ACCEPTED:
                return
            if status != BUSY:
                raise RejectedError(f"POST /batches: HTTP {status}: {answer[:400]!r}")
            await asyncio.sleep(BUSY_S)

    async def settle(self, batch_ids: Sequence[str]) -> None:
        """Return once all of these batches are committed.

        Raises:
            RejectedError: One of them never will be.
        """
        body = json.dumps(batch_ids).encode()
        waiting = bool(batch_ids)
        while waiting:
            status, answer = await self._ask(f"/batch_statuses?wait={WAIT_S}", JSON, body)
            if status != OK:
                raise RejectedError(f"POST /batch_statuses: HTTP {status}: {answer[:400]!r}")
            found = {entry["status"]: entry for entry in json.loads(answer)["data"]}
            waiting = "PENDING" in found
            wrong = found.keys() - {"COMMITTED", "PENDING"}
            if wrong:
                raise RejectedError(f"a batch is {found[wrong.pop()]}, expected COMMITTED")

    async def _ask(self, target: str, kind: str, body: bytes) -> tuple[int, bytes]:
        head = (
            f"POST {target} HTTP/1.1\r\nHost: node\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode("ascii") + body)
        try:
            answer = await self._reader.readuntil(b"\r\n\r\n")
            status, size = _read_head(answer)
            return status, await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise UnavailableError(f"the node ended the connection: {error!r}") from error


def batch_list(batches: Sequence[bytes]) -> bytes:
    """Return the serialised BatchList of serialised batches.

    Source: Protocol Buffers, "Encoding".
    """
    return b"".join(_LIST_ITEM + _varint(len(batch)) + batch for batch in batches)


def _varint(value: int) -> bytes:
    octets = bytearray()
    while value >= _MORE:
        octets.append(value & 0x7F | _MORE)
        value >>= 7
    octets.append(value)
    return bytes(octets)


def _read_head(head: bytes) -> tuple[int, int]:
    """Return status and length of an answer."""
    first, *fields = head.split(b"\r\n")
    for field in fields:
        name, _, text = field.partition(b":")
        if name.lower() == b"content-length":
            return int(first.split()[1]), int(text)
    raise UnavailableError(f"expected an answer with a length, got {head[:200]!r}")
