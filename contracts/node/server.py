"""The running node: publisher, verifier and REST wired together."""

import asyncio
import logging
import signal
import socket
import sys
from types import FrameType
from typing import Final

import uvicorn
import uvloop

from contracts.keys import Signer
from contracts.node.chain import Chain
from contracts.node.families import Families
from contracts.node.publisher import Publisher
from contracts.node.rest.app import build_app
from contracts.node.rest.http import BoundedHttp
from contracts.node.rest.submit import Submit
from contracts.node.statuses import Outcome, Statuses
from contracts.node.verify import Verifier

CONNECTIONS_MAX: Final = 1_000
BACKLOG: Final = 1_024
KEEP_ALIVE_S: Final = 75
GOODBYE_S: Final = 2
"""How long, seconds, answers may take to finish once the node is told to stop."""


def serve(chain: Chain, signer: Signer, families: Families, port: socket.socket) -> int:
    """Serve on an open port until a signal arrives.

    Returns:
        The exit status: 0, or 1 when no block can be written any more.
    """
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises the signal that ended it once more, which must not end us halfway.
        signal.signal(number, lambda *_: None)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(chain, signer, families, port))


class _Server(uvicorn.Server):
    """Says when it is ready, and lets go of waiting requests when told to stop."""

    def __init__(self, config: uvicorn.Config, statuses: Statuses) -> None:
        super().__init__(config)
        self._statuses = statuses
        self.failed = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        for port in sockets or []:
            host, number, *_ = port.getsockname()
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"ready rest=http://{shown}:{number}\n")
            sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Answer to a signal."""
        self._statuses.close()
        super().handle_exit(sig, frame)

    def fail(self) -> None:
        """Stop since the chain cannot be written any more."""
        self.failed = True
        self._statuses.close()
        self.should_exit = True


async def _serve(chain: Chain, signer: Signer, families: Families, port: socket.socket) -> int:
    loop = asyncio.get_running_loop()
    statuses = Statuses(lambda name: chain.blocks.find_batch(name) is not None)
    verifier = Verifier()

    def report(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(submit.apply, outcome)

    def failed(_: Exception) -> None:
        loop.call_soon_threadsafe(server.fail)

    publisher = Publisher(chain, signer, families, report, failed)
    submit = Submit(publisher, verifier, statuses)
    config = uvicorn.Config(
        build_app(chain, submit, statuses),
        http=BoundedHttp,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        limit_concurrency=CONNECTIONS_MAX,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GOODBYE_S,
    )
    server = _Server(config, statuses)
    publisher.start()
    try:
        await server.serve(sockets=[port])
    finally:
        await asyncio.to_thread(publisher.stop)
        verifier.close()
    return int(server.failed)
