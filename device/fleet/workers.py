"""The processes of a fleet: gives them orders, takes their results, and always ends them."""

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Final, Self

from contracts.errors import UnavailableError
from device.fleet.truck import Truck
from device.fleet.worker import Order, Share, Told, work
from device.stop import Stop

WORKERS_MAX: Final = 16
"""Most processes of a fleet; fewer if there are fewer cores or trucks."""
END_TIMEOUT_S: Final = 30
"""Time for a process to end after its last order; then it is killed."""
_POLL_S: Final = 0.2


class Workers:
    """Processes, each with its share of the trucks; a context manager, for one thread.

    Args:
        trucks: The whole fleet.
        count: Number of processes, at most one per truck.
        at_once: Trucks that offload at the same time, in all processes together.
        patience_s: See `Truck.offload`.
        stop: Ends the wait for results.
    """

    def __init__(
        self, trucks: Sequence[Truck], *, count: int, at_once: int, patience_s: float, stop: Stop
    ) -> None:
        self._shares = [
            Share(trucks[at::count], len(range(at, at_once, count)), patience_s)
            for at in range(count)
        ]
        self._stop = stop
        self._pipes: list[Connection] = []
        self._left = {truck.device_id for truck in trucks}
        self._running = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            for share in self._shares:
                self._begin(share, opened)
            self._running = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes:
            pipe.close()
        self._running.close()

    def order(self, order: Order, tell: Callable[[Told], None]) -> None:
        """Give an order to every truck that has not failed; return after the last result.

        Raises:
            UnavailableError: A process died, or there was a stop.
        """
        waiting = set(self._left)
        for pipe in self._pipes:
            pipe.send(order)
        while waiting:
            ready = wait(self._pipes, _POLL_S)
            for pipe in (each for each in self._pipes if each in ready):
                told = _heard(pipe)
                waiting.discard(told.device_id)
                if told.error:
                    self._left.discard(told.device_id)
                tell(told)
            if self._stop.requested:
                raise UnavailableError(f"stopped: {len(waiting)} trucks did not finish {order}")

    def _begin(self, share: Share, opened: ExitStack) -> None:
        # A fork would copy this process's threads and signal handlers in an unknown state.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, share), name="fleet", daemon=True)
        process.start()
        theirs.close()
        opened.callback(_end, process)
        self._pipes.append(ours)


def _heard(pipe: Connection) -> Told:
    try:
        told: Told = pipe.recv()
    except (EOFError, OSError) as error:
        raise UnavailableError("a process of the fleet died") from error
    return told


def _end(process: SpawnProcess) -> None:
    process.join(END_TIMEOUT_S)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()
