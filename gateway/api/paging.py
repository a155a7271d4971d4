"""Cursor paging over rows that are only added: stable while new ones arrive."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Query
from pydantic import AfterValidator, BaseModel, WithJsonSchema

from contracts.errors import RejectedError
from contracts.records.clock import parse_rfc3339
from gateway.api.models import Page
from gateway.records.pages import EVERYTHING, Span

PAGE_MAX: Final = 1000
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX, description="items on one page")]
_LAST_PLACE: Final = (1 << 63) - 1


def _known_place(cursor: str) -> str:
    if int(cursor) > _LAST_PLACE:
        raise ValueError(f"expected at most {_LAST_PLACE}")
    return cursor


Cursor = Annotated[
    str,
    Query(pattern="^[0-9]{1,19}$", description="`next_cursor` of the page before; 0: the first"),
    AfterValidator(_known_place),
]


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list that a page shows.

    Attributes:
        cursor: The place of the last item on the page before.
        limit: Items on the page.
    """

    cursor: int
    limit: int


def _window_of(limit_default: int) -> Callable[..., Awaitable[Window]]:
    async def window(cursor: Cursor = "0", limit: Limit = limit_default) -> Window:
        return Window(int(cursor), limit)

    return window


Paging = Annotated[Window, Depends(_window_of(100))]
LongPaging = Annotated[Window, Depends(_window_of(500))]
"""For items that are small and many."""


class Order(StrEnum):
    """The order of a list."""

    OLDEST = "oldest"
    NEWEST = "newest"


Ordered = Annotated[Order, Query(alias="order", description="which item comes first")]
Time = Annotated[str | None, WithJsonSchema({"type": "string", "format": "date-time"})]


def _span_of(from_words: str, to_words: str) -> Callable[..., Awaitable[Span]]:
    async def span(
        order: Ordered = Order.OLDEST,
        begin: Annotated[Time, Query(alias="from", description=from_words)] = None,
        end: Annotated[Time, Query(alias="to", description=to_words)] = None,
    ) -> Span:
        return span_between(begin, end, newest_first=order is Order.NEWEST)

    return span


def span_between(begin: str | None, end: str | None, *, newest_first: bool = False) -> Span:
    """Return the span that the query's `from` and `to` name.

    Raises:
        RejectedError: Not RFC 3339, or `from` is not before `to`.
    """
    asked = Span(newest_first, _ms("from", begin, 0), _ms("to", end, EVERYTHING.to_ms))
    if asked.from_ms >= asked.to_ms:
        raise RejectedError(f"query: from must be before to, got {begin!r} and {end!r}")
    return asked


def _ms(name: str, text: str | None, default: int) -> int:
    try:
        return default if text is None else parse_rfc3339(text)
    except RejectedError as error:
        hint = "; in a query write the plus of the zone as %2B" if _lost_its_plus(text) else ""
        raise RejectedError(f"query.{name}: {error}{hint}") from error


def _lost_its_plus(text: str | None) -> bool:
    """Say whether a time would be one with a plus for its blank: a query's plus means a blank."""
    try:
        parse_rfc3339("+".join((text or "").rsplit(" ", 1)))
    except RejectedError:
        return False
    return True


Spanned = Annotated[
    Span, Depends(_span_of("no reading before this time", "only readings before this time"))
]
Overlapping = Annotated[
    Span,
    Depends(
        _span_of(
            "only what overlaps the time from here on: what has ended before is left out",
            "only what overlaps the time before: what began at this time or later is left out",
        )
    ),
]
"""For items that last, such as trips and breaches."""
_ItemT = TypeVar("_ItemT")
_ModelT = TypeVar("_ModelT", bound=BaseModel)


def page_of(
    ask: Callable[[int, int], Sequence[tuple[int, _ItemT]]],
    view: Callable[[_ItemT], _ModelT],
    window: Window,
) -> Page[_ModelT]:
    """Return one page of a question's items.

    Args:
        ask: Takes a place and a count; returns up to that many items that follow the place, each
            with its own place.
        view: Makes the shown model from an item.
        window: Where the page begins, and how long it is.
    """
    limit = window.limit
    found = ask(window.cursor, limit + 1)
    more = str(found[limit - 1][0]) if len(found) > limit else None
    return Page(items=[view(item) for _, item in found[:limit]], next_cursor=more)
