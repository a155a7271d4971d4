"""Readings: each extends its device's chain on the trip, and nothing about one is hidden.

A reading that decodes, comes from a registered device and belongs to a trip is
never invalid, since that would void its batch and with it other readings: what
is wrong with it is recorded as a finding beside it.
"""

from typing import Final

from contracts import address
from contracts.proto.payload_pb2 import RecordReading
from contracts.proto.state_pb2 import Chain, Device, TamperEvent, Trip
from contracts.records.reading import digest
from contracts.rules import excursions
from contracts.rules.case import EVENT_TAMPER, Case, Notes
from contracts.rules.ids import Rule

CLOCK_JUMP_MS: Final = 60_000
"""How far UTC may run away from the monotonic counter between two readings of one boot."""


def record_reading(action: RecordReading, case: Case) -> None:
    """Append a reading to its device's chain; whatever is odd about it becomes a finding."""
    key = case.device_key()
    trip = case.trip(action.trip_id)
    notes = Notes(case, action.trip_id, action.device_id, [])
    if key.revoked:
        notes.add(Rule.KEY_REVOKED, f"key {case.signer} was revoked", action.sequence)
    if key.owner_id != action.device_id:
        notes.add(
            Rule.SIGNER_MISMATCH, f"signed by {key.owner_id}; not in the chain", action.sequence
        )
    else:
        chain = case.chain(action.trip_id, action.device_id)
        if chain.HasField("seal"):
            notes.add(Rule.AFTER_SEAL, "not in the chain, which is sealed", action.sequence)
        elif action.sequence < chain.next_sequence:
            notes.add(
                Rule.SEQUENCE_REPEATED,
                f"not in the chain, which expects {chain.next_sequence}",
                action.sequence,
            )
        else:
            _extend(chain, action, trip, notes)
            case.store(address.chain(action.trip_id, action.device_id), chain)
    notes.record()


def _extend(chain: Chain, action: RecordReading, trip: Trip, notes: Notes) -> None:
    if action.sequence > chain.next_sequence:
        notes.add(Rule.SEQUENCE_GAP, f"{chain.next_sequence} was expected next", action.sequence)
    elif action.previous_sha256 != chain.head_sha256:
        notes.add(
            Rule.CHAIN_BROKEN,
            f"names {action.previous_sha256.hex()[:16]} before it, "
            f"the chain ends in {chain.head_sha256.hex()[:16]}",
            action.sequence,
        )
    _check_clock(chain, action, notes)
    _check_calibration(chain, action, notes)
    excursions.follow(trip, chain, action, notes)
    _note_tamper(chain, action, trip, notes)
    chain.count += 1
    chain.next_sequence = action.sequence + 1
    chain.head_sha256 = digest(action)
    chain.last_utc_ms = action.clock.utc_ms
    chain.last_boot_id = action.clock.boot_id
    chain.last_monotonic_ms = action.clock.monotonic_ms


def _check_clock(chain: Chain, action: RecordReading, notes: Notes) -> None:
    if not chain.count:
        return
    clock = action.clock
    went_ms = clock.utc_ms - chain.last_utc_ms
    if went_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"UTC went back by {-went_ms} ms", action.sequence)
    if clock.boot_id != chain.last_boot_id:
        return
    passed_ms = clock.monotonic_ms - chain.last_monotonic_ms
    if passed_ms < 0:
        notes.add(Rule.CLOCK_BACK, f"the counter went back by {-passed_ms} ms", action.sequence)
    elif went_ms >= 0 and abs(went_ms - passed_ms) > CLOCK_JUMP_MS:
        notes.add(
            Rule.CLOCK_JUMP,
            f"UTC moved by {went_ms} ms while {passed_ms} ms passed",
            action.sequence,
        )


def _check_calibration(chain: Chain, action: RecordReading, notes: Notes) -> None:
    """Note the first reading past the calibration date; those after it are no news."""
    if not chain.count:
        device = notes.case.load(address.device(action.device_id), Device)
        chain.calibrated_until_ms = device.calibrated_until_ms if device else 0
    until_ms = chain.calibrated_until_ms
    if until_ms and action.clock.utc_ms > until_ms and not chain.calibration_expired:
        chain.calibration_expired = True
        notes.add(Rule.OUT_OF_CALIBRATION, f"calibrated until {until_ms} ms UTC", action.sequence)


def _note_tamper(chain: Chain, action: RecordReading, trip: Trip, notes: Notes) -> None:
    """Announce signs of tampering that the reading before did not show."""
    new = action.tamper_flags & ~chain.tamper_flags
    chain.tamper_flags = action.tamper_flags
    if not new:
        return
    event = TamperEvent(
        trip_id=action.trip_id,
        device_id=action.device_id,
        sequence=action.sequence,
        utc_ms=action.clock.utc_ms,
        flags=new,
    )
    if action.HasField("position"):
        event.position.CopyFrom(action.position)
    notes.case.event(EVENT_TAMPER, action.trip_id, event)
    for delivery in trip.deliveries:
        excursions.mark_delivery(notes, delivery.delivery_id, action.sequence, tampers=1)
