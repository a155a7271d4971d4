"""EPCIS documents around events: one to capture, and one that answers a query."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from contracts.records.clock import rfc3339
from gateway.exports.epcis.eventhash import Event

EPCIS_TYPE: Final = "application/ld+json"
_PLAIN: Final[dict[str, Any]] = {
    "ensure_ascii": False,
    "allow_nan": False,
    "separators": (",", ":"),
}
_END: Final = "]}}"
CONTEXT: Final = "https://ref.gs1.org/standards/epcis/2.0.0/epcis-context.jsonld"


def capture(events: Iterable[Event], now_ms: int) -> Iterator[bytes]:
    """Yield a document that another system can capture, as JSON, an event at a time."""
    head = json.dumps({**_head("EPCISDocument", now_ms), "epcisBody": {"eventList": []}}, **_PLAIN)
    yield head.removesuffix(_END).encode()
    before = ""
    for event in events:
        yield f"{before}{json.dumps(event, **_PLAIN)}".encode()
        before = ","
    yield _END.encode()


def answer(events: Sequence[Event], now_ms: int) -> Event:
    """Return a document that answers a query."""
    results = {"queryName": "SimpleEventQuery", "resultsBody": {"eventList": list(events)}}
    return {**_head("EPCISQueryDocument", now_ms), "epcisBody": {"queryResults": results}}


def _head(kind: str, now_ms: int) -> Event:
    return {
        "@context": [CONTEXT],
        "type": kind,
        "schemaVersion": "2.0",
        "creationDate": rfc3339(now_ms),
    }
