"""Events of trips: departure, arrival, what was measured, breaches and tamper events.

Not every reading is an event: a summary says lowest, mean and highest value, and where the readings
are. An event that has sensors is as late as the last of its readings.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from contracts.ids import DEVICE_URN
from contracts.proto.payload_pb2 import Limit, Position
from contracts.proto.state_pb2 import Breach, Delivery, TamperEvent
from contracts.records.clock import rfc3339
from contracts.records.quantity import QUANTITIES
from contracts.rendered import signs
from gateway.exports.epcis.eventhash import Event, with_id
from gateway.exports.epcis.goods import Sites, base, goods_of, order_of
from gateway.exports.epcis.ids import own, place_uri, site_uri
from gateway.records.buckets import BucketedReadings, Summary
from gateway.records.trips import TripRecord

TAMPER_TYPE: Final = "urn:wayseal:tamper"
_TYPES: Final[dict[int, str]] = {
    Limit.TEMPERATURE_MCEL: "Temperature",
    Limit.HUMIDITY_MPCT: "RelativeHumidity",
    Limit.PRESSURE_PA: "Pressure",
}


@dataclass(frozen=True, slots=True)
class Journey:
    """A trip and what was on it, as far as the reader may see it.

    Attributes:
        trip: The trip.
        deliveries: Those on it.
        measured: Its readings in one bucket.
        breaches: Of limits, on the trip.
        tampers: Tamper events.
    """

    trip: TripRecord
    deliveries: tuple[Delivery, ...]
    measured: BucketedReadings
    breaches: tuple[Breach, ...]
    tampers: tuple[TamperEvent, ...]


def journey_events(journey: Journey, sites: Sites) -> Iterator[Event]:
    """Yield the events of a trip."""
    yield _departing(journey, sites)
    if (ended_ms := _ended_ms(journey.trip)) is not None:
        yield _arriving(journey, sites, ended_ms)
    yield from _measured(journey)
    for breach in journey.breaches:
        yield _breach(journey, breach)
    for tamper in journey.tampers:
        yield _tamper(journey, tamper)


def _of(journey: Journey) -> Event:
    """Return the goods and the transactions of a trip; without goods the device is what moves."""
    parts = [goods_of(each) for each in journey.deliveries]
    found: Event = {}
    for name in ("epcList", "quantityList"):
        if items := [item for part in parts for item in part.get(name, ())]:
            found[name] = items
    start = journey.trip.start
    orders = [each for entry in journey.deliveries for each in order_of(entry)]
    trip = {"type": "urn:wayseal:trip", "bizTransaction": own("trip", start.trip_id)}
    return {
        **(found or {"epcList": [DEVICE_URN + start.device_id]}),
        "bizTransactionList": [trip, *orders],
    }


def _departing(journey: Journey, sites: Sites) -> Event:
    start = journey.trip.start
    return _moved(journey, sites, "departing", start.started_at_ms, start.origin_site_id)


def _arriving(journey: Journey, sites: Sites, ended_ms: int) -> Event:
    there = journey.trip.start.destination_site_id
    return _moved(journey, sites, "arriving", ended_ms, there)


def _moved(journey: Journey, sites: Sites, step: str, utc_ms: int, at_site: str) -> Event:
    start = journey.trip.start
    uris = {
        site_id: site_uri(sites.get(site_id), site_id)
        for site_id in (start.origin_site_id, start.destination_site_id, at_site)
    }
    return with_id(
        base(
            "ObjectEvent",
            utc_ms,
            action="OBSERVE",
            bizStep=step,
            disposition="in_transit" if step == "departing" else "in_progress",
            readPoint={"id": uris[at_site]},
            **_of(journey),
            sourceList=[{"type": "location", "source": uris[start.origin_site_id]}],
            destinationList=[{"type": "location", "destination": uris[start.destination_site_id]}],
        )
    )


def _ended_ms(trip: TripRecord) -> int | None:
    """Return the last time of the trip's devices, once each of them has sealed it."""
    named = {trip.start.device_id, *trip.start.other_device_ids}
    sealed = {chain.device_id: chain.last_utc_ms for chain in trip.chains}
    if not named <= sealed.keys():
        return None
    return max(trip.start.started_at_ms, *(sealed[each] for each in named))


def _measured(journey: Journey) -> Iterator[Event]:
    if not journey.measured.readings:
        return
    (bucket, *_) = journey.measured.buckets
    reports = [
        _report(quantity, minValue=of.low, meanValue=of.mean, maxValue=of.high)
        for quantity, of in _summaries(bucket.temperature, bucket.humidity, bucket.pressure)
    ]
    if reports:
        place = (
            None
            if bucket.position is None
            else Position(latitude_e7=bucket.position[0], longitude_e7=bucket.position[1])
        )
        metadata = {
            "startTime": rfc3339(journey.measured.from_ms),
            "endTime": rfc3339(journey.measured.until_ms),
            "deviceID": DEVICE_URN + journey.trip.start.device_id,
            "rawData": own("readings", journey.trip.start.trip_id),
        }
        yield _sensed(journey, journey.measured.until_ms, place, metadata, reports)


def _summaries(*found: Summary) -> Iterator[tuple[int, Summary]]:
    for quantity, summary in zip(_TYPES, found, strict=True):
        if summary.low is not None:
            yield quantity, summary


def _breach(journey: Journey, breach: Breach) -> Event:
    metadata = {
        "startTime": rfc3339(breach.since_ms),
        "endTime": rfc3339(breach.until_ms),
        "deviceID": DEVICE_URN + breach.device_id,
    }
    low = breach.limit.HasField("minimum") and breach.extreme < breach.limit.minimum
    extreme = {"minValue" if low else "maxValue": breach.extreme}
    report = {**_report(breach.limit.quantity, **extreme), "exception": "ALARM_CONDITION"}
    place = breach.position if breach.HasField("position") else None
    return _sensed(journey, breach.until_ms, place, metadata, [report], damaged=True)


def _tamper(journey: Journey, tamper: TamperEvent) -> Event:
    reports = [
        {"type": TAMPER_TYPE, "exception": "ALARM_CONDITION", "stringValue": sign}
        for sign in signs(tamper.flags)
    ]
    metadata = {"time": rfc3339(tamper.utc_ms), "deviceID": DEVICE_URN + tamper.device_id}
    place = tamper.position if tamper.HasField("position") else None
    return _sensed(journey, tamper.utc_ms, place, metadata, reports)


def _sensed(
    journey: Journey,
    utc_ms: int,
    place: Position | None,
    metadata: Event,
    reports: Iterable[Event],
    *,
    damaged: bool = False,
) -> Event:
    return with_id(
        base(
            "ObjectEvent",
            utc_ms,
            action="OBSERVE",
            bizStep="sensor_reporting",
            disposition="in_transit",
            **({"persistentDisposition": {"set": ["non_conformant"]}} if damaged else {}),
            **({} if place is None else {"readPoint": {"id": place_uri(place)}}),
            **_of(journey),
            sensorElementList=[{"sensorMetadata": metadata, "sensorReport": list(reports)}],
        )
    )


def _report(quantity: int, **values: float | None) -> Event:
    """Return values of a quantity, which are in the unit of its field."""
    known = QUANTITIES[quantity]
    shown: dict[str, Any] = {
        name: round(value / known.scale, 4) for name, value in values.items() if value is not None
    }
    return {"type": _TYPES[quantity], **shown, "uom": known.unit_code}
