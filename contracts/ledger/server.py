"""The running node: an engine, REST and the component port wired together."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import WaysealError
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.component.port import Port
from contracts.ledger.engine.running import Engine
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submissions
from contracts.ledger.execution.verify import Verifier
from contracts.ledger.rest.app import build_app
from contracts.ledger.rest.light import Light
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.runtime.serving.connections import Bounds
from contracts.runtime.serving.server import Server, address_of
from contracts.runtime.serving.tls import Tls


@dataclass(frozen=True, slots=True)
class Rest:
    """Where and how REST is served.

    Attributes:
        port: Open.
        bounds: Limits of its connections.
        tls: None: plain text.
        light: Open for validators that join by a snapshot; None: closed.
    """

    port: socket.socket
    bounds: Bounds
    tls: Tls | None = None
    light: socket.socket | None = None


LIGHT: Final = Bounds(connections=50, per_address=10)
"""Limits of the light port: a validator that joins opens a few connections."""
MakeEngine = Callable[[Callable[[Outcome], None], Callable[[Exception], None]], Engine]
"""Makes the engine, of where it tells outcomes and its failure."""


@asynccontextmanager
async def _light(engine: Engine, rest: Rest) -> AsyncIterator[None]:
    """Serve the light port, if there is one."""
    if rest.light is None or engine.light is None:
        yield
        return
    async with Server(Light(engine.light).app, bounds=LIGHT).beside([rest.light]):
        yield


async def serve(
    chain: Chain,
    make_engine: MakeEngine,
    rest: Rest,
    component: Port | None,
    data: Path | None = None,
) -> int:
    """Serve until a signal arrives.

    Args:
        chain: The chain.
        make_engine: Makes what makes its blocks.
        rest: Where REST is served.
        component: Open for transaction processors and event subscribers.
        data: Directory of the chain, for metrics of its disk.

    Returns:
        The exit status: 0, or 1 when no block can be written any more.

    Raises:
        WaysealError: The engine does not start.
    """
    loop = asyncio.get_running_loop()
    verifier = Verifier()
    subscriptions = Subscriptions(chain)
    broken: list[Exception] = []

    def report(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(submissions.apply, outcome)

    def notice() -> None:
        loop.call_soon_threadsafe(subscriptions.notice)

    def let_go() -> None:
        submissions.close()
        subscriptions.close()

    def fail(error: Exception) -> None:
        broken.append(error)
        let_go()
        server.should_exit = True

    def failed(error: Exception) -> None:
        loop.call_soon_threadsafe(fail, error)

    engine = make_engine(report, failed)
    submissions = Submissions(
        engine.submit,
        lambda: engine.trouble,
        lambda name: chain.find_batch(name) is not None,
    )
    chain.follow(notice)
    app = build_app(chain, submissions, verifier, subscriptions, data, engine.sealer)
    also = "" if component is None else component.told
    if rest.light is not None:
        also = f"{also} light={address_of(rest.light)}".strip()
    server = Server(app, also=also, on_exit=let_go, bounds=rest.bounds, web_sockets=True)
    server.tls = rest.tls
    if component is not None:
        component.start(chain, engine.registered)
    try:
        if await _has_started(engine):
            async with _light(engine, rest):
                await server.serve(sockets=[rest.port])
    finally:
        await asyncio.to_thread(engine.stop)
        if component is not None:
            await asyncio.to_thread(component.stop)
        verifier.close()
    return int(bool(broken))


async def _has_started(engine: Engine) -> bool:
    """Start the engine; return False if a signal asked the node to end first.

    An engine may wait long, for its program or for other validators. Once the server serves, it has
    handlers of its own.

    Raises:
        WaysealError: The engine does not start.
    """
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def end(_: int, __: object) -> None:
        loop.call_soon_threadsafe(asked.set)

    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGINT)}
    starting = asyncio.create_task(asyncio.to_thread(engine.start))
    waiting = asyncio.create_task(asked.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            return not asked.is_set()
        await asyncio.to_thread(engine.stop)
        with suppress(WaysealError):  # it was stopped while it started
            await starting
        return False
    finally:
        waiting.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
