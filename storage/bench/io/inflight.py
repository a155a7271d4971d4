"""A bare loop over the Cassandra driver: a fixed number of requests in flight."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cassandra.cluster import ResponseFuture

from contracts.errors import UnavailableError

Rows = Sequence[tuple[Any, ...]]


def _ignore(_: int, __: Rows) -> None:
    """Drop an answer."""


def keep_in_flight(
    count: int,
    in_flight: int,
    send: Callable[[int], ResponseFuture],
    on_answer: Callable[[int, Rows], None] = _ignore,
) -> float:
    """Send requests 0 to count - 1; return the seconds until all are answered.

    Args:
        count: Number of requests.
        in_flight: Requests at once.
        send: Sends the request with a number.
        on_answer: Called in the driver's own thread with each answer, before the next is sent.

    Raises:
        UnavailableError: A request failed; no further ones were sent.
    """
    room, failures = threading.Semaphore(in_flight), list[Exception]()

    def done(number: int, rows: Rows | None) -> None:
        try:
            on_answer(number, rows or ())
        finally:
            room.release()

    def failed(error: Exception) -> None:
        failures.append(error)
        room.release()

    start_s, sent = time.monotonic(), 0
    while sent < count and not failures:
        room.acquire()
        send(sent).add_callbacks(partial(done, sent), failed)
        sent += 1
    for _ in range(in_flight):
        room.acquire()
    if failures:
        raise UnavailableError(f"the bare loop failed: {failures[0]!r}") from failures[0]
    return time.monotonic() - start_s
