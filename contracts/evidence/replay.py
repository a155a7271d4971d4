"""Applies the rules again, to the evidence alone, for what the ledger must have concluded."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from contracts import address
from contracts.actions.apply import well_formed
from contracts.actions.kind import SignedBy
from contracts.actions.payload import decode
from contracts.actions.table import KINDS, Action, OfReadings
from contracts.address import ADMIN_KEYS_SETTING
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.between import TripEnds, unwatched
from contracts.evidence.endstate import EndState, Scope, compare
from contracts.evidence.ledgerparts import Taken
from contracts.evidence.memory import Effects, MemoryHost
from contracts.evidence.recordings import Recordings
from contracts.evidence.sources import inputs_by_output, sources_of
from contracts.evidence.statenodes import ProvenState
from contracts.evidence.story import TripStory, signed_ms
from contracts.evidence.times import BlockTimesTold
from contracts.proto.evidence_pb2 import Header
from contracts.proto.payload_pb2 import (
    CommitAccesses,
    PackUnit,
    RecordVideo,
    RegisterParty,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Event, Setting, TransactionHeader
from contracts.proto.state_pb2 import (
    Chain,
    Delivery,
    Key,
    LogisticUnit,
    Lot,
    Transformation,
    Trip,
)
from contracts.rules.case import EVENT_TRANSFORMATION, invalid
from contracts.rules.excursions import bounds_of
from contracts.rules.ids import Rule
from contracts.rules.trips import devices_of
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import Family

INCOMPLETE: frozenset[str] = frozenset(
    {
        Rule.CHAIN_BROKEN,
        Rule.SEQUENCE_GAP,
        Rule.SEAL_MISMATCH,
        Rule.RECORDING_NOT_SEALED,
        Rule.RECORDING_LEFT_OUT,
        Rule.DELIVERY_UNKNOWN,
    }
)
"""Findings after which readings, recordings or limits may be missing from the evidence."""


def _decoded(payload: bytes) -> Action:
    """Return the action of a payload; a ledger refuses another one by its rule on the form."""
    try:
        return decode(payload)
    except RejectedError as error:
        raise invalid(Rule.FORM, str(error)) from error


class Replay:
    """Applies the evidence's transactions in the ledger's order and keeps the trips' stories.

    Attributes:
        named: Ids of the trips that the evidence is about. The rest of its batches must obey
            the rules too, but has no story, since it may be incomplete.
        with_lots: Whether the file shows how the sources of the delivered lots were made.
        transformations: The transformations in the evidence, in order; there may be others.
        recordings: Told which recordings the batches claim.
        admin_keys: Keys that registered parties.
        last_signed_ms: The latest time that a transaction states, milliseconds since the Unix
            epoch; 0 before the first.
    """

    def __init__(self, recordings: Recordings, admin_keys: frozenset[str] | None) -> None:
        """Start from an empty state with these administrators; None accepts any."""
        self.named: frozenset[str] = frozenset()
        self.with_lots = True
        self.transformations: list[Transformation] = []
        self.admin_keys: set[str] = set()
        self.last_signed_ms = 0
        self._trips: dict[str, TripStory] = {}
        self._early: defaultdict[str, list[Event]] = defaultdict(list)
        self.recordings = recordings
        self._trusted = admin_keys
        self._host = MemoryHost()
        self._times = BlockTimesTold()
        self._joined: defaultdict[str, set[str]] = defaultdict(set)
        """By address of a delivery, the prefixes of the trips whose actions changed it."""
        self._admit(admin_keys or frozenset())

    def begin(self, header: Header) -> None:
        """Take what a file says that it is about."""
        self.named = frozenset(header.trip_ids)
        self.with_lots = not header.without_lots

    def apply(self, taken: Taken) -> None:
        """Apply one transaction.

        Raises:
            RejectedError: The rules refuse it, so no ledger under these rules committed it. Or it
                belongs to a named trip, and a transaction that it depends on is missing.
        """
        header, transaction, missing, (block_num, at) = taken
        if Family.of(header) == block_info.FAMILY:
            if at == 0:
                self._times.tell(transaction.payload, block_num, self._host.state)
            return
        self._times.enter(block_num, self._host.state)
        action = _decoded(transaction.payload)
        if missing is not None and self._is_in_a_story(action, header.signer_public_key):
            raise RejectedError(
                f"transaction {transaction.header_signature[:16]}… depends on "
                f"{missing[:16]}…, which is missing"
            )
        if isinstance(action, RegisterParty):
            self.admin_keys.add(header.signer_public_key)
            if self._trusted is None:
                self._admit(frozenset(self.admin_keys))
        trip_id = getattr(action, "trip_id", "")
        drafts = self._drafts(action) if isinstance(action, StartTrip) else {}
        applied = self._applied(taken, action)
        events = applied.events
        self._join(applied.written)
        self.last_signed_ms = max(self.last_signed_ms, signed_ms(action))
        self.transformations += [
            Transformation.FromString(event.data)
            for event in events
            if event.event_type == EVENT_TRANSFORMATION
        ]
        if isinstance(action, RecordVideo):
            self.recordings.claim(action)
        if isinstance(action, StartTrip) and trip_id in self.named:
            trip = Trip.FromString(self._host.state[address.trip(trip_id)])
            self._trips[trip_id] = TripStory(
                action,
                drafts=drafts,
                by_revoked_key=self._key(header.signer_public_key).revoked,
                ends=TripEnds(bounds_of(trip)),
            )
            events = [*self._early.pop(trip_id, []), *events]
        if trip_id in self.named:
            self._extend_story(trip_id, action, events)
            if KINDS[type(action)].signed_by is SignedBy.DEVICE:
                self._keep_signer(trip_id, getattr(action, "device_id", ""), header)

    def _applied(self, taken: Taken, action: Action) -> Effects:
        """Apply one transaction to the state; return what it did.

        What logistic units hold is not told, so a file need not have their whole story; nor that of
        a record of accesses, of which each head counts on from the one before.
        """
        payload, name = taken.transaction.payload, taken.transaction.header_signature
        if not isinstance(action, CommitAccesses | PackUnit):
            return self._host.apply(taken.header, payload, name)
        well_formed(taken.header, payload)
        if isinstance(action, PackUnit):
            entry = LogisticUnit(sscc=action.sscc, packed=action)
            self._host.state[address.unit(action.sscc)] = canonical(entry)
        return Effects([], frozenset())

    def stories(self) -> dict[str, TripStory]:
        """Return the stories of the named trips, each with its end."""
        made_from = inputs_by_output(self.transformations)
        for trip_id, story in self._trips.items():
            trip = Trip.FromString(self._host.state[address.trip(trip_id)])
            story.close = trip.close if trip.HasField("close") else None
            story.entry = trip
            story.revoked = {each for each in story.signers if self._key(each).revoked}
            story.chains = [self._chain(trip_id, each) for each in devices_of(trip.start)]
            entries = (
                self._host.state.get(address.delivery(delivery_id))
                for delivery_id in story.start.delivery_ids
            )
            story.deliveries = [Delivery.FromString(entry) for entry in entries if entry]
            story.elsewhere = {
                each.terms.delivery_id: self._elsewhere(each.terms.delivery_id)
                for each in story.deliveries
            }
            story.between = {
                each.terms.delivery_id: self._between(each) for each in story.deliveries
            }
            delivered = list(dict.fromkeys(self._lots(story)))
            story.lots = self._entries(delivered)
            sources = sources_of(delivered, made_from) if self.with_lots else []
            story.source_lots = self._entries(sources)
        return self._trips

    @property
    def times(self) -> BlockTimesTold:
        """Return which blocks have a time in the evidence."""
        return self._times

    def scope(self) -> Scope:
        """Return which entries must be as the state after the last block has them.

        That is every entry that a transaction read or wrote, and the delivered lots, with two
        exceptions. Deliveries that no named trip carries are the business of others, and so are
        trips that did nothing to a delivery of a named trip.
        """
        deliveries = frozenset(
            address.delivery(delivery_id)
            for story in self._trips.values()
            for delivery_id in story.start.delivery_ids
        )
        delivered = {place for story in self._trips.values() for place in self._lots(story)}
        touched = {
            place
            for place in (*self._host.touched, *delivered)
            if self.with_lots or place in delivered or not place.startswith(address.LOT_PREFIX)
        }
        trips = {address.trip_prefix(trip_id) for trip_id in self.named}
        trips.update(*(self._joined.get(place, ()) for place in deliveries))
        return Scope(frozenset(touched), frozenset(trips), deliveries)

    def compare(self, proven: ProvenState) -> EndState:
        """Compare the end of the replay with the state that the file proves."""
        end = compare(self._host.state, self.scope(), proven)
        if not end.problems:
            self._host.state.update(end.deliveries)
        self.transformations = [
            end.transformations.get(each.terms.transformation_id, each)
            for each in self.transformations
        ]
        for trip_id, story in self._trips.items():
            prefix = address.trip_prefix(trip_id)
            story.strangers = end.strangers.get(prefix, Counter())
            story.findings += end.series.get(prefix, [])
        return end

    @property
    def state(self) -> Mapping[str, bytes]:
        """Return the values by address at the end of the replay."""
        return self._host.state

    def known(self) -> Mapping[str, bytes]:
        """Return the values that a proof need not show: the verifier has them."""
        return Scope.known(self._host.state)

    def missing(self, trip_id: str) -> list[str]:
        """Return, in words, what a trip's story lacks; empty when it is whole."""
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

    def _is_in_a_story(self, action: Action, signer: str) -> bool:
        """Say whether an action belongs to a named trip, signed by its device or by a party.

        Actions of other devices may share a batch with it. They must not make the evidence fail
        by depending on a transaction elsewhere.
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

    def _join(self, written: frozenset[str]) -> None:
        """Keep which trips an action belongs to that changed deliveries."""
        trips = {address.prefix_of(place) for place in written if address.kind_of(place) == "trip"}
        for place in written:
            if place.startswith(address.DELIVERY_PREFIX):
                self._joined[place] |= trips

    def _elsewhere(self, delivery_id: str) -> list[str]:
        """Return the trips that changed a delivery, and that the file is not about."""
        prefixes = self._joined.get(address.delivery(delivery_id), set())
        entries = (self.state.get(address.trip_of(prefix)) for prefix in prefixes)
        found = {Trip.FromString(entry).start.trip_id for entry in entries if entry}
        return sorted(found - self.named)

    def _between(self, delivery: Delivery) -> list[str]:
        """Return, in words, what nobody watched between two trips of a delivery."""
        delivery_id = delivery.terms.delivery_id
        trips = [
            (trip_id, story.ends)
            for trip_id, story in self._trips.items()
            if delivery_id in story.start.delivery_ids
        ]
        return list(unwatched(delivery_id, delivery.terms.limits, trips))

    def _lots(self, story: TripStory) -> Iterator[str]:
        """Yield the addresses of the lots that a trip delivers."""
        for delivery_id in story.start.delivery_ids:
            entry = Delivery.FromString(self.state.get(address.delivery(delivery_id), b""))
            yield from (address.lot(lot.gtin, lot.lot) for lot in entry.terms.lots)

    def _entries(self, places: Iterable[str]) -> list[Lot]:
        """Return the lots that are on record at these addresses."""
        found = (self._host.state.get(place) for place in places)
        return [Lot.FromString(entry) for entry in found if entry]

    def _drafts(self, start: StartTrip) -> dict[str, list[str]]:
        """Return the deliveries that only one side has signed so far, with that party."""
        entries = {
            delivery_id: Delivery.FromString(entry)
            for delivery_id in start.delivery_ids
            if (entry := self._host.state.get(address.delivery(delivery_id)))
        }
        return {
            delivery_id: list(entry.signed_by)
            for delivery_id, entry in entries.items()
            if entry.status == Delivery.OFFERED
        }

    def _missing_of(self, trip_id: str, device_id: str) -> list[str]:
        name = f"trip {trip_id}, device {device_id}"
        chain = self._chain(trip_id, device_id)
        if not chain.HasField("seal"):
            return [f"{name}: no seal, so readings may be missing"]
        return [
            f"{name}: recording {sealed.sha256.hex()} is sealed, its digest is missing"
            for sealed in chain.seal.recordings
            if sealed.sha256 not in chain.recorded_videos
        ]

    def _chain(self, trip_id: str, device_id: str) -> Chain:
        entry = self._host.state.get(address.chain(trip_id, device_id))
        return Chain.FromString(entry) if entry is not None else Chain(device_id=device_id)

    def _admit(self, admin_keys: frozenset[str]) -> None:
        entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=",".join(sorted(admin_keys)))
        setting = canonical(Setting(entries=[entry]))
        self._host.state[address.setting(ADMIN_KEYS_SETTING)] = setting

    def _extend_story(self, trip_id: str, action: Action, events: list[Event]) -> None:
        story = self._trips.get(trip_id)
        if story is None:  # goods may change hands on the ledger before the truck's start is there
            self._early[trip_id] += events
            return
        before = len(story.findings)
        for event in events:
            story.add_event(event)
        if isinstance(action, OfReadings):
            story.count(action, story.findings[before:])
        elif isinstance(action, RecordVideo):
            self.recordings.announce(action)

    def _keep_signer(self, trip_id: str, device_id: str, header: TransactionHeader) -> None:
        """Keep the key if a device of the trip signed with it."""
        story, signer = self._trips[trip_id], header.signer_public_key
        if self._key(signer).owner_id == device_id in devices_of(story.start):
            story.signers.add(signer)

    def _key(self, public_key: str) -> Key:
        return Key.FromString(self._host.state[address.key(public_key)])
