"""A process that runs its share of a fleet, order by order, several trucks at a time.

Orders come through a pipe, and each truck's result goes back. The work ends when the pipe
does: no process is left if the fleet's main process is killed.
"""

import queue
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection

from contracts.errors import WaysealError
from device.fleet.truck import Offloaded, Truck
from device.stop import Stop


class Order(StrEnum):
    """What all trucks do next."""

    MAKE = "make"
    RECORD = "record"
    OFFLOAD = "offload"


@dataclass(frozen=True, slots=True)
class Told:
    """The result of one truck's order.

    Attributes:
        result: After MAKE its public key, after OFFLOAD its times.
        error: Why the truck failed; empty if it did not.
    """

    device_id: str
    result: str | Offloaded | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """The trucks of one process.

    Attributes:
        at_once: Trucks that offload at the same time.
        patience_s: See `Truck.offload`.
    """

    trucks: Sequence[Truck]
    at_once: int
    patience_s: float


def work(pipe: Connection, share: Share) -> None:
    """Carry out orders until the pipe ends; the body of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process says when to stop
    orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
    with closing(Stop()) as stop:
        listener = threading.Thread(target=_listen, args=(pipe, orders, stop), daemon=True)
        listener.start()
        trucks = {truck.device_id: truck for truck in share.trucks}
        while (order := orders.get()) is not None:
            for told in _carry_out(order, list(trucks.values()), share, stop, pipe):
                del trucks[told.device_id]
        listener.join()


def _listen(pipe: Connection, orders: "queue.SimpleQueue[Order | None]", stop: Stop) -> None:
    try:
        while True:
            orders.put(pipe.recv())
    except (EOFError, OSError):
        stop.request()
        orders.put(None)


def _carry_out(
    order: Order, trucks: Sequence[Truck], share: Share, stop: Stop, pipe: Connection
) -> list[Told]:
    """Let each truck carry out the order, and send its result; return the failures."""
    tasks: Mapping[Order, Callable[[Truck], str | Offloaded | None]] = {
        Order.MAKE: lambda truck: truck.make(),
        Order.RECORD: lambda truck: truck.record(stop),
        Order.OFFLOAD: lambda truck: truck.offload(stop, share.patience_s),
    }
    task, failed = tasks[order], []
    # Recording keeps this process's core busy; an offload mostly waits.
    with ThreadPoolExecutor(share.at_once if order is Order.OFFLOAD else 1) as pool:
        for done in as_completed([pool.submit(_done, task, truck) for truck in trucks]):
            told = done.result()
            if told.error:
                failed.append(told)
            if not stop.requested:
                pipe.send(told)
    return failed


def _done(task: Callable[[Truck], str | Offloaded | None], truck: Truck) -> Told:
    try:
        return Told(truck.device_id, task(truck))
    except WaysealError as error:
        return Told(truck.device_id, error=str(error))
