"""What evidence tells of one trip, gathered from its actions and from what the rules concluded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts.proto.payload_pb2 import CloseTrip, RecordReading, RecordRun, RunReading, StartTrip
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import Breach, Delivery, Finding, Hold, TamperEvent
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_HOLD, EVENT_TAMPER
from contracts.rules.excursions import place_of
from contracts.rules.ids import Rule

NOT_IN_CHAIN: Final[frozenset[str]] = frozenset(
    {Rule.SIGNER_MISMATCH, Rule.DEVICE_NOT_ON_TRIP, Rule.SEQUENCE_REPEATED, Rule.AFTER_SEAL}
)
"""Findings on a reading that its device's chain does not take."""


@dataclass(slots=True)
class TripStory:
    """What the evidence says of one trip.

    Attributes:
        start: As its device signed it.
        first_ms: Time of the first reading, milliseconds since the Unix epoch.
        last_ms: Time of the last reading.
        readings: How many readings its devices' chains hold.
        derived: How many of them were replayed or shifted, not measured then and there.
        signers: Public keys of its devices that signed here.
        breaches: By their address, the last word on each.
        holds: Legal holds by their id, standing or released.
        deliveries: Those that it carries, as they stand at the end of the evidence.
        close: How a party closed it; None when none did.
    """

    start: StartTrip
    first_ms: int | None = None
    last_ms: int | None = None
    readings: int = 0
    derived: int = 0
    signers: set[str] = field(default_factory=set)
    breaches: dict[str, Breach] = field(default_factory=dict)
    tampers: list[TamperEvent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    holds: dict[str, Hold] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    close: CloseTrip | None = None

    def hear(self, event: Event) -> None:
        """Keep what the rules announced."""
        if event.event_type == EVENT_FINDING:
            self.findings.append(Finding.FromString(event.data))
        elif event.event_type == EVENT_TAMPER:
            self.tampers.append(TamperEvent.FromString(event.data))
        elif event.event_type == EVENT_BREACH:
            breach = Breach.FromString(event.data)
            self.breaches[place_of(breach)] = breach
        elif event.event_type == EVENT_HOLD:
            hold = Hold.FromString(event.data)
            self.holds[hold.placed.hold_id] = hold

    def count(self, action: RecordReading | RecordRun, found: list[Finding]) -> None:
        """Count the readings of an action that their chain took, by what was found on them."""
        apart = {finding.sequence for finding in found if finding.rule in NOT_IN_CHAIN}
        first = action.sequence if isinstance(action, RecordReading) else action.first_sequence
        for sequence, record in enumerate(_records(action), first):
            if sequence in apart:
                continue
            self.readings += 1
            self.derived += record.derived
            now = record.clock.utc_ms
            self.first_ms = now if self.first_ms is None else min(self.first_ms, now)
            self.last_ms = now if self.last_ms is None else max(self.last_ms, now)


def _records(action: RecordReading | RecordRun) -> Sequence[RecordReading | RunReading]:
    return [action] if isinstance(action, RecordReading) else action.readings
