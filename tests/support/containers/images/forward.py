"""Passes connections at a container's port 4004 on to loopback, where our node's is."""

import asyncio
import contextlib
from typing import Final

OUTER: Final = 4004
INNER: Final = 4104
CHUNK_BYTES: Final = 65_536


async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await source.read(CHUNK_BYTES):
            sink.write(part)
            await sink.drain()
    sink.close()


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        there, back = await asyncio.open_connection("127.0.0.1", INNER)
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, back), copy(there, writer))


async def main() -> None:
    async with await asyncio.start_server(forward, "0.0.0.0", OUTER) as server:  # noqa: S104 - in a container
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
