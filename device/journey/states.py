"""The journey: a state machine driven by the presence of a site's network, and by hand.

    docked -> departing -> on the road -> arriving -> offloading -> docked

A truck records while it is on the road or arriving, and offloads otherwise. A change of presence
counts only after it has lasted: a dead spot in a yard ends no trip. Source: papers/002, where a
truck records from the moment when it leaves the site's Wi-Fi, and offloads when it meets one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where the truck is; the values are shown to people and stand in `journey.json`."""

    DOCKED = "docked"
    """At a site; everything is offloaded, or nothing was recorded."""
    DEPARTING = "departing"
    """No site's network is there since a moment; it may come back."""
    ON_THE_ROAD = "on the road"
    """Away: a trip is recorded."""
    ARRIVING = "arriving"
    """A site's network is there since a moment; it may be one that the truck passes."""
    OFFLOADING = "offloading"
    """At a site; the trip is sealed and goes to the gateway."""


class Command(StrEnum):
    """What a person says of the journey, whatever the network shows."""

    DEPART = "depart"
    ARRIVE = "arrive"


RECORDING: Final = frozenset({State.ON_THE_ROAD, State.ARRIVING})
"""States in which a trip is recorded."""
AT_SITE: Final = frozenset({State.DOCKED, State.OFFLOADING})
"""States in which the truck stands at a site."""
_STEPS: Final[Mapping[tuple[State, bool], tuple[State, bool]]] = {
    (State.DOCKED, False): (State.DEPARTING, False),
    (State.DEPARTING, True): (State.OFFLOADING, False),
    (State.DEPARTING, False): (State.ON_THE_ROAD, True),
    (State.ON_THE_ROAD, True): (State.ARRIVING, False),
    (State.ARRIVING, False): (State.ON_THE_ROAD, False),
    (State.ARRIVING, True): (State.OFFLOADING, True),
    (State.OFFLOADING, False): (State.DEPARTING, False),
}
"""From a state, with a site's network or without: the next state, and whether that has to last."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known at one moment.

    Attributes:
        present: Whether a site's network is there; None if nobody can say.
        order: What a person said since the moment before.
        all_receipted: Whether nothing waits for an offload; None if that is not known.
    """

    present: bool | None
    order: Command | None = None
    all_receipted: bool | None = None


@dataclass(frozen=True, slots=True)
class Journey:
    """The truck's journey at one moment.

    Attributes:
        state: Where it is.
        since_s: Monotonic time at which the state, or the presence in it, began; None: since the
            device started.
        by_hand: A person ordered the state. Presence counts again once it agrees with the order.
    """

    state: State
    since_s: float | None = None
    by_hand: bool = False

    def step(self, seen: Seen, now_s: float, debounce_s: float) -> "Journey":
        """Return the journey after what was seen.

        Args:
            seen: What is known now. An unknown presence changes nothing.
            now_s: Monotonic time.
            debounce_s: How long a change of presence has to last.
        """
        journey = self._moved(seen, now_s, debounce_s)
        if journey.state not in AT_SITE or seen.all_receipted is None:
            return journey
        state = State.DOCKED if seen.all_receipted else State.OFFLOADING
        return journey if state is journey.state else replace(journey, state=state, since_s=now_s)

    def _moved(self, seen: Seen, now_s: float, debounce_s: float) -> "Journey":
        if seen.order is not None:
            return self._ordered(seen.order, now_s)
        if seen.present is None:
            return self
        if self.by_hand:
            agrees = seen.present is (self.state not in RECORDING)
            return replace(self, by_hand=not agrees)
        since_s = now_s if self.since_s is None else self.since_s
        state, must_last = _STEPS.get((self.state, seen.present), (self.state, False))
        if state is self.state or (must_last and now_s - since_s < debounce_s):
            return replace(self, since_s=since_s)
        return Journey(state, now_s)

    def _ordered(self, order: Command, now_s: float) -> "Journey":
        """Return the journey after an order; one that holds already begins nothing again."""
        here = self.state if self.state is State.DOCKED else State.OFFLOADING
        state = State.ON_THE_ROAD if order is Command.DEPART else here
        return Journey(state, self.since_s if state is self.state else now_s, by_hand=True)


FIRST: Final = Journey(State.DOCKED)
"""Of a device that has no journey yet."""
