"""What clients of a network did and saw, and what must be true of it whatever failed.

As Jepsen looks at a database: the clients know only what they sent and what they were told. A batch
that a client saw committed must be on every validator's chain, once; and one that was sent only
after another was seen committed must stand behind that one.

Source: Jepsen, "Consistency models"; M. P. Herlihy, J. M. Wing, Linearizability, 1990.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Sent:
    """A batch that a client sent, maybe several times.

    Attributes:
        batch_id: Its id.
        client: Who sent it. A client sends one after the other was committed.
        sent_s: When it was sent first, by the monotonic clock.
        adds: What it adds to the counter that all clients share.
        times: How often it was sent.
        committed_s: When the client was told that it is committed; None if it never was.
    """

    batch_id: str
    client: int
    sent_s: float
    adds: int = 0
    times: int = 0
    committed_s: float | None = None


@dataclass(slots=True)
class History:
    """All that clients sent; each client has a list of its own, so that threads do not meet."""

    sent: dict[int, list[Sent]] = field(default_factory=dict)

    @property
    def all(self) -> list[Sent]:
        """Return what all clients sent."""
        return [each for own in self.sent.values() for each in own]

    @property
    def committed(self) -> list[Sent]:
        """Return what clients saw committed."""
        return [each for each in self.all if each.committed_s is not None]


def check(history: History, chains: Mapping[int, Sequence[str]]) -> list[str]:
    """Return, in words, what must not be.

    Args:
        history: What clients did and saw.
        chains: The ids of all batches on each validator's chain, in order, at the end.
    """
    found: list[str] = []
    (first, chain), *others = chains.items()
    for number, other in others:
        if list(other) != list(chain):
            place = next(
                (at for at, (a, b) in enumerate(zip(chain, other, strict=False)) if a != b),
                min(len(chain), len(other)),
            )
            found.append(f"validators {first} and {number} differ from batch {place} on")
    found += [
        f"doubled: batch {name[:16]} is on the chain {times} times"
        for name, times in Counter(chain).items()
        if times > 1
    ]
    places = {name: at for at, name in enumerate(chain)}
    found += [
        f"lost: client {each.client} saw batch {each.batch_id[:16]} committed"
        for each in history.committed
        if each.batch_id not in places
    ]
    return found + _reordered(history, places)


def _reordered(history: History, places: Mapping[str, int]) -> list[str]:
    """Return batches that stand before one which was seen committed before they were sent."""
    found: list[str] = []
    there = [each for each in history.all if each.batch_id in places]
    seen = sorted(
        (each.committed_s, places[each.batch_id], each.batch_id)
        for each in there
        if each.committed_s is not None
    )
    last, behind, at = -1, "", 0
    for each in sorted(there, key=lambda sent: sent.sent_s):
        while at < len(seen) and seen[at][0] < each.sent_s:
            if seen[at][1] > last:
                _, last, behind = seen[at]
            at += 1
        if places[each.batch_id] < last:
            found.append(
                f"reordered: batch {each.batch_id[:16]} of client {each.client} stands before "
                f"{behind[:16]}, which was seen committed before it was sent"
            )
    return found
