"""Sentences of a certificate."""

from collections.abc import Iterator, Mapping
from typing import Final

from contracts.proto.payload_pb2 import Limit
from contracts.proto.state_pb2 import Hold
from contracts.records.clock import moment
from contracts.records.quantity import QUANTITIES, Quantity
from contracts.records.remark import HARMLESS, RemarkKind
from contracts.rendered import Words, signs, silences
from contracts.rendered_remarks import stretches
from gateway.exports.certificate.facts import SHOWN_MAX, TripFacts
from gateway.records.breaches import BreachRecord
from gateway.records.trips import TamperRecord

SYMBOLS: Final[Mapping[int, str]] = {
    number: "°C" if each.symbol == "Cel" else each.symbol for number, each in QUANTITIES.items()
}
"""Units for people, by the number of the quantity."""
E7: Final = 10_000_000
"""Positions on the ledger are in degrees times this."""
Happened = tuple[str, str, str]
"""When, what, and where it can be looked up or what it means."""


def when(utc_ms: int) -> str:
    """Return a time for people, UTC, to the second."""
    return moment(utc_ms).strftime("%Y-%m-%d %H:%M:%S")


def claimed(utc_ms: int, corrected_ms: int | None) -> str:
    """Return a time as its device claimed it, and by a clock that was right later."""
    words = when(utc_ms)
    return words if corrected_ms is None else f"{words} (corrected: {when(corrected_ms)})"


def lasting(duration_ms: int) -> str:
    """Return a duration for people, such as `1 h 20 min`."""
    seconds = max(0, duration_ms) // 1000
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    said = [f"{number} {unit}" for number, unit in parts if number][:2]
    return " ".join(said) or "0 s"


def counted(number: int, one: str, *, or_more: bool = False) -> str:
    """Return a number of things, such as `3 excursions`."""
    words = one if number == 1 else f"{one}s"
    return f"{'more than ' if or_more else ''}{number:,} {words}"


def what_is_bad(facts: TripFacts) -> str:
    """Return how much there is of each thing that is not good; empty: none."""
    faults = [
        each
        for each in stretches(each.entry for each in facts.remarks)
        if RemarkKind(each.entry.remark.kind) not in HARMLESS
    ]
    kinds = (
        (len(facts.breaches), "excursion", "excursions"),
        (len(facts.tampers), "tamper event", "tamper events"),
        (len(faults), "device fault", "remarks"),
        (len(list(_silences(facts))), "silence", "silences"),
        (len(facts.findings), "finding", "findings"),
    )
    *most, last = [
        counted(number, one, or_more=many in facts.cut) for number, one, many in kinds if number
    ] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def unsealed(facts: TripFacts) -> str:
    """Return, in words, that devices have not sealed the trip; empty: all have."""
    start = facts.trip.start
    devices = {start.device_id, *start.other_device_ids}
    sealed = len(devices & {each.seal.device_id for each in facts.trip.seals})
    if not sealed:
        return "No device has sealed the trip: it is not over on record, more may follow."
    if sealed < len(devices):
        return (
            f"{sealed} of {len(devices)} devices have sealed the trip: what the others recorded "
            "may be missing, or may follow."
        )
    return ""


def happened(facts: TripFacts) -> list[Happened]:
    """Return what a reader must know of the trip, by time; what has no time comes last."""
    timed = [(each.entry.since_ms, breach_words(each)) for each in facts.breaches]
    timed += [(each.entry.utc_ms, _tamper(each)) for each in facts.tampers]
    timed += [(each.placed.at_ms, _hold(each)) for each in facts.holds]
    for stretch in stretches(each.entry for each in facts.remarks):
        since = stretch.entry.remark.since_ms
        timed.append((since, (when(since), f"{str(stretch)[0].upper()}{str(stretch)[1:]}", "")))
    found = [each for _, each in sorted(timed, key=lambda each: each[0])]
    return [*found, *_untimed(facts)]


def _hold(hold: Hold) -> Happened:
    ended = f", released {when(hold.released.at_ms)}" if hold.HasField("released") else ""
    placed = hold.placed
    return when(placed.at_ms), "Legal hold", f"{placed.reason}; {placed.party_id}{ended}"


def _tamper(record: TamperRecord) -> Happened:
    entry = record.entry
    seen = ", ".join(sign.replace("-", " ") for sign in signs(entry.flags))
    where = f"device {entry.device_id}, reading {entry.sequence}"
    return claimed(entry.utc_ms, record.corrected_ms), f"Sign of tampering: {seen}", where


def breach_words(record: BreachRecord) -> Happened:
    """Return when a limit was exceeded, how far, and for how long."""
    entry = record.entry
    quantity, symbol = QUANTITIES[entry.limit.quantity], SYMBOLS[entry.limit.quantity]
    allowed = limit_words(entry.limit)
    for_long = lasting(entry.until_ms - entry.since_ms)
    of = f"delivery {entry.delivery_id}, device {entry.device_id}"
    open_end = "" if entry.ended else ", not ended on record"
    place = entry.position.longitude_e7 / E7, entry.position.latitude_e7 / E7
    where = f" from {degrees(place)} on" if entry.HasField("position") else ""
    return (
        claimed(entry.since_ms, record.since_corrected_ms),
        f"{quantity.name.capitalize()} reached {_value(entry.extreme, quantity)} {symbol}",
        f"outside {allowed} for {for_long}{where}{open_end}; {of}",
    )


def degrees(point: tuple[float, float]) -> str:
    """Return a place, longitude and latitude in degrees, as people write it."""
    longitude, latitude = point
    north, east = "NS"[latitude < 0], "EW"[longitude < 0]
    return f"{abs(latitude):.4f}° {north}, {abs(longitude):.4f}° {east}"


def limit_words(limit: Limit) -> str:
    """Return what a limit allows, such as `2 to 8 °C`."""
    quantity, symbol = QUANTITIES[limit.quantity], SYMBOLS[limit.quantity]
    low = _value(limit.minimum, quantity) if limit.HasField("minimum") else None
    high = _value(limit.maximum, quantity) if limit.HasField("maximum") else None
    if low is not None and high is not None:
        return f"{low} to {high} {symbol}"
    return f"at most {high} {symbol}" if low is None else f"at least {low} {symbol}"


def _value(number: int, quantity: Quantity) -> str:
    return f"{number / quantity.scale:g}"


def _untimed(facts: TripFacts) -> Iterator[Happened]:
    for finding in facts.findings:
        rule = finding.rule.replace("-", " ").capitalize()
        yield "", rule, f"{finding.detail}; device {finding.device_id or 'unknown'}"
    for each in _silences(facts):
        words = (
            f"longest pause {each['longest_s']:g} s, allowed {each['allowed_s']:g} s"
            if each["measured"]
            else "never measured"
        )
        yield "", f"Silence of {each['quantity']}", f"{words}; device {each['device_id']}"
    for kind in facts.cut:
        yield "", f"More {kind}", f"this list has the first {SHOWN_MAX}; the evidence has all"


def _silences(facts: TripFacts) -> Iterator[Words]:
    """Yield the silences that were longer than agreed."""
    for each in silences(facts.trip.chains, facts.trip.entry):
        if each["gaps"] or not each["measured"]:
            yield each
