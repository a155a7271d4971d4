"""The story of one trip in the evidence, from its actions and from the rules' events."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts.actions.table import Action, OfReadings
from contracts.evidence.between import TripEnds
from contracts.evidence.corrected import CorrectedTimes
from contracts.proto.payload_pb2 import (
    CloseTrip,
    Limit,
    RecordReading,
    RecordRun,
    RunReading,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Event
from contracts.proto.state_pb2 import (
    Breach,
    Chain,
    Delivery,
    Finding,
    Hold,
    Lot,
    Remarked,
    TamperEvent,
    Trip,
)
from contracts.rules.case import (
    EVENT_BREACH,
    EVENT_FINDING,
    EVENT_HOLD,
    EVENT_REMARK,
    EVENT_TAMPER,
)
from contracts.rules.custody import carriers_of
from contracts.rules.excursions import place_of
from contracts.rules.ids import Rule
from contracts.rules.series import SERIES_RULES
from contracts.rules.silence import longest_silence_s
from contracts.rules.trips import devices_of
from contracts.rules.version import RulesVersion

NOT_IN_CHAIN: Final[frozenset[str]] = frozenset(
    {Rule.SIGNER_MISMATCH, Rule.DEVICE_NOT_ON_TRIP, Rule.SEQUENCE_REPEATED, Rule.AFTER_SEAL}
)
"""Findings on readings that do not join their device's chain."""


