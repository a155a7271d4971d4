"""Common parts of all answers: query parameters, links, paging, the JSON around the data.

Source: Sawtooth 1.2, REST API specification; recorded answers.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Self, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response

from contracts.keys import is_signature
from contracts.ledger.rest import errors
from contracts.ledger.rest.views import Json

DEFAULT_PAGE: Final = 100
PAGE_MAX: Final = 1_000
PAGE_BYTES: Final = 8 << 20
"""A page ends early once its items, serialised, exceed this."""
ANSWER_BYTES_MAX: Final = 32 << 20
"""Items of an answer without pages, serialised as stored."""
IDS_MAX: Final = 1_000
_INT32_MAX: Final = (1 << 31) - 1
_LAYOUT: Final = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
_HEADERS: Final = "latin-1"
_FORWARDED: Final = {
    key: re.compile(rf"(?<={key}=).+?(?=[\s,;]|$)", re.IGNORECASE)
    for key in ("proto", "host", "path")
}


Item = TypeVar("Item")


class JsonResponse(Response):
    """JSON in Sawtooth's layout."""

    media_type = "application/json; charset=utf-8"

    def __init__(self, content: Json, status_code: int = 200) -> None:
        super().__init__(orjson.dumps(content, option=_LAYOUT), status_code)


def error_response(error: errors.ApiError) -> Response:
    """Return the answer for `error`."""
    kind = error.kind
    body = {
        "error": {"code": kind.code, "message": kind.message + error.detail, "title": kind.title}
    }
    # The detail may quote a JSON body, and so hold half of a surrogate pair, which UTF-8 cannot
    # represent; this encoder escapes it as the client did.
    text = json.dumps(body, indent=2, separators=(",", ": "), sort_keys=True)
    return Response(text, kind.status, media_type=JsonResponse.media_type)


def content_type(request: Request) -> str:
    """Return the media type of the body, with parameters."""
    return request.headers.get("content-type", "").strip(" \t")


def queries(request: Request) -> dict[str, str]:
    """Return the query parameters; if a name is repeated, the first one counts."""
    first: dict[str, str] = {}
    if not request.scope["query_string"]:
        return first  # as in every POST of batches; parsing nothing takes 4 µs
    for key, value in request.query_params.multi_items():
        first.setdefault(key, value)
    return first


def check_id(name: str) -> str:
    """Return `name` if it has the form of an id, 128 hexadecimal digits.

    Raises:
        ApiError: It has another form.
    """
    if not is_signature(name):
        raise errors.BAD_ID.error(name)
    return name


def check_ids(names: Sequence[str]) -> list[str]:
    """Return `names` if all of them are ids, and not too many.

    Raises:
        ApiError: One is malformed, or there are too many.
    """
    if len(names) > IDS_MAX:
        raise errors.TOO_MANY_IDS.error(str(IDS_MAX))
    return [check_id(name) for name in names]


def filter_ids(request: Request) -> list[str] | None:
    """Return the ids in the `id` parameter.

    Raises:
        ApiError: One is malformed.
    """
    query = queries(request).get("id")
    return None if query is None else check_ids(query.split(","))


def head_id(request: Request) -> str | None:
    """Return the `head` parameter.

    Raises:
        ApiError: It is malformed.
    """
    head = queries(request).get("head")
    return None if head is None else check_id(head)


def is_reverse(request: Request, key: str) -> bool:
    """Say whether the `reverse` parameter asks for the other order.

    Args:
        request: The request.
        key: The only sort key of the resource.

    Raises:
        ApiError: It names another key.
    """
    reverse = queries(request).get("reverse", "false")
    if reverse.lower() == "false":
        return False
    if reverse not in ("", key):
        raise errors.BAD_SORT.error()
    return True


