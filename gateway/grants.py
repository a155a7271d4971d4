"""What a reader may see: grants, each of one party, delivery, trip or lot."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import quote, unquote

from contracts.errors import RejectedError
from contracts.text import quoted

GRANTS_MAX: Final = 100
"""Grants of one token or person."""
_SHOWN: Final = "party:ID, delivery:ID, trip:ID or lot:GTIN/LOT"


class GrantKind(StrEnum):
    """What a grant is of."""

    PARTY = "party"
    """What a party takes part in, and what it touched."""
    DELIVERY = "delivery"
    TRIP = "trip"
    LOT = "lot"


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """The right to see one thing, and what belongs to it.

    Attributes:
        kind: What it is of.
        name: Its id; for a lot, GTIN, slash, lot.
    """

    kind: GrantKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def lot(self) -> tuple[str, str]:
        """Return GTIN and lot of a grant of a lot."""
        gtin, _, lot = self.name.partition("/")
        return gtin, lot


Grants = frozenset[Grant]


def parse_grants(words: Iterable[str]) -> Grants:
    """Return the grants that a command names, such as `party:dairy`.

    Raises:
        RejectedError: One has no known form, or there are too many.
    """
    found = frozenset(map(_parsed, words))
    if not 0 < len(found) <= GRANTS_MAX:
        raise RejectedError(f"expected 1 to {GRANTS_MAX} grants, got {len(found)}")
    return found


def _parsed(word: str) -> Grant:
    kind, separator, name = word.partition(":")
    known = kind in set(GrantKind) and separator and name
    if not known or (kind == GrantKind.LOT and not all(name.partition("/")[::2])):
        raise RejectedError(f"grant: expected {_SHOWN}, got {quoted(word)}")
    return Grant(GrantKind(kind), name)


def grants_text(grants: Grants) -> str:
    """Return grants as a file keeps them; a lot may have any sign in it."""
    return " ".join(quote(str(each), safe=":/") for each in sorted(grants))


def granted(text: str | None) -> Grants | None:
    """Return the grants that a file keeps; None if it keeps none: then everything may be seen.

    Raises:
        ValueError: They are malformed.
    """
    if text is None:
        return None
    try:
        return parse_grants(unquote(each) for each in text.split())
    except RejectedError as error:
        raise ValueError(str(error)) from error
