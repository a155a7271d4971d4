"""The component port, in its own thread: transaction processors and event subscribers."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection
from typing import Final

from contracts.ledger.component.connections import Connections
from contracts.ledger.component.dispatcher import Dispatcher
from contracts.ledger.component.listening import Listening
from contracts.ledger.component.registry import Registry
from contracts.ledger.component.subscribers import Subscribers
from contracts.ledger.engine.ports import BlockReader
from contracts.ledger.execution.jobs import Job
from contracts.sawtooth.batches import Family

_LOG = logging.getLogger(__name__)

_SOON_S: Final = 0.01
_IDLE_S: Final = 1.0


class Port:
    """Listens from its construction, and answers once started; implements `Processors`.

    Args:
        listening: Where to listen; port 0 takes a free one.
        own: Families in this process.

    Raises:
        RejectedError: The endpoint cannot be bound.
        UnavailableError: The directory of a Unix socket cannot be written.
    """

    def __init__(self, listening: Listening, own: Collection[Family]) -> None:
        self._connections = Connections(listening, self._lose)
        self.endpoint = self._connections.endpoint
        """Where it listens."""
        self._jobs: deque[Job] = deque()
        self._own = own
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="component")
        self._registry: Registry
        self._subscribers: Subscribers
        self._dispatcher: Dispatcher

    def start(self, blocks: BlockReader, registered: Callable[[Family], None]) -> None:
        """Start to answer.

        Args:
            blocks: The chain; subscribers get events of its blocks.
            registered: Called from the port's thread when a family gets another processor.
        """
        connections = self._connections
        self._registry = Registry(connections, self._own, registered)
        self._subscribers = Subscribers(connections, blocks)
        self._dispatcher = Dispatcher(connections, self._registry, self._subscribers)
        blocks.follow(self.wake)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and release the endpoint; safe to repeat."""
        if self._thread.is_alive():
            self._stopping.set()
            self.wake()
            self._thread.join()
        self._connections.close()

    def has(self, family: Family) -> bool:
        """See `Processors.has`."""
        return self._registry.has(family)

    @property
    def told(self) -> str:
        """Return what the ready line says of the port."""
        key = self._connections.public_key
        return f"component={self.endpoint}" + ("" if key is None else f" component-key={key}")

    def process(self, job: Job) -> None:
        """See `Processors.process`."""
        self._jobs.append(job)
        self.wake()

    def wake(self) -> None:
        """Make the port look for new jobs and new blocks; any thread."""
        self._connections.wake()

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stopping.is_set():
            self._connections.wait(wait_s)
            try:
                wait_s = self._turn()
            except Exception:  # noqa: BLE001 - a bug here must not stop the ledger
                _LOG.exception("component port")
                wait_s = _SOON_S

    def _turn(self) -> float:
        """Do all work there is; return how long to wait, seconds, for more."""
        self._connections.authenticate()
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
        """Send a subscriber events of new blocks; return whether there are more blocks."""
        return not self._connections.is_behind(identity) and self._subscribers.pump(identity)

    def _lose(self, identity: bytes) -> None:
        self._subscribers.remove(identity)
        self._registry.gone(identity)