def link(request: Request, path: str | None = None, **changes: str | int | None) -> str:
    """Return the URL of this request with other parameters.

    Args:
        request: The request.
        path: Another path.
        changes: Parameters to change; None keeps a parameter.
    """
    news = {key: value for key, value in changes.items() if value is not None}
    values = {**queries(request), **news}
    order: list[str] = [key for key in ("head", "start", "limit") if key in values]
    order += sorted(values.keys() - {"head", "start", "limit"})
    pairs = [key if values[key] == "" else f"{key}={values[key]}" for key in order]
    headers = dict(reversed(request.scope["headers"]))  # if one is repeated, the first one counts
    scheme = _forwarded(headers, "proto") or request.scope["scheme"]
    host = _forwarded(headers, "host") or headers.get(b"host", b"").decode(_HEADERS)
    query = "?" + "&".join(pairs) if pairs else ""
    return f"{scheme}://{host}{_forwarded(headers, 'path')}{path or request.url.path}{query}"


@dataclass(frozen=True, slots=True)
class Paging:
    """The requested part of a list.

    Attributes:
        start: The `start` parameter, as given.
        limit: The `limit` parameter, as given.
    """

    start: str | None
    limit: int | None

    @classmethod
    def of(cls, request: Request) -> Self:
        """Read the parameters.

        Raises:
            ApiError: The limit is not a positive integer.
        """
        values = queries(request)
        limit = values.get("limit")
        if limit is None:
            return cls(values.get("start"), None)
        try:
            number = int(limit)
        except ValueError as error:
            raise errors.BAD_COUNT.error() from error
        if not 0 < number <= _INT32_MAX:
            raise errors.BAD_COUNT.error()
        return cls(values.get("start"), number)

    @property
    def count(self) -> int:
        """Return the most items of a page."""
        return min(self.limit or DEFAULT_PAGE, PAGE_MAX)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Part of a list.

    Attributes:
        items: The items, as shown.
        start: Name of the first item; empty without items, or if the client named ids.
        limit: The most items on the page; 0 in the same two cases.
        next: Name of the next page's first item.
    """

    items: list[Item]
    start: str
    limit: int
    next: str | None


def cut(named: Iterable[tuple[str, int, Item]], limit: int) -> Page[Item]:
    """Return the first page of `named`, tuples of name, size in bytes and item as shown."""
    items: list[Item] = []
    start, size = "", 0
    for name, length, item in named:
        if len(items) == limit or size > PAGE_BYTES:
            return Page(items, start, limit, name)
        start = start or name
        size += length
        items.append(item)
    return Page(items, start, limit if items else 0, None)


def whole(sized: Iterable[tuple[int, Item]]) -> list[Item]:
    """Return all items of `sized`, pairs of size in bytes and item as shown.

    Raises:
        ApiError: Together they are too large for one answer.
    """
    items: list[Item] = []
    size = 0
    for length, item in sized:
        size += length
        if size > ANSWER_BYTES_MAX:
            raise errors.ANSWER_TOO_LARGE.error(str(ANSWER_BYTES_MAX))
        items.append(item)
    return items


def page_response(request: Request, head: str, paging: Paging, page: Page[Json]) -> JsonResponse:
    """Return the answer with one page of a list."""
    shown: dict[str, Json] = {"limit": paging.limit, "start": paging.start}
    if page.next is not None:
        shown["next_position"] = page.next
        shown["next"] = link(request, head=head, limit=paging.limit, start=page.next)
    return JsonResponse(
        {
            "data": page.items,
            "head": head,
            "link": link(request, head=head, start=page.start, limit=page.limit),
            "paging": shown,
        }
    )


def one_response(request: Request, data: Json, head: str | None = None) -> JsonResponse:
    """Return the answer with one resource."""
    envelope: dict[str, Json] = {"data": data, "link": link(request, head=head)}
    if head is not None:
        envelope["head"] = head
    return JsonResponse(envelope)


def _forwarded(headers: Mapping[bytes, bytes], key: str) -> str:
    """Return what a proxy sent for `key` (RFC 7239, or the older X-Forwarded headers)."""
    forwarded = headers.get(b"forwarded", b"").decode(_HEADERS)
    match = _FORWARDED[key].search(forwarded) if forwarded else None
    if match is None:
        return headers.get(b"x-forwarded-%b" % key.encode(), b"").decode(_HEADERS)
    value = match.group(0)
    return value[1:-1] if value[0] == value[-1] == '"' else value
