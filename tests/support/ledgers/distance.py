"""Sites far apart: passes connections on, and each byte takes as long as the way between the sites.

Usage: python tests/support/ledgers/distance.py MILLISECONDS TOLD:LISTENS …
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from contracts.runtime.processes import tied

HOST: Final = "127.0.0.1"
CHUNK_BYTES: Final = 65_536


@contextmanager
def far_apart(ports: Mapping[int, int], one_way_ms: float) -> Iterator[None]:
    """Put validators far apart.

    Args:
        ports: Where each validator listens, by the port that the others are told.
        one_way_ms: How long each byte takes, milliseconds.
    """
    pairs = [f"{told}:{listens}" for told, listens in ports.items()]
    command = [sys.executable, __file__, str(one_way_ms), *pairs]
    with subprocess.Popen(tied(command), stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield
        finally:
            process.kill()


class Way:
    """From one site to another.

    Args:
        takes_s: How long each byte takes, seconds.
    """

    def __init__(self, takes_s: float) -> None:
        self._takes_s = takes_s
        self._sent: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry what comes, until it ends."""
        delivering = asyncio.create_task(self._deliver(sink))
        part = b"more"
        while part:
            try:
                part = await source.read(CHUNK_BYTES)
            except OSError:
                part = b""
            self._sent.put_nowait((time.monotonic() + self._takes_s, part))
        await delivering

    async def _deliver(self, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while True:
                due_s, part = await self._sent.get()
                await asyncio.sleep(max(0.0, due_s - time.monotonic()))
                if not part:
                    break
                sink.write(part)
                await sink.drain()
        sink.close()


async def serve(ports: Mapping[int, int], takes_s: float) -> None:
    """Pass connections on, for good."""

    async def listen(told: int, listens: int) -> None:
        async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                there, back = await asyncio.open_connection(HOST, listens)
            except OSError:
                writer.close()
                return
            await asyncio.gather(
                Way(takes_s).carry(reader, back), Way(takes_s).carry(there, writer)
            )

        await asyncio.start_server(one, HOST, told)

    for told, listens in ports.items():
        await listen(told, listens)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    pairs = [pair.split(":") for pair in sys.argv[2:]]
    asyncio.run(serve({int(told): int(at) for told, at in pairs}, float(sys.argv[1]) / 1_000))
