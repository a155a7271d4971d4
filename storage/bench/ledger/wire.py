"""The HTTP that a loader needs and no more, so that it uses little CPU."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Self
from urllib.parse import urlsplit

from contracts.errors import UnavailableError
from contracts.ledger.place import LedgerPlace

OCTETS: Final = "application/octet-stream"
JSON: Final = "application/json"
_ANSWER_BYTES: Final = 64 << 20
_LIST_ITEM: Final = b"\x0a"
_MORE: Final = 0x80


class Connection:
    """One connection, one request at a time; it reconnects when the server closes it.

    Args:
        url: Of the server; of the files for its TLS the environment says where they are.

    Raises:
        RejectedError: Such a file is invalid.
    """

    def __init__(self, url: str) -> None:
        parts, place = urlsplit(url), LedgerPlace.here(url)
        self._tls = place.files.context() if place.is_secured else None
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if place.is_secured else 80)
        self._base = parts.path.rstrip("/")
        self._reader = asyncio.StreamReader()
        self._writer: asyncio.StreamWriter | None = None

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect to the server at `url`.

        Raises:
            UnavailableError: It does not take connections.
        """
        connection = cls(url)
        await connection._connect()
        return connection

    def close(self) -> None:
        """End the connection."""
        if self._writer is not None:
            self._writer.transport.abort()  # no goodbye of TLS, which an ending loop would not see
            self._writer = None

    async def post(self, target: str, kind: str, body: bytes) -> tuple[int, bytes]:
        """Return status and body of the answer; a request may be sent twice.

        Raises:
            UnavailableError: The server gave no answer, or one that is not HTTP.
        """
        request = (
            f"POST {self._base}{target} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode("ascii") + body
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            return await self._asked(request)
        await self._connect()  # it was idle for longer than the server likes
        try:
            return await self._asked(request)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise UnavailableError(f"the ledger ended the connection: {error!r}") from error

    async def _connect(self) -> None:
        try:
            self._reader, self._writer = await asyncio.open_connection(
                self._host, self._port, limit=_ANSWER_BYTES, ssl=self._tls
            )
        except OSError as error:
            raise UnavailableError(f"{self._host}:{self._port} does not answer: {error}") from error

    async def _asked(self, request: bytes) -> tuple[int, bytes]:
        try:
            return await self._ask(request)
        except asyncio.LimitOverrunError as error:
            self.close()
            raise UnavailableError(f"expected an answer of HTTP, got {error}") from error
        except BaseException:
            self.close()  # the rest of this answer would be taken for the next one
            raise

    async def _ask(self, request: bytes) -> tuple[int, bytes]:
        if self._writer is None:
            raise ConnectionResetError
        self._writer.write(request)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status, size = _read_head(answer)
        if size is None:
            return status, await self._read_chunks()
        return status, await self._reader.readexactly(size)

    async def _read_chunks(self) -> bytes:
        """Return a body that comes in pieces. Source: RFC 9112, 7.1."""
        body = bytearray()
        while True:
            line = await self._reader.readuntil(b"\r\n")
            size = _size(line.split(b";")[0], 16, len(body))
            if not size:
                while await self._reader.readuntil(b"\r\n") != b"\r\n":
                    pass  # a trailer
                return bytes(body)
            body += (await self._reader.readexactly(size + 2))[:-2]


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


def _read_head(head: bytes) -> tuple[int, int | None]:
    """Return status and length of an answer; None for one that comes in chunks."""
    first, *fields = head.split(b"\r\n")
    status = first.split()[1:2]
    for field in fields:
        name, _, text = field.partition(b":")
        if not status or not status[0].isdigit():
            break
        if name.lower() == b"content-length":
            return int(status[0]), _size(text, 10)
        if name.lower() == b"transfer-encoding" and text.strip().lower() == b"chunked":
            return int(status[0]), None
    raise UnavailableError(f"expected an answer with a length, got {head[:200]!r}")


def _size(text: bytes, base: int, before: int = 0) -> int:
    """Return a number of octets that are to be read, after so many others."""
    try:
        size = int(text, base)
    except ValueError:
        size = -1
    if not 0 <= size <= _ANSWER_BYTES - before:
        raise UnavailableError(
            f"expected an answer of at most {_ANSWER_BYTES} octets, got size {text.strip()[:40]!r}"
        )
    return size
