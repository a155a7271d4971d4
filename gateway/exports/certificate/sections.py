"""Sections of a certificate: route, readings, what happened, goods and recordings."""

from collections.abc import Sequence
from typing import Final

from contracts.proto.payload_pb2 import Limit
from contracts.records.quantity import QUANTITIES
from gateway.exports.certificate.chart import Curve, TimeAxis, Value, draw_chart
from gateway.exports.certificate.facts import SHOWN_MAX, TripFacts
from gateway.exports.certificate.outline import CREDIT, Box, Mark, Point, draw_map
from gateway.exports.certificate.sheet import MARGIN, SOFT, WIDE, Sheet
from gateway.exports.certificate.wording import (
    E7,
    SYMBOLS,
    counted,
    degrees,
    lasting,
    limit_words,
    when,
)
from gateway.exports.certificate.wording import (
    happened as all_happened,
)
from gateway.records.buckets import Bucket, Summary

_MAP: Final = 170.0
_CHART: Final = 78.0
_QUANTITIES: Final = (
    (Limit.TEMPERATURE_MCEL, "temperature"),
    (Limit.HUMIDITY_MPCT, "humidity"),
    (Limit.PRESSURE_PA, "pressure"),
)


def route(sheet: Sheet, facts: TripFacts) -> None:
    """Draw where the trip went."""
    track = [_point(each) for each in facts.measured.buckets]
    known = [each for each in track if each is not None]
    sheet.heading("Route", 2)
    if not known:
        sheet.paragraph("No reading of this trip has a position, so there is no route to draw.")
        return
    marks = [
        Mark((each.position.longitude_e7 / E7, each.position.latitude_e7 / E7), is_tamper)
        for is_tamper, entries in (
            (False, [each.entry for each in facts.breaches]),
            (True, [each.entry for each in facts.tampers]),
        )
        for each in entries
        if each.HasField("position")
    ]
    sheet.room(_MAP + 20)
    box = Box(MARGIN, sheet.y - _MAP, WIDE, _MAP)
    ends = f"from {degrees(known[0])} to {degrees(known[-1])}"
    alt = f"Map of the route {ends}, with {counted(len(marks), 'mark')} of what happened"
    with sheet.element("Figure", alt) as canvas:
        draw_map(canvas, box, _whole(facts.measured.buckets), marks)
    sheet.y -= _MAP + 2
    words = f"Began at the ring, ended at the dot; {ends}. ■ excursion, ◆ tampering. {CREDIT}"
    sheet.paragraph(words, 7, colour=SOFT)


def _whole(buckets: Sequence[Bucket]) -> list[Point | None]:
    """Return the track; a bucket without a reading ends its line, one without a position not."""
    return [_point(each) for each in buckets if each.position is not None or not each.readings]


def _point(bucket: Bucket) -> Point | None:
    if bucket.position is None:
        return None
    latitude, longitude = bucket.position
    return longitude / E7, latitude / E7


def readings(sheet: Sheet, facts: TripFacts) -> None:
    """Draw what was measured."""
    sheet.heading("Readings", 2)
    curves = [each for number, name in _QUANTITIES if (each := _curve(facts, number, name)).span]
    if not curves:
        sheet.paragraph("No reading of this trip measured temperature, humidity or pressure.")
        return
    measured = facts.measured
    axis = TimeAxis(
        measured.from_ms,
        max(measured.until_ms, measured.from_ms + 1000),
        [each.entry.utc_ms for each in facts.tampers],
    )
    for at, curve in enumerate(curves):
        last = at == len(curves) - 1
        sheet.room(_CHART + 16 + (20 if last else 0))
        box = Box(MARGIN, sheet.y - _CHART, WIDE, _CHART)
        low, high = curve.span or (0, 0)
        alt = f"{curve.title}: from {low:g} to {high:g}, {when(axis.from_ms)} to "
        with sheet.element("Figure", f"{alt}{when(axis.until_ms)} UTC") as canvas:
            draw_chart(canvas, box, curve, axis, last=last)
        sheet.y -= _CHART + (12 if last else 6)
    width = f", each point sums up {lasting(measured.width_ms)}" if measured.width_ms else ""
    several = " of all devices" if facts.trip.start.other_device_ids else ""
    words = (
        f"Readings{several} by UTC of the truck's clock{width}. Line: mean; band: lowest to "
        "highest; it ends where nothing was measured. Shaded: outside the limits. Red bar: "
        "excursion; ◆ sign of tampering."
    )
    sheet.paragraph(words, 7, colour=SOFT)


