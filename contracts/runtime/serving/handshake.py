"""The TLS handshakes of new connections, bounded as everything before a request's head.

The server's own way to TLS would count a connection only after its handshake, and clients that say
nothing would take places that nobody sees.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from contracts.runtime.seldom import Seldom
from contracts.runtime.serving.connections import Doors, Ending, Phase
from contracts.runtime.serving.tls import Tls

PAUSE_S: Final = 0.5
"""Pause after the system could not accept a connection, for want of descriptors say."""

_log: Final = logging.getLogger(__name__)
_log.addFilter(Seldom(arguments=1))  # a line for each reason, from any client


class Entrance:
    """Accepts connections at an open port, until it is closed.

    Args:
        port: It listens.
        tls: The server's TLS.
        doors: Count each connection from its first moment.
        make: Makes the protocol of a connection. It calls the given function when it begins, after
            the handshake, so that the handshake's place is free for it.
    """

    def __init__(
        self, port: socket.socket, tls: Tls, doors: Doors, make: Callable[[Callable[[], None]], Any]
    ) -> None:
        self._port = port
        self._tls = tls
        self._doors = doors
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._shaking: set[Handshake] = set()
        port.setblocking(False)  # noqa: FBT003  # as the library calls it
        self._task = self._loop.create_task(self._accept())

    def close(self) -> None:
        """Accept nothing more; end the handshakes that are under way."""
        self._task.cancel()
        for each in list(self._shaking):
            each.end(Ending.DISPLACED)

    async def _accept(self) -> None:
        while True:
            try:
                client, address = await self._loop.sock_accept(self._port)
            except OSError as error:
                _log.warning("cannot accept a connection: %s", error)
                await asyncio.sleep(PAUSE_S)
                continue
            handshake = Handshake(client, address[0], self._loop.time())
            if self._doors.enter(handshake):
                self._shaking.add(handshake)
                handshake.task = self._loop.create_task(self._shake(handshake))
                handshake.task.add_done_callback(partial(self._forget, handshake))
            else:
                client.close()

    async def _shake(self, handshake: "Handshake") -> None:
        handshake.has_begun = True
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._make(lambda: self._doors.leave(handshake)),
                handshake.client,
                ssl=self._tls.context,
                ssl_handshake_timeout=self._doors.bounds.head_s,
            )
        except OSError as error:
            # Of what is wrong with a certificate the client learns less than we do.
            level = logging.INFO if isinstance(error, ssl.SSLError) else logging.DEBUG
            _log.log(level, "a TLS handshake failed: %s, from %s", error, handshake.address)

    def _forget(self, handshake: "Handshake", task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (problem := task.exception()) is not None:
            _log.error("a connection could not begin: %r", problem, exc_info=problem)
        self._shaking.discard(handshake)
        self._doors.leave(handshake)
        if not handshake.has_begun:  # otherwise its transport owns the socket
            handshake.client.close()


class Handshake:
    """One handshake, as the doors see it; it ends by itself in the time for a head."""

    def __init__(self, client: socket.socket, address: str, since_s: float) -> None:
        self.client = client
        self.address = address
        self.phase = Phase.HEAD
        self.since_s = since_s
        self.has_begun = False
        self.task: asyncio.Task[None] | None = None

    def overdue(self, now_s: float) -> Ending | None:
        """See `Guarded.overdue`."""
        del now_s
        return None

    def end(self, why: Ending) -> None:
        """See `Guarded.end`."""
        del why
        if self.task is not None:
            self.task.cancel()
