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
_Time = Annotated[str | None, WithJsonSchema({"type": "string", "format": "date-time"})]


async def _span(
    order: Ordered = Order.OLDEST,
    begin: Annotated[_Time, Query(alias="from", description="no item before this time")] = None,
    end: Annotated[_Time, Query(alias="to", description="only items before this time")] = None,
) -> Span:
    span = Span(order is Order.NEWEST, _ms("from", begin, 0), _ms("to", end, EVERYTHING.to_ms))
    if span.from_ms >= span.to_ms:
        raise RejectedError(f"query: from must be before to, got {begin!r} and {end!r}")
    return span


def _ms(name: str, text: str | None, default: int) -> int:
    try:
        return default if text is None else parse_rfc3339(text)
    except RejectedError as error:
        raise RejectedError(f"query.{name}: {error}") from error


Spanned = Annotated[Span, Depends(_span)]
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
