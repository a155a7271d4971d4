"""The component port, in a thread of its own: transaction processors and event subscribers."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Container
from typing import Final

from contracts.node.component.connections import Connections
from contracts.node.component.dispatcher import Dispatcher
from contracts.node.component.registry import Registry
from contracts.node.component.subscribers import Subscribers
from contracts.node.execution.jobs import Job
from contracts.node.store.blockstore import BlockStore
from contracts.sawtooth.transactions import Family

_LOG = logging.getLogger(__name__)

_SOON_S: Final = 0.01
_IDLE_S: Final = 1.0


class Port:
    """Listens from the beginning, and answers once started; implements `jobs.Processors`.

    Args:
        endpoint: `tcp://HOST:PORT`; port 0 takes a free one.
        own: Families in this process.

    Raises:
        RejectedError: The endpoint cannot be had.
    """

    def __init__(self, endpoint: str, own: Container[Family]) -> None:
        self._connections = Connections(endpoint, self._lose)
        self.endpoint = self._connections.endpoint
        self._jobs: deque[Job] = deque()
        self._own = own
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="component")
        self._registry: Registry
        self._subscribers: Subscribers
        self._dispatcher: Dispatcher

    def start(self, blocks: BlockStore, registered: Callable[[Family], None]) -> None:
        """Begin to answer.

        Args:
            blocks: The chain, of whose blocks subscribers hear.
            registered: Called from the port's thread when a family has a processor more.
        """
        link = self._connections
        self._registry = Registry(link, self._own, registered)
        self._subscribers = Subscribers(link, blocks)
        self._dispatcher = Dispatcher(link, self._registry, self._subscribers)
        self._thread.start()

    def stop(self) -> None:
        """End, and let go of the endpoint; doing so again is nothing."""
        if self._thread.is_alive():
            self._stopping.set()
            self.wake()
            self._thread.join()
        self._connections.close()

    def has(self, family: Family) -> bool:
        """See `Processors.has`."""
        return self._registry.has(family)

    def process(self, job: Job) -> None:
        """See `Processors.process`."""
        self._jobs.append(job)
        self.wake()

    def wake(self) -> None:
        """Have the port look for new jobs and new blocks; any thread."""
        self._connections.wake()

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stopping.is_set():
            self._connections.wait(wait_s)
            try:
                wait_s = self._turn()
            except Exception:  # noqa: BLE001 - a bug must not take the ledger from everyone else
                _LOG.exception("component port")
                wait_s = _SOON_S

    def _turn(self) -> float:
        """Do what there is to do; return how long to wait, seconds, for more."""
        self._connections.watch()
        more = self._connections.receive(self._dispatcher.handle)
        while self._jobs:
            self._registry.start(self._jobs.popleft())
        due_s = self._registry.tick()
        self._connections.beat()
        busy = [self._connections.flush(), *map(self._tell, self._subscribers)]
        wait_s = 0.0 if more else _SOON_S if any(busy) else _IDLE_S
        return wait_s if due_s is None else min(wait_s, due_s)

    def _tell(self, identity: bytes) -> bool:
        """Tell a subscriber of new blocks; return whether there are more to tell of."""
        return not self._connections.is_behind(identity) and self._subscribers.pump(identity)

    def _lose(self, identity: bytes) -> None:
        self._subscribers.remove(identity)
        self._registry.gone(identity)
