"""A sawtooth-sdk transaction processor of a family that writes at whatever address it is told.

The payload is the address as ASCII text, a space, and the value. An address that is not of
hexadecimal digits is the type of an event.
"""

import sys
from typing import Any

from contracts.ledger.processor.host import Service, StateContext
from contracts.ledger.processor.stream import Stream


class ThiefHandler:
    family_name = "thief"
    family_versions = ("1.0",)
    namespaces = ("",)

    def __init__(self, link: Stream) -> None:
        self._link = link

    def apply(self, transaction: Any, context: Any) -> None:  # noqa: ANN401  # the SDK has no types
        place, _, value = transaction.payload.partition(b" ")
        if b"/" in place:
            context.add_event(place.decode(), [], value)
        else:
            state = StateContext(context, transaction.context_id, self._link)
            state.set(place.decode(), value)


if __name__ == "__main__":
    service = Service(sys.argv[1])
    raise SystemExit(service.run(ThiefHandler(service.link)))
