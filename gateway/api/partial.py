"""Answers with the part of a content that a client wants, for content that its ETag names for good.

Source: RFC 9110, 13.2.2, 14.2, 15.3.7 and 15.5.17.
"""

from dataclasses import dataclass
from http import HTTPStatus

from fastapi.responses import Response

from gateway.api.conditions import Conditions, is_known, is_same, lasting
from gateway.api.problems import problem
from gateway.api.ranges import UnsatisfiableError, parse_range


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes of a content that a client wants.

    Attributes:
        etag: Of the content.
        size: Of the whole content.
        start: The first byte.
        stop: The byte after the last.
    """

    etag: str
    size: int
    start: int
    stop: int

    @property
    def status(self) -> HTTPStatus:
        """Return the status of an answer with these bytes."""
        return HTTPStatus.OK if self._is_whole else HTTPStatus.PARTIAL_CONTENT

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of an answer with these bytes."""
        place = f"bytes {self.start}-{self.stop - 1}/{self.size}"
        return {
            "Accept-Ranges": "bytes",
            "Content-Length": str(self.stop - self.start),
            **({} if self._is_whole else {"Content-Range": place}),
            **lasting(self.etag),
        }

    @property
    def _is_whole(self) -> bool:
        return (self.start, self.stop) == (0, self.size)


def part_of(asked: Conditions, etag: str, size: int) -> Part | Response:
    """Return the part that a client wants, or an answer without content: 304 or 416.

    An empty content has no ranges: it is answered whole.
    """
    if is_known(asked.if_none_match, etag):
        return Response(None, HTTPStatus.NOT_MODIFIED, lasting(etag))
    range_ = asked.range if is_same(asked.if_range, etag) and size else None
    try:
        return Part(etag, size, *parse_range(range_, size))
    except UnsatisfiableError as error:
        whole = {"Content-Range": f"bytes */{size}"}
        return problem(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, str(error), headers=whole)
