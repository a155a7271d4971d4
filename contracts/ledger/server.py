"""The running node: the engine `solo`, REST and the component port wired together."""

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path

from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.component.port import Port
from contracts.ledger.engine.statuses import Outcome
from contracts.ledger.engine.submissions import Submissions
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.verify import Verifier
from contracts.ledger.rest.app import build_app
from contracts.ledger.rest.subscriptions import Subscriptions
from contracts.ledger.solo.publisher import Publisher
from contracts.runtime.serving.connections import Bounds
from contracts.runtime.serving.server import Server
from contracts.runtime.serving.tls import Tls


@dataclass(frozen=True, slots=True)
class Rest:
    """Where and how REST is served.

    Attributes:
        port: Open.
        bounds: Limits of its connections.
        tls: None: plain text.
    """

    port: socket.socket
    bounds: Bounds
    tls: Tls | None = None


async def serve(
    chain: Chain,
    signer: Signer,
    families: Families,
    rest: Rest,
    block_interval_s: float,
    component: Port | None,
    data: Path | None = None,
) -> int:
    """Serve until a signal arrives.

    Args:
        chain: The chain, genesis block included.
        signer: Signs blocks.
        families: Rules of the families in this process.
        rest: Where REST is served.
        block_interval_s: Least time from one block to the next, seconds.
        component: Open for transaction processors and event subscribers.
        data: Directory of the chain, for metrics of its disk.

    Returns:
        The exit status: 0, or 1 when no block can be written any more.
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

    publisher = Publisher(chain, signer, families, report, failed, block_interval_s, component)
    submissions = Submissions(
        publisher.submit,
        lambda: publisher.trouble,
        lambda name: chain.find_batch(name) is not None,
    )
    chain.follow(notice)
    app = build_app(chain, submissions, verifier, subscriptions, data)
    also = "" if component is None else component.told
    server = Server(app, also=also, on_exit=let_go, bounds=rest.bounds, web_sockets=True)
    server.tls = rest.tls
    if component is not None:
        component.start(chain, publisher.scheduler.registered)
    publisher.start()
    try:
        await server.serve(sockets=[rest.port])
    finally:
        await asyncio.to_thread(publisher.stop)
        if component is not None:
            await asyncio.to_thread(component.stop)
        verifier.close()
    return int(bool(broken))
