"""One transaction under the rules: its signer, and typed access to the state."""

from collections.abc import MutableSequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from contracts import address
from contracts.encoding import canonical
from contracts.keys import NOT_OF_A_DEVICE
from contracts.proto.payload_pb2 import KeyDuties
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.proto.state_pb2 import Chain, Finding, Findings, Key, Trip
from contracts.rules.context import Context, InvalidTransactionError
from contracts.rules.ids import Rule
from contracts.rules.version import RulesVersion

_REMEMBERED: Final = 128
"""Entries of devices' keys that are kept parsed: a device signs many readings in a row."""

EVENT_FINDING = "wayseal/finding"
EVENT_BREACH = "wayseal/breach"
EVENT_TAMPER = "wayseal/tamper"
EVENT_REMARK = "wayseal/remark"
EVENT_DELIVERY = "wayseal/delivery"
EVENT_TRANSFORMATION = "wayseal/transformation"
EVENT_HOLD = "wayseal/hold"
EVENT_LOT = "wayseal/lot"
EVENT_UNIT = "wayseal/unit"
EVENT_NOTICE = "wayseal/notice"

_MessageT = TypeVar("_MessageT", bound=Message)


def invalid(rule: Rule, text: str) -> InvalidTransactionError:
    """Return the error that makes a transaction invalid, naming the rule."""
    return InvalidTransactionError(f"{rule}: {text}")


def co_sign(
    what: str, agreed: Message, said: Message, signed_by: MutableSequence[str], party_id: str
) -> bool:
    """Let a party sign terms; return whether both sides have signed the same terms.

    A party that has signed alone may replace its terms by signing other ones: nobody else has
    agreed yet, and a slip or a false statement must not stand for ever.

    Args:
        what: What is signed, in words.
        agreed: The signed terms; replaced in place.
        said: The terms that the party signs now.
        signed_by: Parties that have signed; extended in place.
        party_id: The party, one of two that may sign.

    Raises:
        InvalidTransactionError: The party has signed these terms before, or the other side has
            signed other terms.
    """
    if said != agreed and set(signed_by) <= {party_id}:
        agreed.CopyFrom(said)
        del signed_by[:]
    if said != agreed:
        raise invalid(Rule.TERMS_DIFFER, f"{what} was signed with other terms")
    if party_id in signed_by:
        raise invalid(Rule.ALREADY_SIGNED, f"{party_id} has already signed {what}")
    signed_by.append(party_id)
    return len(signed_by) > 1


@cache
def _is_marked(kind: Descriptor) -> bool:
    """Say whether entries of a kind name the version of the rules that wrote them."""
    return "rules" in kind.fields_by_name


@lru_cache(maxsize=_REMEMBERED)
def _key(wire: bytes) -> Key:
    return Key.FromString(wire)


