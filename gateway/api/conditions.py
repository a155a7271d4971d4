"""Conditional requests: If-None-Match and If-Range, for content that its ETag names.

Source: RFC 9110, 8.8.3, 13.1.2 and 13.1.5.
"""

import re
from typing import Final, Self

from pydantic import BaseModel, Field

from gateway.api.problems import Answers

KNOWN: Final[Answers] = {304: {"description": "the client has it, says If-None-Match"}}
_TAG: Final = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')


class Conditions(BaseModel):
    """The conditions of a client on content, in headers."""

    range: str | None = Field(None, description="one range of bytes")
    if_none_match: str | None = Field(None, description="ETags that the client has: 304 for these")
    if_range: str | None = Field(
        None, description="the ETag that the range is of; with another one, all bytes are sent"
    )

    def without_range(self) -> Self:
        """Return the conditions of HEAD, which ignores ranges."""
        return self.model_copy(update={"range": None})


def lasting(etag: str) -> dict[str, str]:
    """Return the headers of content that its ETag names for good; 304 repeats them."""
    return {"ETag": etag, "Cache-Control": "private, no-transform"}


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Say whether the client has the content already.

    Args:
        if_none_match: `*`, or entity tags with commas between them; they are compared weakly.
        etag: The content's strong entity tag, with its quotation marks.
    """
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or etag in _TAG.findall(if_none_match)


def is_same(if_range: str | None, etag: str) -> bool:
    """Say whether a range is of the content that the client began with; a date never is.

    Args:
        if_range: One entity tag, which is compared strongly, or a date.
        etag: The content's strong entity tag, with its quotation marks.
    """
    return if_range is None or if_range.strip() == etag
