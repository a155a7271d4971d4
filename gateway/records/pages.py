"""Answers that come page by page. Rows are only added, so a page stays as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from contracts.errors import RejectedError
from gateway.index.store import IndexStore

T = TypeVar("T")
Listed = list[tuple[int, T]]
"""Items in order, each with its place. The place of the last one asks for the next page."""
_NO_PLACE: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Span:
    """Which items of a list are asked for, and in which order: those that overlap a time.

    Attributes:
        newest_first: The list begins at its end.
        from_ms: No item that ended before this time, milliseconds since the Unix epoch.
        to_ms: No item that began at this time or later.
    """

    newest_first: bool = False
    from_ms: int = 0
    to_ms: int = _NO_PLACE


EVERYTHING: Final = Span()
# What has not ended overlaps everything after its beginning.
_OVERLAPS: Final = f"utc_ms < ? AND ifnull(until_ms, {_NO_PLACE}) >= ?"


def listed(
    index: IndexStore,
    sql: str,
    values: tuple[object, ...],
    read: Callable[..., T],
    *,
    after: int,
    count: int,
    newest_first: bool = False,
    of_trip: str | None = None,
) -> Listed[T]:
    """Return one page of a question's rows.

    Args:
        index: The index to ask.
        sql: The question. Its first column is named `at` and grows from row to row.
        values: For the placeholders in `sql`.
        read: Makes an item from a row's other columns.
        after: The place after which the page begins; 0 begins with the first row.
        count: Items on the page, at most.
        newest_first: The last row is the first.
        of_trip: The trip about whose readings `sql` asks, if it asks about readings.
    """
    where = "at < ? ORDER BY at DESC" if newest_first else "at > ? ORDER BY at"
    begin = (after or _NO_PLACE) if newest_first else after
    question = f"SELECT * FROM ({sql}) WHERE {where} LIMIT ?"  # noqa: S608
    bound = (*values, begin, count)
    rows: list[tuple[Any, ...]] = (
        index.query(question, *bound)
        if of_trip is None
        else index.of_trip(of_trip, question, *bound)
    )
    return [(row[0], read(*row[1:])) for row in rows]


def listed_within(
    index: IndexStore,
    sql: str,
    values: tuple[object, ...],
    read: Callable[..., T],
    *,
    after: int,
    count: int,
    span: Span,
    of_trip: str | None = None,
) -> Listed[T]:
    """Return one page of the rows that overlap a span, in the order of their places.

    The arguments are those of `listed`; the second and third column of `sql` are named `utc_ms`,
    when the item began, and `until_ms`, its last moment or NULL. `read` does not take these two.
    """
    within = f"SELECT * FROM ({sql}) WHERE {_OVERLAPS}"  # noqa: S608
    return listed(
        index,
        within,
        (*values, span.to_ms, span.from_ms),
        lambda _began, _ended, *rest: read(*rest),
        after=after,
        count=count,
        newest_first=span.newest_first,
        of_trip=of_trip,
    )


def listed_by_time(
    index: IndexStore,
    sql: str,
    values: tuple[object, ...],
    read: Callable[..., T],
    *,
    after: int,
    count: int,
    span: Span,
) -> Listed[T]:
    """Return one page of the rows that overlap a span, in the order of `utc_ms`, then of place.

    The arguments are those of `listed_within`.

    Raises:
        RejectedError: No row has the place `after`.
    """
    start: tuple[object, ...] = ()
    where, way, follows = "", ("DESC" if span.newest_first else "ASC"), "<>"[not span.newest_first]
    if after:
        found = index.query(f"SELECT utc_ms, at FROM ({sql}) WHERE at = ?", *values, after)  # noqa: S608
        if not found:
            raise RejectedError(f"cursor {after} is of another list, or was undone by a fork")
        where, start = f"AND (utc_ms, at) {follows} (?, ?)", found[0]
    question = (
        f"SELECT * FROM ({sql}) WHERE {_OVERLAPS} {where}"  # noqa: S608
        f" ORDER BY utc_ms {way}, at {way} LIMIT ?"
    )
    rows: list[tuple[Any, ...]] = index.query(
        question, *values, span.to_ms, span.from_ms, *start, count
    )
    return [(row[0], read(*row[3:])) for row in rows]
