"""Copies of a recording, as receipts, manifests and policies name them.

A copy is whole: every byte of the recording is durable there. A policy lists
the copies that must exist before a truck may delete its own.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from contracts.errors import RejectedError

COPY_TEXT_MAX: Final = 64
REQUIREMENTS_MAX: Final = 4
"""Requirements of one policy. What a policy lacks must fit into a receipt's message."""
FSYNC: Final = "fsync"
"""Durability of a copy that one machine wrote to its own medium and synced."""

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
"""For each consistency level, the levels that are at least as strong with any replica count."""

CONSISTENCY_LEVELS: Final = tuple(_AT_LEAST)


class Place(StrEnum):
    """The kind of a copy."""

    VOLUME = "volume"
    BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Copy:
    """One whole copy of a recording.

    Attributes:
        place: A whole file on a volume, or blobs in a blob store.
        name: Name of the volume or the blob store.
        durability: `fsync`, a Cassandra consistency level, or both joined by `+`.

    Raises:
        RejectedError: `parse` could not read its text.
    """

    place: Place
    name: str
    durability: str

    def __post_init__(self) -> None:
        """Check that `parse` can read the copy's text."""
        if len(str(self)) > COPY_TEXT_MAX or not _TEXT.fullmatch(str(self)):
            raise RejectedError(f"copy must be PLACE:NAME:DURABILITY, got {str(self)[:80]!r}")
        _check_durability(self.durability)

    def __str__(self) -> str:
        """Return the text that `parse` reads: `blobs:cassandra:QUORUM`."""
        return f"{self.place}:{self.name}:{self.durability}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a copy.

        Raises:
            RejectedError: The text has another form.
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
        durability: The least durability; empty accepts any.
    """

    place: Place
    durability: str = ""

    def __str__(self) -> str:
        """Return the text that settings use."""
        return f"{self.place}:{self.durability}" if self.durability else str(self.place)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a requirement.

        Raises:
            RejectedError: The text has another form, or an unknown durability.
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
        """Say whether a copy is of this kind and at least as durable."""
        if copy.place is not self.place:
            return False
        offered = set(copy.durability.split("+"))
        return all(
            offered & _AT_LEAST.get(wanted, {wanted})
            for wanted in filter(None, self.durability.split("+"))
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The copies that must exist before a truck may delete its own.

    Attributes:
        requirements: All of them must be met.
    """

    requirements: tuple[Requirement, ...]

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Self:
        """Read a policy.

        Raises:
            RejectedError: No requirement, too many, or one in another form.
        """
        if not 1 <= len(texts) <= REQUIREMENTS_MAX:
            raise RejectedError(
                f"a policy asks for 1..{REQUIREMENTS_MAX} copies, got {len(texts) or 'none'}"
            )
        return cls(tuple(map(Requirement.parse, texts)))

    def missing(self, copies: Iterable[Copy]) -> tuple[Requirement, ...]:
        """Return the requirements that no copy meets; empty when the policy is met."""
        there = list(copies)
        return tuple(wanted for wanted in self.requirements if not any(map(wanted.met_by, there)))


DEFAULT_POLICY: Final = Policy((Requirement(Place.VOLUME), Requirement(Place.BLOBS)))


def _check_durability(text: str) -> None:
    for word in text.split("+"):
        if word != FSYNC and word not in _AT_LEAST:
            raise RejectedError(
                f"durability must be {FSYNC} or one of {', '.join(_AT_LEAST)}, got {word[:40]!r}"
            )
