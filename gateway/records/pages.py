"""Answers that come page by page. Rows are only added, so a page stays as it is."""

from collections.abc import Callable
from typing import Any, TypeVar

from gateway.index.store import IndexStore

T = TypeVar("T")
Listed = list[tuple[int, T]]
"""Items in order, each with its place. The place of the last one asks for the next page."""


def listed(
    index: IndexStore,
    sql: str,
    values: tuple[object, ...],
    read: Callable[..., T],
    *,
    after: int,
    count: int,
) -> Listed[T]:
    """Return one page of a question's rows.

    Args:
        index: The index to ask.
        sql: The question. Its first column is named `at` and grows from row to row.
        values: For the placeholders in `sql`.
        read: Makes an item from a row's other columns.
        after: The place after which the page begins; 0 begins with the first row.
        count: Items on the page, at most.
    """
    question = f"SELECT * FROM ({sql}) WHERE at > ? ORDER BY at LIMIT ?"  # noqa: S608
    rows: list[tuple[Any, ...]] = index.query(question, *values, after, count)
    return [(row[0], read(*row[1:])) for row in rows]