def _curve(facts: TripFacts, number: int, name: str) -> Curve:
    quantity = QUANTITIES[number]
    scale = quantity.scale

    def value(found: Summary) -> Value | None:
        if found.low is None or found.mean is None or found.high is None:
            return None
        return found.low / scale, found.mean / scale, found.high / scale

    limits = [
        each
        for delivery in facts.deliveries
        for each in delivery.terms.limits
        if each.quantity == number
    ]
    lows = [each.minimum / scale for each in limits if each.HasField("minimum")]
    highs = [each.maximum / scale for each in limits if each.HasField("maximum")]
    allowed = sorted({limit_words(each) for each in limits})
    shown = f"limits: {', '.join(allowed[:3])}" if allowed else "no limit agreed"
    return Curve(
        f"{quantity.name.capitalize()}, {SYMBOLS[number]} ({shown})",
        [each.since_ms for each in facts.measured.buckets],
        [value(getattr(each, name)) for each in facts.measured.buckets],
        max(lows, default=None),
        min(highs, default=None),
        [
            (each.entry.since_ms, each.entry.until_ms)
            for each in facts.breaches
            if each.entry.limit.quantity == number
        ],
    )


def happened(sheet: Sheet, facts: TripFacts) -> None:
    """List what a reader must know."""
    sheet.heading("What happened", 2)
    rows = all_happened(facts)
    if rows:
        sheet.table(("Time, UTC", "What", "About it"), (0.2, 0.32, 0.48), rows)
    else:
        sheet.paragraph(
            "No excursion, no sign of tampering, no remark of a device, no silence and no finding "
            "of the rules is on record."
        )


def goods(sheet: Sheet, facts: TripFacts) -> None:
    """List the deliveries on board, with their lots."""
    sheet.heading("Goods on board", 2)
    hidden = len(facts.trip.start.delivery_ids) - len(facts.deliveries)
    rows = []
    for each in (delivery.terms for delivery in facts.deliveries):
        lots = [f"{lot.lot} (GTIN {lot.gtin})" for lot in each.lots]
        more = f" and {len(lots) - SHOWN_MAX} more" if len(lots) > SHOWN_MAX else ""
        limits = ", ".join(
            f"{QUANTITIES[limit.quantity].name} {limit_words(limit)}" for limit in each.limits
        )
        parties = f"{each.seller_id} to {each.buyer_id}"
        goods = f"{each.quantity:,} {each.unit} {each.product}"
        named = ", ".join(lots[:SHOWN_MAX]) + more
        rows.append((each.delivery_id, goods, named, parties, limits or "none"))
    if rows:
        header = ("Delivery", "Goods", "Lots", "From, to", "Limits")
        sheet.table(header, (0.17, 0.2, 0.28, 0.15, 0.2), rows)
    if hidden:
        words = "1 more delivery" if hidden == 1 else f"{hidden:,} more deliveries"
        sheet.paragraph(f"The trip names {words} that this certificate does not list.")
    elif not rows:
        sheet.paragraph("The trip names no delivery: an empty run, or nobody linked one.")


def films(sheet: Sheet, facts: TripFacts) -> None:
    """List the recordings, by the digests that devices signed."""
    sheet.heading("Recordings", 2)
    rows = [
        (
            when(each.digest.started_at_ms),
            lasting(each.digest.duration_ms),
            f"{each.digest.size:,}",
            each.digest.sha256.hex(),
        )
        for each in facts.digests
    ]
    if rows:
        header = ("Began, UTC", "Lasts", "Bytes", "SHA-256, signed by the truck")
        sheet.table(header, (0.21, 0.11, 0.13, 0.55), rows)
    else:
        sheet.paragraph("No recording is on record for this trip.")
