"""EPCIS documents around events: one to capture, and one that answers a query."""

from collections.abc import Sequence
from typing import Final

from contracts.records.clock import rfc3339
from gateway.exports.epcis.eventhash import Event

EPCIS_TYPE: Final = "application/ld+json"
CONTEXT: Final = "https://ref.gs1.org/standards/epcis/2.0.0/epcis-context.jsonld"


def capture(events: Sequence[Event], now_ms: int) -> Event:
    """Return a document that another system can capture."""
    return {**_head("EPCISDocument", now_ms), "epcisBody": {"eventList": list(events)}}


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