class Case(NamedTuple):
    """A decoded, well-formed transaction and the state that it may read and write."""

    header: TransactionHeader
    transaction_id: str
    context: Context
    version: RulesVersion

    @property
    def signer(self) -> str:
        """Return the public key that signed the transaction."""
        return self.header.signer_public_key

    def load(self, place: str, kind: type[_MessageT]) -> _MessageT | None:
        """Return the entry at address `place`, or None.

        Raises:
            InvalidTransactionError: A later version of the rules wrote the entry. A transaction of
                the older version would evade what the later one demands.
        """
        value = self.context.get(place)
        if value is None:
            return None
        entry = kind.FromString(value)
        self.check_written(entry)
        return entry

    def check_written(self, entry: Message) -> None:
        """Check that no later version of the rules wrote an entry.

        Raises:
            InvalidTransactionError: A later version wrote it.
        """
        if not _is_marked(entry.DESCRIPTOR):
            return
        written: int = entry.rules  # type: ignore[attr-defined]  # the line above looks
        if written > self.version:
            raise invalid(
                Rule.RULES_BEHIND,
                f"a {entry.DESCRIPTOR.name} was written under version 1.{written} of the rules, "
                f"the transaction is of version {self.version.family_version}",
            )

    def store(self, place: str, entry: Message) -> None:
        """Put `entry` at address `place`, marked with this version of the rules."""
        if _is_marked(entry.DESCRIPTOR):
            entry.rules = self.version.mark  # type: ignore[attr-defined]  # the line above looks
        self.context.set(place, canonical(entry))

    def key(self) -> Key | None:
        """Return the entry of the signer's key, or None."""
        return self.load(address.key(self.signer), Key)

    def check_duty(self, duty: KeyDuties.Duty) -> None:
        """Check that the signer's key may sign what `duty` covers.

        Raises:
            InvalidTransactionError: It may not; or the transaction is of a version of the rules
                that knows no duties.
        """
        key = self.key()
        if key is None or not key.duties or (self.version and duty in key.duties):
            return
        may = ", ".join(KeyDuties.Duty.Name(each).lower() for each in key.duties)
        if not self.version:
            raise invalid(
                Rule.RULES_BEHIND, f"key {self.signer} has duties ({may}), which came with 1.1"
            )
        wanted = KeyDuties.Duty.Name(duty).lower()
        raise invalid(Rule.DUTY_MISSING, f"key {self.signer} may sign {may}, not {wanted}")

    def party_id(self) -> str:
        """Return the id of the party that signed.

        Raises:
            InvalidTransactionError: The key is not a current key of a party.
        """
        key = self.key()
        if key is None or key.owner != Key.PARTY or key.revoked:
            raise invalid(Rule.NOT_THE_PARTY, f"key {self.signer} is not a current key of a party")
        return key.owner_id

    def require_party(self, party_id: str) -> None:
        """Check that the party `party_id` signed.

        Raises:
            InvalidTransactionError: Another party signed.
        """
        signed_by = self.party_id()
        if signed_by != party_id:
            raise invalid(
                Rule.NOT_THE_PARTY, f"must be signed by {party_id}, is signed by {signed_by}"
            )

    def device_key(self) -> Key:
        """Return the entry of the device key that signed, revoked or not.

        Several transactions share it, so it must not be changed.

        Raises:
            InvalidTransactionError: The key never was a key of a registered device.
        """
        wire = self.context.get(address.key(self.signer))
        key = None if wire is None else _key(wire)
        if key is None or key.owner != Key.DEVICE:
            raise invalid(Rule.UNKNOWN_DEVICE, f"key {self.signer} {NOT_OF_A_DEVICE}")
        return key

    def trip(self, trip_id: str) -> Trip:
        """Return the trip `trip_id`.

        Raises:
            InvalidTransactionError: The trip does not exist.
        """
        trip = Trip.FromString(self.trip_wire(trip_id))
        self.check_written(trip)
        return trip

    def trip_wire(self, trip_id: str) -> bytes:
        """Return the entry of the trip `trip_id` as it is stored, whichever version wrote it.

        Raises:
            InvalidTransactionError: The trip does not exist.
        """
        wire = self.context.get(address.trip(trip_id))
        if wire is None:
            raise invalid(Rule.UNKNOWN_TRIP, f"trip {trip_id} does not exist")
        return wire

    def chain(self, trip_id: str, device_id: str) -> Chain:
        """Return the chain of a device's readings on a trip; empty before the first."""
        return self.load(address.chain(trip_id, device_id), Chain) or Chain(device_id=device_id)

    def event(self, kind: str, entry: Message, **attributes: str) -> None:
        """Add an event with `entry` to the transaction's receipt."""
        self.context.add_event(kind, attributes, canonical(entry))


@dataclass(slots=True)  # not frozen: seven frozen fields take some 3 µs of a reading's 50
class Notes:
    """Gathers the findings on one transaction, about a trip, delivery, transformation or unit."""

    case: Case
    trip_id: str = ""
    device_id: str = ""
    transformation_id: str = ""
    sscc: str = ""
    delivery_id: str = ""
    found: list[Finding] = field(default_factory=list)

    def add(self, rule: Rule, detail: str, sequence: int = 0, device_id: str = "") -> None:
        """Add a finding: the transaction is committed although `rule` does not hold."""
        self.found.append(
            Finding(
                rule=rule,
                trip_id=self.trip_id,
                device_id=device_id or self.device_id,
                sequence=sequence,
                detail=detail,
                transaction_id=self.case.transaction_id,
                transformation_id=self.transformation_id,
                sscc=self.sscc,
                delivery_id=self.delivery_id,
            )
        )

    def add_if_revoked(self, key: Key, sequence: int = 0) -> None:
        """Add a finding if the key that signed was revoked."""
        if key.revoked:
            self.add(Rule.KEY_REVOKED, f"key {self.case.signer} was revoked", sequence)

    def record(self) -> None:
        """Write the findings, if any, under the trip, and add an event for each."""
        if self.found:
            place = address.finding(self.trip_id, self.case.transaction_id)
            self.case.store(place, Findings(findings=self.found))
            self.announce()

    def announce(self) -> None:
        """Add an event for each finding to the transaction's receipt."""
        where = {"trip_id": self.trip_id} if self.trip_id else {}
        if self.transformation_id:
            where["transformation_id"] = self.transformation_id
        if self.sscc:
            where["sscc"] = self.sscc
        if self.delivery_id:
            where["delivery_id"] = self.delivery_id
        for finding in self.found:
            self.case.event(EVENT_FINDING, finding, **where)
