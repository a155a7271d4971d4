"""Cursor paging over rows that are only added: stable while new ones arrive."""

from collections.abc import Callable
from typing import Annotated, Any, Final, Protocol, TypeVar

from fastapi import Query
from pydantic import BaseModel

from gateway.api.models import Page

PAGE_MAX: Final = 1000
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX, description="items on one page")]
Cursor = Annotated[
    int, Query(ge=0, lt=1 << 63, description="`next_cursor` of the page before; 0 for the first")
]
_ModelT = TypeVar("_ModelT", bound=BaseModel)


class Store(Protocol):
    """A file of rows."""

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a question."""
        ...


def page_of(  # a page is a question with a place and a length
    store: Store,
    sql: str,
    values: tuple[object, ...],
    *,
    cursor: int,
    limit: int,
    view: Callable[[tuple[Any, ...]], _ModelT],
) -> Page[_ModelT]:
    """Return one page of a question whose first column grows from row to row.

    Args:
        store: The index, or another file with numbered rows.
        sql: The question; ends in a WHERE clause that `AND`, order and limit are added to. The
            name of its first column is `at`.
        values: For the question's marks.
        cursor: The last `at` of the page before.
        limit: Items on the page.
        view: Makes an item of a row without `at`.
    """
    question = f"SELECT * FROM ({sql}) WHERE at > ? ORDER BY at LIMIT ?"  # noqa: S608
    rows = store.query(question, *values, cursor, limit + 1)
    more = str(rows[limit - 1][0]) if len(rows) > limit else None
    return Page(items=[view(row[1:]) for row in rows[:limit]], next_cursor=more)
