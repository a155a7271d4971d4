"""The bounds of an HTTP server's connections: in time in every state, and in number.

A full server gives a newcomer the place of the connection that waits for its
client longest, at the address with the most connections. So connections that
say nothing, or half of something, keep no honest client out.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address
from itertools import chain
from typing import Final, Protocol

CONNECTIONS_MAX: Final = 1_000
PER_ADDRESS_MAX: Final = 500
"""Connections of one IPv4 address, or of one IPv6 network of 64 bits."""
HEAD_TIMEOUT_S: Final = 20.0
"""Time for a client to send a request's head, seconds."""
BODY_RATE_MIN: Final = 2_000
"""Bytes per second that a body must bring, and that a client must take of an answer."""
BODY_TIMEOUT_S: Final = 30.0
"""Time over which a body's rate is measured, seconds; a shorter rest must come within it."""
UNREAD_TIMEOUT_S: Final = 300.0
"""The same for an answer, seconds. A video player that pauses reads nothing, and asks again."""
KEEP_ALIVE_TIMEOUT_S: Final = 75
GOODBYE_S: Final = 2.0
"""Time for answers to finish once the server is told to stop, seconds."""
LINGER_TIMEOUT_S: Final = 30.0
"""Time for a client to take the rest of an answer once its connection is closed, seconds."""
CHECK_EVERY_S: Final = 1.0
LOG_EVERY_S: Final = 60.0

_log = logging.getLogger(__name__)


class Ending(StrEnum):
    """Why a connection was ended before its client was done."""

    HEAD = "slow-head"
    BODY = "slow-body"
    UNREAD = "answer-not-read"
    DISPLACED = "displaced"
    REFUSED = "refused"


class Phase(StrEnum):
    """What a connection waits for."""

    NEXT = "the client's next request"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    ANSWER = "our answer"
    SOCKET = "messages of a WebSocket"


_DISPLACEABLE: Final = ((Phase.NEXT, Phase.HEAD), (Phase.BODY,))
"""Phases in which a connection may give up its place, the ones to take first at the front."""
ANSWER_PATIENCE_S: Final = 30.0
"""Time, seconds, after which also a request that is being answered may give up its place."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one server.

    Attributes:
        connections: Connections, together.
        per_address: Connections of one address.
        head_s: Time for a request's head, seconds.
        rate: Least bytes per second, of bodies and of answers on their way.
        body_s: Time over which a body's rate is measured, seconds.
        unread_s: The same for an answer, seconds.
        keep_alive_s: Time between two requests, seconds.
    """

    connections: int = CONNECTIONS_MAX
    per_address: int = PER_ADDRESS_MAX
    head_s: float = HEAD_TIMEOUT_S
    rate: int = BODY_RATE_MIN
    body_s: float = BODY_TIMEOUT_S
    unread_s: float = UNREAD_TIMEOUT_S
    keep_alive_s: int = KEEP_ALIVE_TIMEOUT_S


class Guarded(Protocol):
    """A connection, as the doors see it."""

    @property
    def address(self) -> str:
        """Return its client's address; empty if unknown."""
        ...

    @property
    def phase(self) -> Phase:
        """Return what it waits for."""
        ...

    @property
    def since_s(self) -> float:
        """Return since when, event loop time in seconds; or since the last measurement."""
        ...

    def overdue(self, now_s: float) -> Ending | None:
        """Return why it is to end by now, if it is."""
        ...

    def end(self, why: Ending) -> None:
        """End it; with DISPLACED at once."""
        ...


