"""A trip's end: what is missing, and silence between the devices and the handovers.

Devices seal a trip in any order, and handovers are signed before or after
that. So silence around a trip is judged when the last of its devices has
sealed it; a handover that comes later judges its own side.
"""

from collections.abc import Callable, Sequence
from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import CloseTrip, Limit
from contracts.proto.state_pb2 import Chain, Silence, Trip, TripLimits
from contracts.records.quantity import QUANTITIES
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.ids import Rule
from contracts.rules.silence import longest_silence_s, silences_allowed
from contracts.rules.trips import devices_of
from contracts.rules.version import RulesVersion

MISSING_NAMED_MAX: Final = 8
"""Missing recordings that the finding on a device names."""

Mark = Callable[[str], None]
"""Counts a silence on the delivery with this id."""


def close_trip(action: CloseTrip, case: Case) -> None:
    """Close a trip: nothing more is to come, so missing seals and recordings are found."""
    case.require_party(action.party_id)
    trip = case.trip(action.trip_id)
    if action.party_id not in trip.party_ids:
        raise invalid(
            Rule.NOT_THE_PARTY,
            f"{action.party_id} is not a party of the trip: {', '.join(trip.party_ids)}",
        )
    if trip.HasField("close"):
        raise invalid(Rule.TRIP_CLOSED, f"trip {action.trip_id} was closed before")
    notes = Notes(case, action.trip_id)
    for device_id in devices_of(trip.start):
        _miss(device_id, notes)
    if case.version >= RulesVersion.V1_1:
        _find_missing(trip, chains_of(trip, notes), notes)
    trip.close.CopyFrom(action)
    case.store(address.trip(action.trip_id), trip)
    notes.record()


def _miss(device_id: str, notes: Notes) -> None:
    """Add findings on what a device has not delivered: its seal, or sealed recordings."""
    chain = notes.case.chain(notes.trip_id, device_id)
    if not chain.HasField("seal"):
        notes.add(Rule.SEAL_MISSING, f"{device_id} has not sealed the trip", device_id=device_id)
    recorded = set(chain.recorded_videos)
    missing = [each.sha256 for each in chain.seal.recordings if each.sha256 not in recorded]
    if missing:
        some = [sha256.hex() for sha256 in missing[:MISSING_NAMED_MAX]]
        notes.add(
            Rule.RECORDING_MISSING,
            f"{len(missing)} of {len(chain.seal.recordings)} sealed recordings were not recorded: "
            + ", ".join([*some, *(["…"] if len(some) < len(missing) else [])]),
            device_id=device_id,
        )


def judge_end(trip: Trip, notes: Notes, mark: Mark) -> None:
    """Find the silence around a trip, once all of its devices have sealed it.

    The trip keeps which quantities were missing; the caller writes it.
    """
    chains = chains_of(trip, notes)
    if not are_sealed(chains):
        return
    _find_missing(trip, chains, notes)
    for quantity, by_delivery in silences_allowed(trip).items():
        measured = _measured(chains, quantity)
        if not measured:
            for delivery_id in by_delivery:
                mark(delivery_id)
        elif not _measured(chains[:1], quantity):  # the starting device is held from the start
            begun_ms = min(each.first_ms for each in measured)
            _judge_begin(trip, quantity, begun_ms, by_delivery, notes, mark)
    for carried in trip.deliveries:
        if carried.received_at_ms:
            judge_received(carried, chains, notes, mark)
        if carried.given_at_ms:
            judge_given(carried, chains, notes, mark)


def chains_of(trip: Trip, notes: Notes) -> list[Chain]:
    """Return the chains of a trip's devices, the starting device's first."""
    return [notes.case.chain(trip.start.trip_id, each) for each in devices_of(trip.start)]


def are_sealed(chains: Sequence[Chain]) -> bool:
    """Say whether every device has sealed its chain, so that all silence is known."""
    return all(chain.HasField("seal") for chain in chains)


def judge_received(carried: TripLimits, chains: Sequence[Chain], notes: Notes, mark: Mark) -> None:
    """Find silence from the moment when the carrier got a delivery to the first measurement."""
    for limit in carried.limits:
        measured = _measured(_live(chains), limit.quantity)
        if not measured:
            continue
        silent_ms = min(each.first_ms for each in measured) - carried.received_at_ms
        allowed_s = longest_silence_s(limit)
        if silent_ms > allowed_s * 1000:
            notes.add(
                Rule.RECORDING_GAP,
                f"{QUANTITIES[limit.quantity].name} was not measured for {silent_ms} ms after the "
                f"carrier got {carried.delivery_id}, {allowed_s} s are allowed",
            )
            mark(carried.delivery_id)


def judge_given(carried: TripLimits, chains: Sequence[Chain], notes: Notes, mark: Mark) -> None:
    """Find silence from the last measurement to the moment when the carrier gave a delivery."""
    for limit in carried.limits:
        heard_ms = [
            _heard_until(chain, each, limit)
            for chain in _live(chains)
            for each in _measured([chain], limit.quantity)
        ]
        if not heard_ms:
            continue
        silent_ms = carried.given_at_ms - max(heard_ms)
        allowed_s = longest_silence_s(limit)
        if silent_ms > allowed_s * 1000:
            notes.add(
                Rule.RECORDING_GAP,
                f"{QUANTITIES[limit.quantity].name} was not measured for {silent_ms} ms before the "
                f"carrier gave {carried.delivery_id} away, {allowed_s} s are allowed",
            )
            mark(carried.delivery_id)


def _live(chains: Sequence[Chain]) -> list[Chain]:
    """Return the chains whose times can be compared with those of handovers."""
    return [chain for chain in chains if chain.live]


def _heard_until(chain: Chain, silence: Silence, limit: Limit) -> int:
    """Return when a device last measured; the time of its seal if the gap before that counts."""
    told = silence.silent_ms > longest_silence_s(limit) * 1000
    return chain.seal.clock.utc_ms if told else silence.last_ms


def _judge_begin(
    trip: Trip,
    quantity: Limit.Quantity,
    begun_ms: int,
    by_delivery: dict[str, int],
    notes: Notes,
    mark: Mark,
) -> None:
    """Find silence from the trip's start, when only other devices measured a quantity."""
    silent_ms = begun_ms - trip.start.started_at_ms
    allowed_ms = min(by_delivery.values())
    if silent_ms > allowed_ms:
        notes.add(
            Rule.RECORDING_GAP,
            f"no device measured {QUANTITIES[quantity].name} for {silent_ms} ms after the trip's "
            f"start, {allowed_ms // 1000} s are allowed",
        )
    for delivery_id, longest_ms in by_delivery.items():
        if silent_ms > longest_ms:
            mark(delivery_id)


def _find_missing(trip: Trip, chains: Sequence[Chain], notes: Notes) -> None:
    """Find the limited quantities that no device measured, each once."""
    for quantity in silences_allowed(trip):
        if not _measured(chains, quantity) and quantity not in trip.missing:
            trip.missing.append(quantity)
            notes.add(
                Rule.QUANTITY_MISSING,
                f"{QUANTITIES[quantity].name} is limited, and no device of the trip measured it",
            )


def _measured(chains: Sequence[Chain], quantity: Limit.Quantity) -> list[Silence]:
    """Return what the chains that measured a quantity tell about it."""
    return [
        each
        for chain in chains
        for each in chain.silences
        if each.quantity == quantity and each.measured
    ]
