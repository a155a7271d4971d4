"""The id of an event: the hash of what it says, so that every gateway gives it the same id.

The fields of our events in the standard's order, each with its name; lists are sorted, times are
UTC with milliseconds, words of the vocabularies are URIs, numbers have no trailing zeros.

Source: GS1 Core Business Vocabulary 2.0, 8.9 (hash-based event identifiers).
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

Event = dict[str, Any]
_CBV: Final = "https://ref.gs1.org/cbv/"
_VOC: Final = "https://gs1.org/voc/"


def with_id(event: Event) -> Event:
    """Return an event with its id."""
    digest = hashlib.sha256(canonical(event).encode()).hexdigest()
    return {**event, "eventID": f"ni:///sha-256;{digest}?ver=CBV2.0"}


def canonical(event: Event) -> str:
    """Return the text whose hash is the id of an event.

    Raises:
        ValueError: The event has a field that the hash would miss.
    """
    if missed := event.keys() - {name for name, _ in _EVENT} - {"type", "eventID", "recordTime"}:
        raise ValueError(f"expected fields of our events, got {sorted(missed)}")
    return f"eventType={event['type']}" + _fields(event, _EVENT)


def _word(vocabulary: str) -> Callable[[Any], str]:
    return lambda value: "=" + (value if ":" in value else vocabulary + value)


def _plain(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, float):
        return f"={int(value)}" if value == int(value) else f"={value!r}"
    return f"={value}"


def _fields(holder: Mapping[str, Any], order: "_Order") -> str:
    return "".join(name + shown(holder[name]) for name, shown in order if name in holder)


def _list(item: str, order: "_Order") -> Callable[[Any], str]:
    return lambda values: "".join(sorted(item + _fields(each, order) for each in values))


def _names(item: str) -> Callable[[Any], str]:
    return lambda values: "".join(sorted(f"{item}={each}" for each in values))


_Order = tuple[tuple[str, Callable[[Any], str]], ...]
_QUANTITY: Final[_Order] = (("epcClass", _plain), ("quantity", _plain), ("uom", _plain))
_PLACE: Final[_Order] = (("id", _plain),)
_METADATA: Final[_Order] = (
    ("time", _plain),
    ("startTime", _plain),
    ("endTime", _plain),
    ("deviceID", _plain),
    ("rawData", _plain),
)
_REPORT: Final[_Order] = (
    ("type", _word(_VOC)),
    ("exception", _word(_VOC)),
    ("time", _plain),
    ("value", _plain),
    ("component", _word(_CBV + "Comp-")),
    ("stringValue", _plain),
    ("minValue", _plain),
    ("maxValue", _plain),
    ("meanValue", _plain),
    ("uom", _plain),
    ("coordinateReferenceSystem", _plain),
)


def _part(order: _Order) -> Callable[[Any], str]:
    return lambda value: _fields(value, order)


_DISPOSITION: Final = _word(_CBV + "Disp-")
_SET: Final[_Order] = (
    ("set", lambda values: "set".join(sorted(_DISPOSITION(each) for each in values))),
)
_QUANTITIES: Final = _list("quantityElement", _QUANTITY)


def _sensors(values: Any) -> str:  # noqa: ANN401 - JSON
    shown = []
    for each in values:
        metadata, reports = each.get("sensorMetadata"), each["sensorReport"]
        begin = "" if metadata is None else "sensorMetadata" + _fields(metadata, _METADATA)
        shown.append("sensorElement" + begin + _list("sensorReport", _REPORT)(reports))
    return "".join(sorted(shown))


_EVENT: Final[_Order] = (
    ("eventTime", _plain),
    ("eventTimeZoneOffset", _plain),
    ("epcList", _names("epc")),
    ("quantityList", _QUANTITIES),
    ("inputQuantityList", _QUANTITIES),
    ("outputQuantityList", _QUANTITIES),
    ("action", _plain),
    ("transformationID", _plain),
    ("bizStep", _word(_CBV + "BizStep-")),
    ("disposition", _DISPOSITION),
    ("persistentDisposition", _part(_SET)),
    ("readPoint", _part(_PLACE)),
    ("bizTransactionList", _list("", (("type", _word(_CBV + "BTT-")), ("bizTransaction", _plain)))),
    ("sourceList", _list("", (("type", _word(_CBV + "SDT-")), ("source", _plain)))),
    ("destinationList", _list("", (("type", _word(_CBV + "SDT-")), ("destination", _plain)))),
    ("sensorElementList", _sensors),
)
