"""The rules applied once more, to the evidence alone: what the ledger must have concluded."""

from dataclasses import dataclass, field
from typing import Final

from contracts import address
from contracts.encoding import canonical
from contracts.evidence.recordings import Recordings
from contracts.payload import ADMIN_KEYS_SETTING, decode
from contracts.proto.payload_pb2 import (
    RecordReading,
    RecordVideo,
    RegisterParty,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Event, Setting, Transaction, TransactionHeader
from contracts.proto.state_pb2 import Breach, Chain, Finding, Key, TamperEvent
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_TAMPER
from contracts.rules.excursions import place_of
from contracts.rules.ids import Rule
from contracts.rules.memory import MemoryHost

INCOMPLETE: frozenset[str] = frozenset(
    {
        Rule.CHAIN_BROKEN,
        Rule.SEQUENCE_GAP,
        Rule.SEAL_MISMATCH,
        Rule.RECORDING_NOT_SEALED,
        Rule.DELIVERY_UNKNOWN,
    }
)
"""Findings after which nobody can say that all readings, recordings and limits are here."""
NOT_IN_CHAIN: frozenset[str] = frozenset(
    {Rule.SIGNER_MISMATCH, Rule.SEQUENCE_REPEATED, Rule.AFTER_SEAL}
)
"""Findings on a reading that its device's chain does not take."""
_OF_TRIP: Final = (StartTrip, RecordReading, SealTrip, RecordVideo)
_OfTrip = StartTrip | RecordReading | SealTrip | RecordVideo


@dataclass(slots=True)
class TripStory:
    """What the evidence says of one trip.

    Attributes:
        start: As its device signed it.
        first_ms: Time of the first reading, milliseconds since the Unix epoch.
        last_ms: Time of the last reading.
        readings: How many readings its devices' chains hold.
        derived: How many of them were replayed or shifted, not measured then and there.
        devices: Devices that recorded on it.
        signers: Public keys of those devices that signed here.
        breaches: By their address, the last word on each.
    """

    start: StartTrip
    first_ms: int | None = None
    last_ms: int | None = None
    readings: int = 0
    derived: int = 0
    devices: set[str] = field(default_factory=set)
    signers: set[str] = field(default_factory=set)
    breaches: dict[str, Breach] = field(default_factory=dict)
    tampers: list[TamperEvent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Replay:
    """Applies the evidence's transactions in the ledger's order and keeps the stories.

    Attributes:
        named: The trips that the evidence is about. What else its batches hold must obey the
            rules too, but is not told: nobody checks that it is whole.
        trips: The stories, by trip id.
        admin_keys: Keys that registered parties.
    """

    def __init__(self, recordings: Recordings, admin_keys: frozenset[str] | None) -> None:
        """Start from an empty state in which `admin_keys` rule; None takes those found."""
        self.named: frozenset[str] = frozenset()
        self.trips: dict[str, TripStory] = {}
        self.admin_keys: set[str] = set()
        self._recordings = recordings
        self._trusted = admin_keys
        self._host = MemoryHost()
        self._admit(admin_keys or frozenset())

    def apply(self, header: TransactionHeader, transaction: Transaction) -> None:
        """Apply one transaction.

        Raises:
            RejectedError: The rules refuse it, so no ledger under them could have committed it.
        """
        action = decode(transaction.payload)
        if isinstance(action, RegisterParty):
            self.admin_keys.add(header.signer_public_key)
            if self._trusted is None:
                self._admit(frozenset(self.admin_keys))
        events = self._host.apply(header, transaction.payload, transaction.header_signature)
        if not isinstance(action, _OF_TRIP) or action.trip_id not in self.named:
            return
        if isinstance(action, StartTrip):
            self.trips[action.trip_id] = TripStory(action)
        story = self.trips[action.trip_id]
        before = len(story.findings)
        for event in events:
            self._hear(event)
        found = {finding.rule for finding in story.findings[before:]}
        self._meet(action, header.signer_public_key)
        match action:
            case RecordReading() if not found & NOT_IN_CHAIN:
                self._count(action)
            case RecordVideo():
                self._recordings.announce(action)
            case _:
                pass

    def missing(self, trip_id: str) -> list[str]:
        """Return, in words, why the story of a trip is not whole; empty when it is."""
        story = self.trips.get(trip_id)
        if story is None:
            return [f"trip {trip_id}: its start is missing"]
        problems = [
            f"trip {trip_id}, device {finding.device_id}: {finding.rule}: {finding.detail}"
            for finding in story.findings
            if finding.rule in INCOMPLETE
        ]
        for device_id in sorted(story.devices):
            problems += self._missing_of(trip_id, device_id)
        return problems

    def _missing_of(self, trip_id: str, device_id: str) -> list[str]:
        name = f"trip {trip_id}, device {device_id}"
        entry = self._host.state.get(address.chain(trip_id, device_id))
        chain = Chain.FromString(entry) if entry is not None else Chain()
        if not chain.HasField("seal"):
            return [f"{name}: no seal, so readings may be missing"]
        return [
            f"{name}: recording {sealed.sha256.hex()} is sealed, its digest is missing"
            for sealed in chain.seal.recordings
            if sealed.sha256 not in chain.recorded_videos
        ]

    def _admit(self, admin_keys: frozenset[str]) -> None:
        entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=",".join(sorted(admin_keys)))
        setting = canonical(Setting(entries=[entry]))
        self._host.state[address.setting(ADMIN_KEYS_SETTING)] = setting

    def _meet(self, action: "_OfTrip", signer: str) -> None:
        """Keep which device acted, and under which key, unless it spoke in another's name."""
        story = self.trips[action.trip_id]
        key = Key.FromString(self._host.state[address.key(signer)])
        if key.owner_id == action.device_id:
            story.devices.add(action.device_id)
            story.signers.add(signer)

    def _count(self, record: RecordReading) -> None:
        story = self.trips[record.trip_id]
        story.readings += 1
        story.derived += record.derived
        now = record.clock.utc_ms
        story.first_ms = now if story.first_ms is None else min(story.first_ms, now)
        story.last_ms = now if story.last_ms is None else max(story.last_ms, now)

    def _hear(self, event: Event) -> None:
        if event.event_type == EVENT_FINDING:
            finding = Finding.FromString(event.data)
            self.trips[finding.trip_id].findings.append(finding)
        elif event.event_type == EVENT_TAMPER:
            tamper = TamperEvent.FromString(event.data)
            self.trips[tamper.trip_id].tampers.append(tamper)
        elif event.event_type == EVENT_BREACH:
            breach = Breach.FromString(event.data)
            self.trips[breach.trip_id].breaches[place_of(breach)] = breach
