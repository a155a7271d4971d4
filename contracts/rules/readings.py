"""Readings: each extends its device's chain on the trip; each irregularity becomes a finding.

A reading that decodes, comes from a registered device and belongs to a trip is
never invalid, since that would void the other readings in its batch. A reading
of a run is treated as if it came alone.
"""

from collections.abc import Sequence

from contracts import address
from contracts.proto.payload_pb2 import RecordReading, RecordRun
from contracts.proto.state_pb2 import Chain, Device, Key, TamperEvent, Trip
from contracts.records.placed import Placed, placed
from contracts.rules.attention import Attention
from contracts.rules.case import EVENT_TAMPER, Case, Notes
from contracts.rules.clocks import ClockWatch
from contracts.rules.excursions import Watch
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks
from contracts.rules.passed import last_moment, passed_ms
from contracts.rules.places import ACCURACY_CM_MAX
from contracts.rules.telling import Telling
from contracts.rules.version import RulesVersion
from contracts.rules.watched import Watched, watched_trip


def record_readings(action: RecordReading | RecordRun, case: Case) -> None:
    """Append readings to their device's chain; add a finding for each irregularity."""
    readings = placed(action)
    key = case.device_key()
    watched = watched_trip(action.trip_id, case)
    place = address.chain(action.trip_id, action.device_id)
    chain = case.load(place, Chain) or Chain(device_id=action.device_id)
    notes = Notes(case, action.trip_id, action.device_id)
    revoked = key.revoked
    apart = _why_apart(action, key, watched, chain)
    marks = Marks(watched.trip, chain, notes, revoked=revoked)
    watch = Watch(watched.bounds, chain, notes, marks)
    attention = Attention(watched, chain, notes, marks) if case.version else None
    telling = Telling(chain, notes) if case.version >= RulesVersion.V1_2 else None
    end = _End(chain, watched.trip, notes)
    first = end.next_sequence
    for reading in readings:
        if revoked:
            notes.add_if_revoked(key, reading.sequence)
        if apart is not None or reading.sequence < end.next_sequence:
            notes.add(*(apart or end.repeated()), reading.sequence)
        else:
            before, flags = end.last, end.tamper_flags
            passed = end.take(reading)
            if attention is not None:
                attention.follow(before, reading, passed)
            watch.follow(reading, passed)
            if reading.tamper_flags != flags:
                _note_tamper(flags, reading, watched.trip, notes, marks)
            if telling is not None:
                telling.follow(reading)
    if end.joined is not None:
        end.keep()
        watch.keep()
        if attention is not None:
            _keep_position(chain, readings, first)
            attention.keep()
        if telling is not None:
            telling.keep()
        marks.keep()
        case.store(place, chain)
    notes.record()


def _why_apart(
    action: RecordReading | RecordRun, key: Key, watched: Watched, chain: Chain
) -> tuple[Rule, str] | None:
    """Return the finding if these readings belong to no chain, else None."""
    if key.owner_id != action.device_id:
        return Rule.SIGNER_MISMATCH, f"signed by {key.owner_id}; not in the chain"
    if action.device_id not in watched.devices:
        return Rule.DEVICE_NOT_ON_TRIP, "the trip does not name this device; in no chain"
    if chain.HasField("seal"):
        return Rule.AFTER_SEAL, "not in the chain, which is sealed"
    return None


def _keep_position(chain: Chain, readings: Sequence[Placed], first: int) -> None:
    """Keep the last position that joined the chain with the readings from `first` on."""
    for each in reversed(readings):
        place = each.record.position
        known = each.record.HasField("position") and place.accuracy_cm <= ACCURACY_CM_MAX
        if known and each.sequence >= first:
            chain.last_position.CopyFrom(place)
            return


class _End:
    """The end of a chain, where readings join it, as plain values: a run may hold hundreds."""

    __slots__ = (
        "_chain",
        "_checks_first",
        "_clock",
        "_count",
        "_notes",
        "_until_ms",
        "head_sha256",
        "joined",
        "last",
        "next_sequence",
        "tamper_flags",
    )

    def __init__(self, chain: Chain, trip: Trip, notes: Notes) -> None:
        self._chain = chain
        self._notes = notes
        self._clock = ClockWatch(chain, notes)
        self._checks_first = bool(notes.case.version)
        self._count = chain.count
        self._until_ms = 0 if chain.calibration_expired else chain.calibrated_until_ms
        self.joined: Placed | None = None
        self.last = last_moment(chain, trip)
        self.next_sequence = chain.next_sequence
        self.head_sha256 = chain.head_sha256
        self.tamper_flags = chain.tamper_flags

    def repeated(self) -> tuple[Rule, str]:
        """Return the finding on a reading that comes again."""
        return Rule.SEQUENCE_REPEATED, f"not in the chain, which expects {self.next_sequence}"

    def take(self, reading: Placed) -> int:
        """Go on to the next reading; return the time that passed until then, milliseconds.

        Adds a finding for each irregularity of its place and time.
        """
        sequence = reading.sequence
        if sequence > self.next_sequence:
            self._notes.add(Rule.SEQUENCE_GAP, f"{self.next_sequence} was expected next", sequence)
        elif reading.previous_sha256 != self.head_sha256:
            self._notes.add(
                Rule.CHAIN_BROKEN,
                f"names {reading.previous_sha256.hex()[:16]} before it, "
                f"the chain ends in {self.head_sha256.hex()[:16]}",
                sequence,
            )
        if not self._count:
            self._begin()
        before = self.last
        if before is not None and (self._count or self._checks_first):
            passed = self._clock.follow(before, reading, sequence)
        else:
            passed = passed_ms(before, reading, self._notes.case.version)
        until_ms = self._until_ms
        if until_ms and reading.utc_ms > until_ms:
            self._notes.add(
                Rule.OUT_OF_CALIBRATION, f"calibrated until {until_ms} ms UTC", sequence
            )
            self._chain.calibration_expired = True
            self._until_ms = 0  # found once, at the first such reading
        self._count += 1
        self.last = self.joined = reading
        self.next_sequence = sequence + 1
        self.head_sha256 = reading.sha256
        self.tamper_flags = reading.tamper_flags
        return passed

    def keep(self) -> None:
        """Write the new end into the chain, once a reading has joined it."""
        chain, last = self._chain, self.joined
        if last is None:
            return
        chain.tamper_flags = last.tamper_flags
        chain.count = self._count
        chain.next_sequence = self.next_sequence
        chain.head_sha256 = last.sha256
        chain.last_utc_ms = last.utc_ms
        chain.last_boot_id = last.boot_id
        chain.last_monotonic_ms = last.monotonic_ms
        self._clock.keep()

    def _begin(self) -> None:
        """Take the device's calibration, with which the whole chain is compared."""
        case, device_id = self._notes.case, self._notes.device_id
        device = case.load(address.device(device_id), Device) or Device()
        self._chain.calibrated_until_ms = self._until_ms = device.calibrated_until_ms


def _note_tamper(before: int, reading: Placed, trip: Trip, notes: Notes, marks: Marks) -> None:
    """Add an event for signs that the reading before did not show; since 1.2 also for their end."""
    new, tells = reading.tamper_flags & ~before, notes.case.version >= RulesVersion.V1_2
    if not (new or tells):
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
    if tells:
        event.ended_flags = before & ~reading.tamper_flags
        event.film.extend(reading.record.film)
    notes.case.event(EVENT_TAMPER, event, trip_id=notes.trip_id)
    for delivery in trip.deliveries if new else ():
        marks.add(delivery.delivery_id, reading.sequence, tampers=1)
