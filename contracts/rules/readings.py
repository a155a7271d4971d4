"""Readings: each extends its device's chain on the trip, and nothing about one is hidden.

A reading that decodes, comes from a registered device and belongs to a trip is
never invalid, since that would void its batch and with it other readings: what
is wrong with it is recorded as a finding beside it. One that comes in a run is
treated as if it came alone.
"""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import RecordReading, RecordRun
from contracts.proto.state_pb2 import Chain, Device, Key, TamperEvent, Trip
from contracts.records.placed import Placed, placed
from contracts.rules.case import EVENT_TAMPER, Case, Notes
from contracts.rules.excursions import Watch
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks
from contracts.rules.trips import devices_of

CLOCK_JUMP_MS: Final = 60_000
"""How far UTC may run away from the monotonic counter between two readings of one boot."""


def record_readings(action: RecordReading | RecordRun, case: Case) -> None:
    """Append readings to their device's chain; whatever is odd about one becomes a finding."""
    readings = placed(action)
    key = case.device_key()
    trip = case.trip(action.trip_id)
    chain = case.chain(action.trip_id, action.device_id)
    notes = Notes(case, action.trip_id, action.device_id)
    apart = _why_apart(action, key, trip, chain)
    marks = Marks(trip, chain, notes, revoked=key.revoked)
    watch = Watch(trip, chain, notes, marks)
    before = chain.count
    for reading in readings:
        if key.revoked:
            notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked", reading.sequence)
        if apart is not None:
            notes.add(*apart, reading.sequence)
        elif reading.sequence < chain.next_sequence:
            notes.add(
                Rule.SEQUENCE_REPEATED,
                f"not in the chain, which expects {chain.next_sequence}",
                reading.sequence,
            )
        else:
            flags = chain.tamper_flags
            _extend(chain, reading, watch, notes)
            if reading.tamper_flags != flags:
                _note_tamper(flags, reading, trip, notes, marks)
    if chain.count != before:
        watch.keep()
        marks.keep()
        case.store(address.chain(action.trip_id, action.device_id), chain)
    notes.record()


def _why_apart(
    action: RecordReading | RecordRun, key: Key, trip: Trip, chain: Chain
) -> tuple[Rule, str] | None:
    """Return why no chain takes these readings, if none does."""
    if key.owner_id != action.device_id:
        return Rule.SIGNER_MISMATCH, f"signed by {key.owner_id}; not in the chain"
    if action.device_id not in devices_of(trip.start):
        return Rule.DEVICE_NOT_ON_TRIP, "the trip does not name this device; in no chain"
    if chain.HasField("seal"):
        return Rule.AFTER_SEAL, "not in the chain, which is sealed"
    return None


def _extend(chain: Chain, reading: Placed, watch: Watch, notes: Notes) -> None:
    if reading.sequence > chain.next_sequence:
        notes.add(Rule.SEQUENCE_GAP, f"{chain.next_sequence} was expected next", reading.sequence)
    elif reading.previous_sha256 != chain.head_sha256:
        notes.add(
            Rule.CHAIN_BROKEN,
            f"names {reading.previous_sha256.hex()[:16]} before it, "
            f"the chain ends in {chain.head_sha256.hex()[:16]}",
            reading.sequence,
        )
    if chain.count:
        _check_clock(chain, reading, notes)
    else:
        device = notes.case.load(address.device(notes.device_id), Device) or Device()
        chain.calibrated_until_ms = device.calibrated_until_ms
    until_ms = chain.calibrated_until_ms
    if until_ms and reading.utc_ms > until_ms and not chain.calibration_expired:
        chain.calibration_expired = True  # readings after the first are no news
        notes.add(Rule.OUT_OF_CALIBRATION, f"calibrated until {until_ms} ms UTC", reading.sequence)
    watch.follow(reading)
    chain.tamper_flags = reading.tamper_flags
    chain.count += 1
    chain.next_sequence = reading.sequence + 1
    chain.head_sha256 = reading.sha256
    chain.last_utc_ms = reading.utc_ms
    chain.last_boot_id = reading.boot_id
    chain.last_monotonic_ms = reading.monotonic_ms


def _check_clock(chain: Chain, reading: Placed, notes: Notes) -> None:
    went_ms = reading.utc_ms - chain.last_utc_ms
    if went_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"UTC went back by {-went_ms} ms", reading.sequence)
    if reading.boot_id != chain.last_boot_id:
        return
    passed_ms = reading.monotonic_ms - chain.last_monotonic_ms
    if passed_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"the counter went back by {-passed_ms} ms", reading.sequence)
    elif went_ms >= 0 and abs(went_ms - passed_ms) > CLOCK_JUMP_MS:
        notes.add(
            Rule.CLOCK_JUMP,
            f"UTC moved by {went_ms} ms while {passed_ms} ms passed",
            reading.sequence,
        )


def _note_tamper(before: int, reading: Placed, trip: Trip, notes: Notes, marks: Marks) -> None:
    """Announce signs of tampering that the reading before did not show."""
    new = reading.tamper_flags & ~before
    if not new:
        return
    event = TamperEvent(
        trip_id=notes.trip_id,
        device_id=notes.device_id,
        sequence=reading.sequence,
        utc_ms=reading.utc_ms,
        flags=new,
    )
    if reading.record.HasField("position"):
        event.position.CopyFrom(reading.record.position)
    notes.case.event(EVENT_TAMPER, event, trip_id=notes.trip_id)
    for delivery in trip.deliveries:
        marks.add(delivery.delivery_id, reading.sequence, tampers=1)
