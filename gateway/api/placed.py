"""Cursor paging over short lists whose items come and go, such as tokens or partial uploads.

Each item has a place of its own, by which the list is ordered. A cursor is the place of the last
item that was answered. So the next part begins behind it, whatever has come or left meanwhile.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel

from gateway.api.models import Page
from gateway.api.paging import PAGE_MAX, Limit

FIRST: Final = "0"
_MARK: Final = "~"
"""Begins every other cursor, so that no place is taken for `FIRST`."""
_ItemT = TypeVar("_ItemT")
_ModelT = TypeVar("_ModelT", bound=BaseModel)

PlacedCursor = Annotated[
    str,
    Query(pattern=f"^({FIRST}|{_MARK}.{{1,400}})$", description="of the part before; 0: the first"),
]


@dataclass(frozen=True, slots=True)
class PlacedWindow:
    """The part of a list that a query names.

    Attributes:
        cursor: Where the part before ended.
        limit: Items in the part; None: all.
    """

    cursor: str
    limit: int | None

    def part(
        self,
        items: Iterable[_ItemT],
        place: Callable[[_ItemT], str],
        *,
        newest_first: bool = False,
    ) -> tuple[list[_ItemT], str | None]:
        """Return the part of a list, and the cursor of the next one; None after the last.

        Args:
            items: The whole list.
            place: What orders it; each item has another one.
            newest_first: The last place comes first.
        """
        ordered = sorted(items, key=place, reverse=newest_first)
        if self.cursor != FIRST:
            end = self.cursor.removeprefix(_MARK)
            ordered = [
                each
                for each in ordered
                if (place(each) < end if newest_first else place(each) > end)
            ]
        part = ordered[: self.limit]
        return part, _MARK + place(part[-1]) if len(part) < len(ordered) else None

    def page(
        self,
        items: Iterable[_ModelT],
        place: Callable[[_ModelT], str],
        *,
        newest_first: bool = False,
    ) -> Page[_ModelT]:
        """Return the part as a page; see `part`."""
        part, following = self.part(items, place, newest_first=newest_first)
        return Page(items=part, next_cursor=following)


async def _window(cursor: PlacedCursor = FIRST, limit: Limit = 100) -> PlacedWindow:
    return PlacedWindow(cursor, limit)


PlacedPaging = Annotated[PlacedWindow, Depends(_window)]


class Parts:
    """Cuts a list that is answered as an array into parts, if its query names a limit.

    An array has no room for a cursor: a header leads to the next part, as in EPCIS.

    Source: RFC 8288, "Web Linking", 3.
    """

    def __init__(
        self,
        request: Request,
        response: Response,
        cursor: PlacedCursor = FIRST,
        limit: Annotated[
            int | None,
            Query(ge=1, le=PAGE_MAX, description="items in one part; all of them without it"),
        ] = None,
    ) -> None:
        self._path = request.url.path
        self._headers = response.headers
        self._window = PlacedWindow(cursor, limit)

    def of(self, items: Iterable[_ItemT], place: Callable[[_ItemT], str]) -> list[_ItemT]:
        """Return the part of a list that the query names; see `PlacedWindow.part`."""
        part, following = self._window.part(items, place)
        if following is not None:
            query = urlencode({"cursor": following, "limit": self._window.limit})
            self._headers["Link"] = f'<{self._path}?{query}>; rel="next"'
        return part


InParts = Annotated[Parts, Depends()]
LINKED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "headers": {
            "Link": {
                "description": 'the next part, with `rel="next"`; absent after the last one',
                "schema": {"type": "string"},
            }
        }
    }
}
"""What the description of a list in parts says of its answer."""


def since(ms: int, *names: str) -> str:
    """Return the place of what is ordered by time: its time, ms since 1970, then its names."""
    return " ".join((f"{ms:015}", *names))
