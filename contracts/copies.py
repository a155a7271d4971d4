"""Where a recording rests, in words that receipts, manifests and policies share.

A copy is whole: every byte of the recording is durable there. A policy lists
what must exist before a truck may delete its own.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contracts.errors import RejectedError

COPY_TEXT_MAX: Final = 64
REQUIREMENTS_MAX: Final = 4
"""More than there are kinds of copies; what each lacks must fit into a receipt's message."""
FSYNC: Final = "fsync"
"""Durability of what one machine wrote to its own medium and synced."""

_TEXT: Final = re.compile(r"(volume|blobs):([a-z0-9][a-z0-9+-]{0,31}):(\S+)")

_AT_LEAST: Final = {
    "ONE": {"ONE", "TWO", "THREE", "QUORUM", "EACH_QUORUM", "LOCAL_QUORUM", "LOCAL_ONE", "ALL"},
    "TWO": {"TWO", "THREE", "ALL"},
    "THREE": {"THREE", "ALL"},
    "LOCAL_ONE": {"LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM", "ALL"},
    "LOCAL_QUORUM": {"LOCAL_QUORUM", "EACH_QUORUM", "ALL"},
    "QUORUM": {"QUORUM", "EACH_QUORUM", "ALL"},
    "EACH_QUORUM": {"EACH_QUORUM", "ALL"},
    "ALL": {"ALL"},
}
"""By consistency level, those that acknowledge no less, however many replicas there are."""

CONSISTENCY_LEVELS: Final = tuple(_AT_LEAST)


class Place(StrEnum):
    """What kind of copy."""

    VOLUME = "volume"
    BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Copy:
    """One whole copy of a recording.

    Attributes:
        place: A whole file on a volume, or blobs in a blob store.
        name: The volume's, or the blob store's.
        durability: `fsync`, a Cassandra consistency level, or both joined by `+`.

    Raises:
        RejectedError: Its text would not have the form that `parse` reads.
    """

    place: Place
    name: str
    durability: str

    def __post_init__(self) -> None:
        """Check the form, so that every copy can be written down."""
        if len(str(self)) > COPY_TEXT_MAX or not _TEXT.fullmatch(str(self)):
            raise RejectedError(f"copy must be PLACE:NAME:DURABILITY, got {str(self)[:80]!r}")
        _check_durability(self.durability)

    def __str__(self) -> str:
        """Return the form that `parse` reads: `blobs:cassandra:QUORUM`."""
        return f"{self.place}:{self.name}:{self.durability}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a copy.

        Raises:
            RejectedError: Another form.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            raise RejectedError(f"copy must be PLACE:NAME:DURABILITY, got {text[:80]!r}")
        return cls(Place(found[1]), found[2], found[3])


@dataclass(frozen=True, slots=True)
class Requirement:
    """One copy that a policy asks for: `volume`, `blobs`, or `blobs:QUORUM`.

    Attributes:
        place: The kind of copy.
        durability: At least this; empty takes any.
    """

    place: Place
    durability: str = ""

    def __str__(self) -> str:
        """Return the form that settings use."""
        return f"{self.place}:{self.durability}" if self.durability else str(self.place)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a requirement.

        Raises:
            RejectedError: Another form, or an unknown durability.
        """
        place, _, durability = text.partition(":")
        if place not in set(Place) or (":" in text and not durability):
            raise RejectedError(
                f"a required copy is volume, blobs, or one of them with :DURABILITY, "
                f"got {text[:80]!r}"
            )
        if durability:
            _check_durability(durability)
        return cls(Place(place), durability)

    def met_by(self, copy: Copy) -> bool:
        """Say whether a copy is of that kind and at least as durable."""
        if copy.place is not self.place:
            return False
        offered = set(copy.durability.split("+"))
        return all(
            offered & _AT_LEAST.get(wanted, {wanted})
            for wanted in filter(None, self.durability.split("+"))
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """Which copies must exist before the truck's own may go.

    Attributes:
        requirements: All of them must be met.
    """

    requirements: tuple[Requirement, ...]

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Self:
        """Read a policy.

        Raises:
            RejectedError: It asks for nothing, for too much, or in another form.
        """
        if not 1 <= len(texts) <= REQUIREMENTS_MAX:
            raise RejectedError(
                f"a policy asks for 1..{REQUIREMENTS_MAX} copies, got {len(texts) or 'none'}"
            )
        return cls(tuple(map(Requirement.parse, texts)))

    def missing(self, copies: Iterable[Copy]) -> tuple[Requirement, ...]:
        """Return the requirements that no copy meets; none when the policy is met."""
        there = list(copies)
        return tuple(wanted for wanted in self.requirements if not any(map(wanted.met_by, there)))


DEFAULT_POLICY: Final = Policy((Requirement(Place.VOLUME), Requirement(Place.BLOBS)))


def _check_durability(text: str) -> None:
    for word in text.split("+"):
        if word != FSYNC and word not in _AT_LEAST:
            raise RejectedError(
                f"durability must be {FSYNC} or one of {', '.join(_AT_LEAST)}, got {word[:40]!r}"
            )
