"""Conditional requests: If-None-Match and If-Range, for content that its ETag names.

Source: RFC 9110, 8.8.3, 13.1.2 and 13.1.5.
"""

import re
from typing import Final

_TAG: Final = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')


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
