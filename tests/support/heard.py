"""What the rules announced, as one who subscribed to events hears it."""

from collections.abc import Sequence

from contracts.proto.sawtooth_pb2 import Event


def told(kind: str, events: Sequence[Event]) -> list[dict[str, str]]:
    """Return the attributes of the events of a kind, in order."""
    return [
        {pair.key: pair.value for pair in event.attributes}
        for event in events
        if event.event_type == kind
    ]
