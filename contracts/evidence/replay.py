"""The rules applied once more, to the evidence alone: what the ledger must have concluded."""

from contracts import address
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.ledgerparts import Taken
from contracts.evidence.recordings import Recordings
from contracts.evidence.story import TripStory
from contracts.payload import ADMIN_KEYS_SETTING, Action, OfReadings, decode
from contracts.proto.payload_pb2 import (
    CloseTrip,
    HandOver,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    RegisterParty,
    ReleaseHold,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Event, Setting
from contracts.proto.state_pb2 import Chain, Delivery, Key, Transformation, Trip
from contracts.rules.case import EVENT_TRANSFORMATION
from contracts.rules.ids import Rule
from contracts.rules.memory import MemoryHost
from contracts.rules.trips import devices_of

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


class Replay:
    """Applies the evidence's transactions in the ledger's order and keeps the stories.

    Attributes:
        named: The trips that the evidence is about. What else its batches hold must obey the
            rules too, but is not told: nobody checks that it is whole.
        transformations: Those that the evidence holds, in order; nobody checks that these are all.
        admin_keys: Keys that registered parties.
    """

    def __init__(self, recordings: Recordings, admin_keys: frozenset[str] | None) -> None:
        """Start from an empty state in which `admin_keys` rule; None takes those found."""
        self.named: frozenset[str] = frozenset()
        self.transformations: list[Transformation] = []
        self.admin_keys: set[str] = set()
        self._trips: dict[str, TripStory] = {}
        self._recordings = recordings
        self._trusted = admin_keys
        self._host = MemoryHost()
        self._admit(admin_keys or frozenset())

    def apply(self, taken: Taken) -> None:
        """Apply one transaction.

        Raises:
            RejectedError: The rules refuse it, so no ledger under them could have committed it; or
                it is of the evidence's story, and one that it depends on is missing.
        """
        header, transaction, missing = taken
        action = decode(transaction.payload)
        if missing and self._is_told(action, header.signer_public_key):
            raise RejectedError(
                f"transaction {transaction.header_signature[:16]}… depends on "
                f"{missing[0][:16]}…, which is missing"
            )
        if isinstance(action, RegisterParty):
            self.admin_keys.add(header.signer_public_key)
            if self._trusted is None:
                self._admit(frozenset(self.admin_keys))
        events = self._host.apply(header, transaction.payload, transaction.header_signature)
        match action:
            case StartTrip() | RecordReading() | RecordRun() | SealTrip() | RecordVideo():
                self._tell(action.trip_id, action, events)
                self._meet(action, header.signer_public_key)
            case HandOver() | CloseTrip() | PlaceHold() | ReleaseHold():
                self._tell(action.trip_id, action, events)
            case _:
                self.transformations += [
                    Transformation.FromString(event.data)
                    for event in events
                    if event.event_type == EVENT_TRANSFORMATION
                ]

    def stories(self) -> dict[str, TripStory]:
        """Return what the evidence tells of the trips it is about, with how each ended."""
        for trip_id, story in self._trips.items():
            trip = Trip.FromString(self._host.state[address.trip(trip_id)])
            story.close = trip.close if trip.HasField("close") else None
            entries = (
                self._host.state.get(address.delivery(delivery_id))
                for delivery_id in story.start.delivery_ids
            )
            story.deliveries = [Delivery.FromString(entry) for entry in entries if entry]
        return self._trips

    def missing(self, trip_id: str) -> list[str]:
        """Return, in words, why the story of a trip is not whole; empty when it is."""
        story = self._trips.get(trip_id)
        if story is None:
            return [f"trip {trip_id}: its start is missing"]
        problems = [
            f"trip {trip_id}, device {finding.device_id}: {finding.rule}: {finding.detail}"
            for finding in story.findings
            if finding.rule in INCOMPLETE
        ]
        for device_id in sorted(devices_of(story.start)):
            problems += self._missing_of(trip_id, device_id)
        return problems

    def _is_told(self, action: Action, signer: str) -> bool:
        """Say whether an action is of a named trip, by one of its devices or by a party.

        What others say about the trip is in the evidence by chance: they must not be able to spoil
        it by depending on something far away.
        """
        trip_id = getattr(action, "trip_id", "")
        if trip_id not in self.named:
            return False
        story = self._trips.get(trip_id)
        entry = self._host.state.get(address.key(signer))
        if story is None or entry is None:
            return True
        key = Key.FromString(entry)
        return key.owner == Key.PARTY or key.owner_id in devices_of(story.start)

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

    def _tell(self, trip_id: str, action: Action, events: list[Event]) -> None:
        if trip_id not in self.named:
            return
        if isinstance(action, StartTrip):
            self._trips[trip_id] = TripStory(action)
        story = self._trips[trip_id]
        before = len(story.findings)
        for event in events:
            story.hear(event)
        if isinstance(action, OfReadings):
            story.count(action, story.findings[before:])
        elif isinstance(action, RecordVideo):
            self._recordings.announce(action)

    def _meet(
        self, action: StartTrip | RecordReading | RecordRun | SealTrip | RecordVideo, signer: str
    ) -> None:
        """Keep under which keys the trip's devices signed."""
        story = self._trips.get(action.trip_id)
        key = Key.FromString(self._host.state[address.key(signer)])
        if story and key.owner_id == action.device_id in devices_of(story.start):
            story.signers.add(signer)
