"""The running node: publisher, verifier and REST wired together."""

import asyncio
import socket

from contracts.keys import Signer
from contracts.node.component.port import Port
from contracts.node.execution.families import Families
from contracts.node.publisher import Publisher
from contracts.node.rest.app import build_app
from contracts.node.rest.submit import Submit
from contracts.node.rest.subscriptions import Subscriptions
from contracts.node.statuses import Outcome, Statuses
from contracts.node.store.chain import Chain
from contracts.node.verify import Verifier
from contracts.serving import Server, event_loop


def serve(
    chain: Chain,
    signer: Signer,
    families: Families,
    port: socket.socket,
    block_interval_s: float,
    component: Port | None = None,
) -> int:
    """Serve until a signal arrives.

    Args:
        chain: The chain, genesis block included.
        signer: Signs blocks.
        families: Who judges which transaction.
        port: Open for REST.
        block_interval_s: Least time from one block to the next, seconds.
        component: Open for transaction processors and event subscribers.

    Returns:
        The exit status: 0, or 1 when no block can be written any more.
    """
    with event_loop() as runner:
        return runner.run(_serve(chain, signer, families, port, block_interval_s, component))


async def _serve(
    chain: Chain,
    signer: Signer,
    families: Families,
    port: socket.socket,
    block_interval_s: float,
    component: Port | None,
) -> int:
    loop = asyncio.get_running_loop()
    statuses = Statuses(lambda name: chain.blocks.find_batch(name) is not None)
    verifier = Verifier()
    subscriptions = Subscriptions(chain)

    def take_note(outcome: Outcome) -> None:
        submit.apply(outcome)
        subscriptions.notice()

    def report(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(take_note, outcome)
        if component is not None:
            component.wake()

    def let_go() -> None:
        statuses.close()
        subscriptions.close()

    broken: list[Exception] = []

    def fail(error: Exception) -> None:
        broken.append(error)
        let_go()
        server.should_exit = True

    def failed(error: Exception) -> None:
        loop.call_soon_threadsafe(fail, error)

    publisher = Publisher(chain, signer, families, report, failed, block_interval_s, component)
    submit = Submit(publisher, verifier, statuses)
    also = "" if component is None else f"component={component.endpoint}"
    app = build_app(chain, submit, statuses, subscriptions)
    server = Server(app, also=also, on_exit=let_go, for_programs=True)
    if component is not None:
        component.start(chain.blocks, publisher.scheduler.registered)
    publisher.start()
    try:
        await server.serve(sockets=[port])
    finally:
        await asyncio.to_thread(publisher.stop)
        if component is not None:
            await asyncio.to_thread(component.stop)
        verifier.close()
    return int(bool(broken))