class Doors:
    """Counts a server's connections and ends those beyond its bounds; for one event loop.

    Args:
        bounds: The limits.
        ended: Called for every connection that was ended, with the reason.
        headers: Lines, each with CR LF, that the server's own answers have: 400, 408 and 503.
    """

    def __init__(
        self,
        bounds: Bounds,
        ended: Callable[[Ending], None] = lambda _: None,
        headers: bytes = b"",
    ) -> None:
        self.bounds = bounds
        self.headers = headers
        self._ended = ended
        self._places: dict[str, dict[Guarded, Phase]] = {}
        self._count = 0
        self._untold: Counter[Ending] = Counter()
        self._last_address = ""
        self._told_s = -LOG_EVERY_S
        self._next: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """Return the number of open connections."""
        return self._count

    def open(self) -> None:
        """Begin to look after connections; from the event loop."""
        shortest_s = min(self.bounds.head_s, self.bounds.body_s, self.bounds.unread_s)
        self._look_again(asyncio.get_running_loop(), min(CHECK_EVERY_S, shortest_s / 4))

    def close(self) -> None:
        """Stop looking after them."""
        if self._next is not None:
            self._next.cancel()

    def enter(self, connection: Guarded) -> bool:
        """Take a new connection in, in place of another if need be; say whether it may stay."""
        place = network_of(connection.address)
        while not self._has_room(place):
            displaced = self._displaced(place)
            if displaced is None:
                self._note(Ending.REFUSED, connection)
                return False
            self._end(displaced, Ending.DISPLACED)
            self.leave(displaced)
        self._places.setdefault(place, {})[connection] = connection.phase
        self._count += 1
        return True

    def moved(self, connection: Guarded) -> None:
        """Note that a connection waits for something else, or made progress: it is the newest."""
        those = self._places.get(network_of(connection.address), {})
        if those.pop(connection, None) is not None:
            those[connection] = connection.phase

    def leave(self, connection: Guarded) -> None:
        """Forget a connection; one that never entered, or left before, changes nothing."""
        place = network_of(connection.address)
        those = self._places.get(place, {})
        if those.pop(connection, None) is not None:
            self._count -= 1
            if not those:
                del self._places[place]

    def _has_room(self, place: str) -> bool:
        own = len(self._places.get(place, ()))
        return own < self.bounds.per_address and self._count < self.bounds.connections

    def _displaced(self, place: str) -> Guarded | None:
        """Return the connection that must give up its place, if any may."""
        if len(self._places.get(place, ())) >= self.bounds.per_address:
            crowds = [self._places[place]]
        else:
            crowds = sorted(self._places.values(), key=len, reverse=True)
        for phases in _DISPLACEABLE:
            for crowd in crowds:
                found = next((each for each, phase in crowd.items() if phase in phases), None)
                if found is not None:
                    return found
        return self._longest_answered(place, crowds[0])

    def _longest_answered(self, place: str, crowd: dict[Guarded, Phase]) -> Guarded | None:
        """Return the request that has been answered for longest, if its address has more than ours.

        It may be one of many that wait for an event, or take a long answer slowly.
        """
        own = self._places.get(place, {})
        found = next((each for each, phase in crowd.items() if phase is Phase.ANSWER), None)
        if found is None or (crowd is not own and len(crowd) <= len(own) + 1):
            return None
        now_s = asyncio.get_running_loop().time()
        return found if now_s - found.since_s >= ANSWER_PATIENCE_S else None

    def _look_again(self, loop: asyncio.AbstractEventLoop, every_s: float) -> None:
        now_s = loop.time()
        for connection in list(chain.from_iterable(self._places.values())):
            why = connection.overdue(now_s)
            if why is not None:
                self._end(connection, why)
        self._tell(now_s)
        self._next = loop.call_later(every_s, self._look_again, loop, every_s)

    def _end(self, connection: Guarded, why: Ending) -> None:
        self._note(why, connection)
        connection.end(why)

    def _note(self, why: Ending, connection: Guarded) -> None:
        self._ended(why)
        self._untold[why] += 1
        self._last_address = connection.address

    def _tell(self, now_s: float) -> None:
        """Write one line about all that was ended since the last line, now and then."""
        if not self._untold or now_s - self._told_s < LOG_EVERY_S:
            return
        counts = ", ".join(f"{count} {why}" for why, count in self._untold.most_common())
        _log.warning(
            "ended connections of clients: %s; the last one from %s; %d are open",
            counts,
            self._last_address or "an unknown address",
            self._count,
        )
        self._untold.clear()
        self._told_s = now_s


@lru_cache(CONNECTIONS_MAX)
def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the first 64 bits of an IPv6 one."""
    if ":" not in address:
        return address
    parsed = IPv6Address(address.partition("%")[0])
    return str(parsed.ipv4_mapped) if parsed.ipv4_mapped else parsed.packed[:8].hex()
