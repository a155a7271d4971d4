"""Cursor paging over rows that are only added: stable while new ones arrive."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel

from gateway.api.models import Page

PAGE_MAX: Final = 1000
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX, description="items on one page")]
Cursor = Annotated[
    int, Query(ge=0, lt=1 << 63, description="`next_cursor` of the page before; 0 for the first")
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


async def _window(cursor: Cursor = 0, limit: Limit = 100) -> Window:
    return Window(cursor, limit)


Paging = Annotated[Window, Depends(_window)]
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
