"""Compares what the batches in a file lead to with the state that the last block commits to.

A batch that was left out shows as an entry that differs, whichever batch it was.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.message import DecodeError

from contracts import address
from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.evidence.statenodes import Comparison, ProvenState
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.state_pb2 import (
    Delivery,
    Device,
    Finding,
    Findings,
    Key,
    Lot,
    Party,
    Site,
    Transformation,
    Trip,
)
from contracts.rules.ids import Rule
from contracts.rules.trips import devices_of
from contracts.sawtooth.pruned import Wanted


@dataclass(frozen=True, slots=True)
class Scope:
    """What must be as the state says.

    Attributes:
        touched: The addresses that the replay read or wrote.
        trips: Prefixes of the trips whose every entry must be in the replay.
        deliveries: Addresses of the deliveries that count; others are on other trips.
    """

    touched: frozenset[str]
    trips: frozenset[str]
    deliveries: frozenset[str]

    def places(self) -> Iterator[str]:
        """Yield the addresses to compare, in order."""
        yield from (place for place in sorted(self.touched) if self._counts(place))

    def wanted(self, also: Iterable[str] = ()) -> Wanted:
        """Return what the state nodes of a file must prove, and what they may prove also."""
        places = map(bytes.fromhex, (*self.places(), *also))
        return Wanted(places, map(bytes.fromhex, self.trips))

    @staticmethod
    def known(state: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the entries of a replay that the ledger must have likewise.

        Findings on a trip's place in its device's row depend on trips that evidence need not
        hold. So the file shows the ledger's. What a unit holds is not replayed.
        """
        return {
            place: value
            for place, value in state.items()
            if not address.is_series_finding(place) and address.kind_of(place) != "unit"
        }

    def _counts(self, place: str) -> bool:
        match address.kind_of(place):
            case "" | "series" | "unit":  # of another family, or the business of others too
                return False
            case "trip":
                counts = address.prefix_of(place) in self.trips
                return counts and not address.is_series_finding(place)
            case "delivery":
                return place in self.deliveries
            case _:
                return True


@dataclass(slots=True)
class EndState:
    """The result of the comparison.

    Attributes:
        problems: What differs, in words.
        strangers: By prefix of a trip, how often batches of strangers were left out, by rule.
        series: By prefix of a trip, the ledger's findings on its place in its device's row.
        transformations: By their id, entries whose findings the ledger knows better.
        deliveries: By their address, likewise.
    """

    problems: list[str] = field(default_factory=list)
    strangers: dict[str, Counter[str]] = field(default_factory=dict)
    series: dict[str, list[Finding]] = field(default_factory=dict)
    transformations: dict[str, Transformation] = field(default_factory=dict)
    deliveries: dict[str, bytes] = field(default_factory=dict)


def compare(state: Mapping[str, bytes], scope: Scope, proven: ProvenState) -> EndState:
    """Compare a replay with the proven state.

    Args:
        state: What the replay led to, by address.
        scope: What to compare.
        proven: The state after the last block, as far as the file shows it.
    """
    end = EndState()
    for place in scope.places():
        mine, theirs = state.get(place), proven.value(place)
        match proven.compare(place, mine):
            case Comparison.DIFFERS if not _is_explained(place, mine, theirs, end):
                end.problems.append(
                    f"{_name(place, mine or theirs)}: the ledger has another entry than the "
                    f"batches in the file lead to, so a batch is missing"
                )
            case Comparison.NOT_PROVEN:
                end.problems.append(
                    f"{_name(place, mine)}: the state nodes that prove its entry are missing"
                )
    known = scope.known(state)
    for prefix in sorted(scope.trips):
        _check_trip(prefix, known, proven, end)
    return end


def _is_explained(place: str, mine: bytes | None, theirs: bytes | None, end: EndState) -> bool:
    """Say whether `_explained`; what is not an entry at all explains nothing."""
    try:
        return _explained(place, mine, theirs, end)
    except RejectedError:
        return False