@dataclass(slots=True)
class TripStory:
    """The story of one trip.

    Attributes:
        start: The start, as the device signed it.
        first_ms: Time of the first reading, milliseconds since the Unix epoch.
        last_ms: Time of the last reading.
        readings: How many readings the chains of its devices hold.
        derived: How many of them were replayed or shifted, not measured then and there.
        signers: Public keys with which its devices signed.
        revoked: Those of them that are revoked at the end of the evidence.
        breaches: The latest entry of each breach, by address.
        holds: Legal holds by their id, in force or released.
        deliveries: The deliveries on the trip, as they are at the end of the evidence.
        close: How a party closed the trip; None while it is open.
        entry: The trip as it stands, with the limits of its deliveries.
        chains: The chains of its devices as they stand, with how long each was silent.
        lots: The delivered lots that are on record, as they are at the end of the evidence.
        source_lots: The lots behind them, likewise, if the file shows how lots were made.
        drafts: Deliveries whose terms not both sides had signed when the trip started, with the
            parties that had. Their limits are what one side wrote.
        elsewhere: By id of a delivery, the other trips in the file on which it went, and which the
            file is not about.
        strangers: How often batches of strangers left a finding and are not in the file, by rule.
        by_revoked_key: Whether a key that was revoked before started the trip, so that it took
            nothing.
        ends: How the measurements of limited quantities began and ended.
        between: By id of a delivery, what nobody can say of it between two of its trips, in words.
        remarks: What its devices said of themselves, in order.
        times: What corrections of its devices' clocks set right.
    """

    start: StartTrip
    first_ms: int | None = None
    last_ms: int | None = None
    readings: int = 0
    derived: int = 0
    signers: set[str] = field(default_factory=set)
    revoked: set[str] = field(default_factory=set)
    breaches: dict[str, Breach] = field(default_factory=dict)
    tampers: list[TamperEvent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    holds: dict[str, Hold] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    close: CloseTrip | None = None
    entry: Trip = field(default_factory=Trip)
    chains: list[Chain] = field(default_factory=list)

    @property
    def judges_silence(self) -> bool:
        """Say whether the trip's rules find silence, which those of version 1.0 do not."""
        return self.entry.rules >= RulesVersion.V1_1

    lots: list[Lot] = field(default_factory=list)
    source_lots: list[Lot] = field(default_factory=list)
    drafts: dict[str, list[str]] = field(default_factory=dict)
    elsewhere: dict[str, list[str]] = field(default_factory=dict)
    strangers: Counter[str] = field(default_factory=Counter)
    by_revoked_key: bool = False
    ends: TripEnds = field(default_factory=lambda: TripEnds(()))
    between: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[Remarked] = field(default_factory=list)
    times: CorrectedTimes = field(default_factory=CorrectedTimes)

    def carries(self, delivery: Delivery) -> bool:
        """Say whether a device of one of the delivery's carriers started the trip.

        A thief with a key that was revoked does not count. Version 1.0 kept no carrier. There, the
        finding on the start says it.
        """
        if self.by_revoked_key:
            return False
        carriers = carriers_of(delivery.terms)
        if self.judges_silence:
            return self.entry.carrier_id in carriers
        told = f"{delivery.terms.delivery_id} is to be carried by "
        return not any(
            each.rule == Rule.CARRIER_MISMATCH and each.detail.startswith(told)
            for each in self.findings
        )

    def is_watched(self, delivery: Delivery) -> bool:
        """Say whether the trip's devices watched the limits that both sides agreed on.

        They did not if it went on other trips also, which the file does not tell, or which are not
        on the ledger; if nobody watched between two of its trips; if what they
        found could not count on the delivery; if a revoked key signed it; if its time cannot be; if
        readings were replayed; or if the trip keeps other limits, such as those of a draft.
        """
        of = [each.delivery_id for each in self.entry.deliveries]
        delivery_id = delivery.terms.delivery_id
        if self.elsewhere.get(delivery_id) or self.between.get(delivery_id) or delivery.early:
            return False
        if self.derived or delivery_id not in of:
            return False
        at = of.index(delivery_id)
        agreed = [
            Limit(
                quantity=each.quantity,
                minimum=each.minimum if each.HasField("minimum") else None,
                maximum=each.maximum if each.HasField("maximum") else None,
                tolerated_s=each.tolerated_s,
                longest_silence_s=longest_silence_s(each),
            )
            for each in delivery.terms.limits
        ]
        return (
            len(delivery.signed_by) > 1
            and list(self.entry.deliveries[at].limits) == agreed
            and self.carries(delivery)
            and not any(at in chain.unmarked or chain.implausible_times for chain in self.chains)
            and not any(
                each.rule == Rule.KEY_REVOKED and each.device_id in devices_of(self.start)
                for each in self.findings
            )
        )

    def add_event(self, event: Event) -> None:
        """Keep an event of the rules.

        Findings on the trip's place in its device's row are left out: they depend on other trips,
        which evidence need not hold, so a replay cannot judge them.
        """
        if event.event_type == EVENT_FINDING:
            finding = Finding.FromString(event.data)
            if finding.rule not in SERIES_RULES:
                self.findings.append(finding)
        elif event.event_type == EVENT_TAMPER:
            self.tampers.append(TamperEvent.FromString(event.data))
        elif event.event_type == EVENT_REMARK:
            self.remarks.append(Remarked.FromString(event.data))
        elif event.event_type == EVENT_BREACH:
            breach = Breach.FromString(event.data)
            self.breaches[place_of(breach)] = breach
        elif event.event_type == EVENT_HOLD:
            hold = Hold.FromString(event.data)
            self.holds[hold.placed.hold_id] = hold

    def count(self, action: RecordReading | RecordRun, found: list[Finding]) -> None:
        """Count the readings of an action that joined their chain, judged by their findings."""
        apart = {finding.sequence for finding in found if finding.rule in NOT_IN_CHAIN}
        first = action.sequence if isinstance(action, RecordReading) else action.first_sequence
        for sequence, record in enumerate(_records(action), first):
            if sequence in apart:
                continue
            self.readings += 1
            self.derived += record.derived
            self.ends.take(action.device_id, record)
            self.times.take(action.device_id, sequence, record)
            now = record.clock.utc_ms
            self.first_ms = now if self.first_ms is None else min(self.first_ms, now)
            self.last_ms = now if self.last_ms is None else max(self.last_ms, now)


def _records(action: RecordReading | RecordRun) -> Sequence[RecordReading | RunReading]:
    return [action] if isinstance(action, RecordReading) else action.readings


def signed_ms(action: Action) -> int:
    """Return the latest time that an action states of itself, or 0 if it states none."""
    if isinstance(action, OfReadings):
        return max((record.clock.utc_ms for record in _records(action)), default=0)
    if isinstance(action, SealTrip):
        return action.clock.utc_ms
    return int(getattr(action, "at_ms", 0) or getattr(action, "started_at_ms", 0))
