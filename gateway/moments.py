"""Times in answers: the one text form that `wayseal-verify` has too."""

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from contracts.records.clock import rfc3339, utc_ms_of


def _text(moment: datetime) -> str:
    return rfc3339(utc_ms_of(moment))


Moment = Annotated[
    datetime,
    PlainSerializer(_text, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time that JSON shows as RFC 3339 in UTC, always with milliseconds."""