def _explained(place: str, mine: bytes | None, theirs: bytes | None, end: EndState) -> bool:
    """Say whether what others did with lots and units explains how two entries differ.

    A lot may have been used anywhere, and evidence cannot follow it there. Earlier uses decide
    the findings on a transformation, so the findings that the ledger has are told. Any maker,
    seller or carrier may pack any logistic unit, so a delivery's finding on its units is the
    ledger's too.
    """
    if theirs is None:
        return False
    match address.kind_of(place):
        case "lot":
            return _is_same_lot(Lot.FromString(mine or b""), parse_part(Lot, theirs))
        case _ if mine is None:
            return False
        case "transformation":
            told, entry = Transformation.FromString(mine), parse_part(Transformation, theirs)
            end.transformations[entry.terms.transformation_id] = entry
            return (told.terms, told.rules) == (entry.terms, entry.rules)
        case "delivery":
            end.deliveries[place] = theirs
            return _but_for_units(Delivery.FromString(mine)) == _but_for_units(
                parse_part(Delivery, theirs)
            )
        case _:
            return False


def _but_for_units(entry: Delivery) -> Delivery:
    """Take the finding on logistic units out of a delivery; return the delivery."""
    others = [each for each in entry.findings if each.rule != Rule.UNIT_UNKNOWN]
    del entry.findings[:]
    entry.findings.extend(others)
    return entry


def _is_same_lot(mine: Lot, theirs: Lot) -> bool:
    """Say whether two entries of a lot differ by uses elsewhere alone.

    Its first user chose the unit of a lot that nobody made.
    """
    if theirs.used < mine.used or not theirs.gtin:
        return False
    wanted, found = Lot(gtin=theirs.gtin, lot=theirs.lot), Lot()
    wanted.MergeFrom(mine)
    found.CopyFrom(theirs)
    for entry in (wanted, found):
        entry.used = entry.rules = 0
        if not entry.party_id:
            entry.unit = ""
    return wanted == found


def _check_trip(
    prefix: str, state: Mapping[str, bytes], proven: ProvenState, end: EndState
) -> None:
    """Check that the replay has every entry of a trip, except findings on strangers."""
    trip = Trip.FromString(state.get(address.trip_of(prefix), b""))
    name = f"trip {trip.start.trip_id}"
    left_out = end.strangers.setdefault(prefix, Counter())
    series = end.series.setdefault(prefix, [])
    for place in proven.others(prefix, state):
        is_address = len(place) == address.ADDRESS_HEX
        findings = _findings(place, proven.value(place)) if is_address else []
        if findings and address.is_series_finding(place):
            series += findings
        elif _are_strange(findings, trip.start):
            left_out.update(each.rule for each in findings)
        else:
            end.problems.append(
                f"{name}: the ledger has an entry {'at' if is_address else 'below'} {place}, to "
                "which no batch in the file leads, so a batch is missing"
            )


def _findings(place: str, wire: bytes | None) -> list[Finding]:
    """Return the findings at an address of a trip; none if that is no such entry."""
    try:
        findings = list(parse_part(Findings, wire or b"").findings)
    except RejectedError:
        return []
    at = address.series_findings if address.is_series_finding(place) else address.finding
    fits = all(at(each.trip_id, each.transaction_id) == place for each in findings)
    return findings if fits else []


def _are_strange(findings: Iterable[Finding], start: StartTrip) -> bool:
    """Say whether findings are on a transaction by a stranger to a trip.

    Such a transaction changes nothing else, and any number of strangers may write any number of
    them. So they may be left out.
    """
    ours = set(devices_of(start))
    return any(
        (each.rule == Rule.DEVICE_NOT_ON_TRIP and each.device_id not in ours)
        or (each.rule == Rule.SIGNER_MISMATCH and _signer(each.detail) not in ours)
        for each in findings
    )


def _signer(detail: str) -> str:
    """Return the device that a finding `signer-mismatch` names: `signed by truck-2; …`."""
    return detail.removeprefix("signed by ").split(";", 1)[0]


_NAMED: Final[Mapping[str, Callable[[bytes], str]]] = {
    "party": lambda wire: Party.FromString(wire).party_id,
    "site": lambda wire: Site.FromString(wire).site.site_id,
    "device": lambda wire: Device.FromString(wire).device_id,
    "key": lambda wire: f"of {Key.FromString(wire).owner_id}",
    "delivery": lambda wire: Delivery.FromString(wire).terms.delivery_id,
    "lot": lambda wire: f"{Lot.FromString(wire).gtin}:{Lot.FromString(wire).lot}",
    "transformation": lambda wire: Transformation.FromString(wire).terms.transformation_id,
}


def _name(place: str, entry: bytes | None) -> str:
    kind = address.kind_of(place)
    if entry is None or kind not in _NAMED:
        return f"{kind} {place}"
    try:
        return f"{kind} {_NAMED[kind](entry)}"
    except DecodeError:
        return f"{kind} {place}"
